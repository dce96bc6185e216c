"""Login, logout, the user's own account, and their API token. A user with a one-time password must choose a new one
before being logged in.
"""

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import Login
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.module_loading import import_string
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from benchmarks import audit, permissions
from benchmarks.accounts import accounts, factors, sessions, tokens
from benchmarks.accounts.forms import EmailForm, TokenForm
from benchmarks.accounts.limits import seconds_to_wait
from benchmarks.accounts.login_page import after_login, login_page, through, too_many, wait_page
from benchmarks.notifications import subscriptions
from benchmarks.permissions import StaffRequest
from benchmarks.seen import latest

FIRST = "first_password_of"  # in the session: the user whose first password was correct, and that password's hash


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
def log_in(request: HttpRequest) -> HttpResponse:
    """Log in by password; allauth then asks users with a second factor for it."""
    if request.method != "POST":
        return login_page(request)
    if not settings.LOCAL_LOGIN:
        return login_page(request, why=f"Passwords are switched off. {through()}", status=403)
    if wait := seconds_to_wait(request, request.POST.get("username", "")):
        form = AuthenticationForm(request, initial={"username": request.POST.get("username", "")})
        return wait_page(request, wait, form)
    form = AuthenticationForm(request, request.POST)
    if not form.is_valid():
        return login_page(request, form=form, status=422)
    user = form.get_user()
    if user.last_login is None:
        request.session.cycle_key()
        request.session[FIRST] = [user.pk, user.get_session_auth_hash()]
        return redirect("first-password")
    return perform_password_login(request, {}, Login(user=user, redirect_url=after_login(request)))


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters()
def first_password(request: HttpRequest) -> HttpResponse:
    """Replace the first password, which expires only when the owner's own password is stored."""
    user = _first_time(request) if settings.LOCAL_LOGIN else None
    if user is None:
        return redirect("login")
    form = SetPasswordForm(user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            User.objects.select_for_update(no_key=True).get(pk=user.pk)
            if _first_time(request) is None:  # another window was faster
                return redirect("login")
            form.save()
            audit.record(by=audit.named(user), verb="chose a password", subject=user)
            return perform_password_login(request, {}, Login(user=user, redirect_url=resolve_url("study-list")))
    context = {"form": form, "name": user.get_username()}
    return render(request, "accounts/first_password.html", context, status=422 if form.errors else 200)


def _first_time(request: HttpRequest) -> User | None:
    """Return the user who entered a first password that is still valid."""
    pk, proof = request.session.get(FIRST, (None, ""))
    user = User.objects.filter(pk=pk, last_login=None, is_active=True).first()
    return user if user and constant_time_compare(proof, user.get_session_auth_hash()) else None


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """Log out of Winnow, and of the provider too if they came through one with single logout."""
    onwards = None
    if held := request.session.get(factors.SINGLE_LOGOUT):
        onwards = import_string("benchmarks.accounts.provider_views.way_out")(request, held)
    logout(request)
    return redirect("login") if onwards is None else render(request, "accounts/to_provider.html", onwards)


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
@sensitive_post_parameters()
def account(request: StaffRequest) -> HttpResponse:
    """Show the user's account; a POST's `save` selects the form: address and notifications, or password."""
    user, save = User.objects.get(pk=request.user.pk), request.POST.get("save")
    password = PasswordChangeForm(user, request.POST if save == "password" else None)
    password.fields["old_password"].widget.attrs.pop("autofocus")  # the page has other forms too
    by = audit.named(user)
    if save == "password" and (wait := seconds_to_wait(request, user.get_username())):
        messages.error(request, too_many(wait))
        return redirect("account")
    with latest(user, request):
        email = EmailForm(user, request.POST if save == "email" else None)
        if email.is_valid():
            accounts.change_email(user=user, email=email.cleaned_data["email"], by=by)
            if "kinds" in email.cleaned_data:
                subscriptions.choose(user=user, kinds=email.cleaned_data["kinds"], by=by)
    if email.is_valid():
        messages.success(request, "Saved.")
        return redirect("account")
    if settings.LOCAL_LOGIN and user.has_usable_password() and password.is_valid():
        accounts.change_password(user=user, password=password.cleaned_data["new_password1"], by=by)
        sessions.end_others(user=user, present=request.session.session_key, by=by)
        update_session_auth_hash(request, user)
        UserSession.objects.create_from_request(request)  # its key has changed
        messages.success(request, "Your password has been changed. Other browsers are logged out.")
        return redirect("account")
    context = {
        "section": "account", "forms": (email, password), "email": email,
        "password": password if settings.LOCAL_LOGIN and user.has_usable_password() else None,
        "factors": factors.factors(user), "sessions": sessions.open_sessions(user),
        "present": request.session.session_key, "local": settings.LOCAL_LOGIN,
        "providers": settings.PROVIDERS.values(), "connected": factors.connected(user),
    }  # fmt: skip
    return render(request, "accounts/account.html", context, status=422 if email.errors or password.errors else 200)


@require_POST
@permissions.staff_only
def sessions_end(request: StaffRequest) -> HttpResponse:
    """End the session named in the POST, or all but the current one."""
    named = request.POST.get("session", "")
    only = int(named) if named.isdecimal() and len(named) < 18 else None
    by, present = audit.named(request.user), request.session.session_key
    if only is None and named:
        return redirect("account")
    ended = sessions.end_others(user=request.user, present=present, only=only, by=by)
    done = "The session has been ended." if ended == 1 else f"{ended} sessions have been ended."
    messages.success(request, done if ended else "There were no other sessions to end.")
    return redirect("account")


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def own_token(request: StaffRequest) -> HttpResponse:
    """Create a token by POST, shown only in this response: nothing is stored that could show it again."""
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
