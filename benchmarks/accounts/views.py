"""Login, logout, the user's own account, and their API token. A user with a one-time password must choose their own
before they are logged in.
"""

import hashlib
import time

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm, UsernameField
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from benchmarks import audit, permissions
from benchmarks.accounts import accounts, tokens
from benchmarks.accounts.forms import EmailForm, TokenForm
from benchmarks.notifications import subscriptions
from benchmarks.permissions import StaffRequest, client_address

TRIES = 10  # per minute, for one name from one address
TRIES_FROM_ADDRESS = 60  # per minute, for all names
FIRST = "first_password_of"  # in the session: the user whose first password was correct, and that password's hash


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
def log_in(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, "accounts/login.html", {"form": AuthenticationForm(request)})
    if wait := _too_many(request):
        why = f"Too many attempts. Try again in {wait} second{'s' if wait > 1 else ''}."
        form = AuthenticationForm(request, initial={"username": request.POST.get("username", "")})
        answer = _refused(request, form, why, 429)
        answer["Retry-After"] = str(wait)
        return answer
    form = AuthenticationForm(request, request.POST)
    if not form.is_valid():
        return _refused(request, form, "", 422)
    user = form.get_user()
    if user.last_login is None:
        request.session.cycle_key()
        request.session[FIRST] = [user.pk, user.get_session_auth_hash()]
        return redirect("first-password")
    login(request, user)
    return redirect(_after_login(request))


def _refused(request: HttpRequest, form, why: str, status: int) -> HttpResponse:
    return render(request, "accounts/login.html", {"form": form, "why": why}, status=status)


def _too_many(request: HttpRequest) -> int:
    """Count this attempt; returns the seconds to wait, or 0. Without Redis nothing is counted, and login works.

    The name is normalised as in Django, ignoring case, and hashed: it may be a password typed into the wrong field.
    """
    minute, second = _clock()
    address, name = client_address(request), str(UsernameField().to_python(request.POST.get("username", ""))).lower()
    of_name, of_all = _tries(f"{minute} {address} {name}"), _tries(f"{minute} {address}")
    return 60 - second if of_name > TRIES or of_all > TRIES_FROM_ADDRESS else 0


def _clock() -> tuple[int, int]:
    """The minute, and its second."""
    return divmod(int(time.time()), 60)


def _tries(who: str) -> int:
    key = "login-" + hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()
    cache.add(key, 0, timeout=120)
    try:
        return cache.incr(key)
    except ValueError:  # it is not stored
        return 0


def _after_login(request: HttpRequest) -> str:
    asked = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if safe else resolve_url("study-list")


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
def first_password(request: HttpRequest) -> HttpResponse:
    """The first password expires only when the owner's own password is stored."""
    user = _first_time(request)
    if user is None:
        return redirect("login")
    form = SetPasswordForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=user.pk)
            if _first_time(request) is None:  # another window was first
                return redirect("login")
            form.save()
            audit.record(by=audit.named(user), verb="chose a password", subject=user)
            login(request, user)
        return redirect("study-list")
    context = {"form": form, "name": user.get_username()}
    return render(request, "accounts/first_password.html", context, status=422 if form.errors else 200)


def _first_time(request: HttpRequest) -> User | None:
    """The user who entered a first password that is still valid."""
    pk, proof = request.session.get(FIRST, (None, ""))
    user = User.objects.filter(pk=pk, last_login=None, is_active=True).first()
    return user if user and constant_time_compare(proof, user.get_session_auth_hash()) else None


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("login")


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
@sensitive_post_parameters()
def account(request: StaffRequest) -> HttpResponse:
    """The user's e-mail address, notifications and password; a POST says with `save` which of the two it changes."""
    user, save = User.objects.get(pk=request.user.pk), request.POST.get("save")
    email = EmailForm(user, request.POST if save == "email" else None)
    password = PasswordChangeForm(user, request.POST if save == "password" else None)
    password.fields["old_password"].widget.attrs.pop("autofocus")  # the page has more than this form
    by = audit.named(user)
    if email.is_valid():
        accounts.change_email(user=user, email=email.cleaned_data["email"], by=by)
        if "kinds" in email.cleaned_data:
            subscriptions.choose(user=user, kinds=email.cleaned_data["kinds"], by=by)
        messages.success(request, "Saved.")
        return redirect("account")
    if password.is_valid():
        accounts.change_password(user=user, password=password.cleaned_data["new_password1"], by=by)
        update_session_auth_hash(request, user)
        messages.success(request, "Your password has been changed. Other browsers are logged out.")
        return redirect("account")
    context = {"section": "account", "email": email, "password": password}
    return render(request, "accounts/account.html", context, status=422 if email.errors or password.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def own_token(request: StaffRequest) -> HttpResponse:
    """POST creates a token, shown only in this response: nothing is stored that could show it again."""
    form, made = TokenForm(request.POST if request.method == "POST" else None), ""
    if form.is_valid():
        made = tokens.make_token(user=request.user, by=audit.named(request.user), **form.cleaned_data)
    token = Token.objects.select_related("terms").filter(user=request.user).first()
    context = {
        "section": "account",
        "form": form,
        "made": made,
        "token": token,
        "terms": getattr(token, "terms", None),
        "expired": bool(made == "" and token and hasattr(token, "terms") and token.terms.expires_at <= timezone.now()),
        "address": request.build_absolute_uri(reverse("api-study-list")),
    }
    return render(request, "accounts/token.html", context, status=422 if form.errors else 200)


@require_POST
@permissions.staff_only
def token_revoke(request: StaffRequest) -> HttpResponse:
    there_was = tokens.revoke_token(user=request.user, by=audit.named(request.user))
    messages.success(request, "The token has been revoked." if there_was else "There was no token to revoke.")
    return redirect("api-token")
