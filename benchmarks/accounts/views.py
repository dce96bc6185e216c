"""Logging in and out, and one's own token for the API. A password that somebody else made works once; then its owner
chooses one.
"""

import hashlib

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.contrib.auth.forms import AuthenticationForm, SetPasswordForm
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from benchmarks import audit, permissions
from benchmarks.accounts import tokens
from benchmarks.permissions import OWN_PASSWORD, StaffRequest

TRIES = 10  # a minute, for each address and name
SLOW_DOWN = "Too many tries. Wait a minute, then try again."
USED = "This password worked once and has been used. Ask for a new one: manage.py changepassword."


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters()
def log_in(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, "accounts/login.html", {"form": AuthenticationForm(request)})
    if _too_many(request):
        return _refused(request, AuthenticationForm(request), SLOW_DOWN, 429)
    form = AuthenticationForm(request, request.POST)
    if not form.is_valid():
        return _refused(request, form, "", 422)
    user = form.get_user()
    first = user.last_login is None
    if first and not use_up(user):
        return _refused(request, AuthenticationForm(request), USED, 422)
    login(request, user)
    request.session[OWN_PASSWORD] = first
    return redirect("first-password" if first else _after_login(request))


def _refused(request: HttpRequest, form, why: str, status: int) -> HttpResponse:
    return render(request, "accounts/login.html", {"form": form, "why": why}, status=status)


def _too_many(request: HttpRequest) -> bool:
    """Counts this try. The name is hashed: it may be a password typed into the wrong field."""
    who = f"{request.META.get('REMOTE_ADDR')} {request.POST.get('username', '').lower()}"
    key = "login-" + hashlib.sha256(who.encode("utf-8", "replace")).hexdigest()
    cache.add(key, 0, timeout=60)
    try:
        return cache.incr(key) > TRIES
    except ValueError:  # it ran out in between
        return False


@transaction.atomic
def use_up(user: User) -> bool:
    """Take the first password away; False when another login was faster."""
    unusable = make_password(None)
    fresh = User.objects.filter(pk=user.pk, last_login=None, password=user.password)
    if not fresh.update(password=unusable, last_login=timezone.now()):
        return False
    user.password = unusable
    audit.record(by=audit.named(user), verb="used the first password", subject=user)
    return True


def _after_login(request: HttpRequest) -> str:
    asked = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if safe else resolve_url("study-list")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@sensitive_post_parameters()
def first_password(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated or not request.session.get(OWN_PASSWORD):
        return redirect("login")
    form = SetPasswordForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            form.save()
            audit.record(by=audit.named(request.user), verb="chose a password", subject=request.user)
        update_session_auth_hash(request, request.user)
        request.session[OWN_PASSWORD] = False
        return redirect("study-list")
    return render(request, "accounts/first_password.html", {"form": form}, status=422 if form.errors else 200)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("login")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@permissions.staff_only
def own_token(request: StaffRequest) -> HttpResponse:
    """POST makes a new one. It is in the answer itself: nothing keeps it that could show it a second time."""
    made = tokens.make_token(user=request.user, by=audit.named(request.user)) if request.method == "POST" else ""
    context = {
        "section": "token",
        "made": made,
        "token": Token.objects.filter(user=request.user).first(),
        "address": request.build_absolute_uri(reverse("api-study-list")),
    }
    return render(request, "accounts/token.html", context)


@require_POST
@permissions.staff_only
def token_revoke(request: StaffRequest) -> HttpResponse:
    there_was = tokens.revoke_token(user=request.user, by=audit.named(request.user))
    messages.success(request, "The token opens nothing any more." if there_was else "There was no token.")
    return redirect("api-token")
