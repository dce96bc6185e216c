"""Logging in through the provider, and connecting an account that exists to it."""

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base.constants import AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from benchmarks import audit, permissions
from benchmarks.accounts import provider
from benchmarks.accounts.limits import seconds_to_wait
from benchmarks.accounts.login_page import after_login, login_page, wait_page
from benchmarks.permissions import StaffRequest


@require_POST
def provider_login(request: HttpRequest) -> HttpResponse:
    _check_configured()
    if wait := seconds_to_wait(request, None):
        return wait_page(request, wait)
    return _begin(request, AuthProcess.LOGIN, after_login(request))


@require_POST
@permissions.staff_only
def provider_connect(request: StaffRequest) -> HttpResponse:
    """Let the user log in through the provider from now on, after asking for their password once more."""
    _check_configured()
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    return _begin(request, AuthProcess.CONNECT, "")


def _check_configured() -> None:
    if settings.OIDC is None:
        raise Http404("No provider.")


def _begin(request: HttpRequest, process: str, next_url: str) -> HttpResponse:
    """A page that goes on to the provider by itself: a redirect would end a form, and the Content-Security-Policy lets
    forms end only here, at each of the addresses through which a provider may lead."""
    try:
        begun = provider.Provider(request, app=provider.app()).begin(request, process=process, next_url=next_url)
    except (OAuth2Error, RequestException) as error:
        return provider.failed(request, exception=error)
    answer = render(request, "accounts/to_provider.html", {"address": begun["Location"], "provider": settings.OIDC})
    answer["Refresh"] = f"0; url={begun['Location']}"
    return answer


@require_safe
def provider_callback(request: HttpRequest) -> HttpResponse:
    """The provider sends people back here with a code, which is exchanged for who they are."""
    _check_configured()
    try:
        return OAuth2CallbackView.adapter_view(provider.Adapter(request))(request)
    except (OAuth2Error, RequestException) as error:
        return provider.failed(request, exception=error)
    except IntegrityError:  # the same person's first login in two windows at once
        return login_page(request, why="You have just logged in elsewhere. Log in again.", status=409)


@require_POST
@permissions.staff_only
def provider_disconnect(request: StaffRequest) -> HttpResponse:
    """Only an account with a password keeps a way in."""
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    if not settings.LOCAL_LOGIN or not request.user.has_usable_password():
        messages.error(request, "This is your only way to log in.")
        return redirect("account")
    with transaction.atomic():
        gone, _ = SocialAccount.objects.filter(user=request.user, provider=provider.ID).delete()
        if gone:
            audit.record(by=audit.named(request.user), verb="disconnected from the provider", subject=request.user)
    messages.success(request, "Your account is no longer connected.")
    return redirect("account")
