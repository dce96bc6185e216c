"""Login and logout through a provider, and connecting an existing account to a provider."""

from typing import Any

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base.constants import AuthProcess
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from benchmarks import audit, permissions
from benchmarks.accounts import provider
from benchmarks.accounts.factors import SINGLE_LOGOUT
from benchmarks.accounts.limits import seconds_to_wait
from benchmarks.accounts.login_page import after_login, login_page, wait_page
from benchmarks.permissions import StaffRequest


@require_POST
def provider_login(request: HttpRequest, slug: str) -> HttpResponse:
    found = _configured(request, slug)
    if wait := seconds_to_wait(request, None):
        return wait_page(request, wait)
    return _begin(request, found, AuthProcess.LOGIN, after_login(request))


@require_POST
@permissions.staff_only
def provider_connect(request: StaffRequest, slug: str) -> HttpResponse:
    """Let the user log in through the provider from now on, after asking for their password again."""
    found = _configured(request, slug)
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    return _begin(request, found, AuthProcess.CONNECT, "")


def _configured(request: HttpRequest, slug: str, *, saml: bool = False) -> Any:
    """Return the provider. Raises Http404; with `saml`, also for an OpenID Connect provider."""
    if slug not in settings.PROVIDERS or (saml and not hasattr(settings.PROVIDERS[slug], "metadata")):
        raise Http404("No provider.")
    return provider.named(request, slug)


def _begin(request: HttpRequest, found: Any, process: str, next_url: str) -> HttpResponse:
    """Render a page that continues to the provider by itself: the Content-Security-Policy stops forms from being
    redirected to other sites, and a provider may redirect several times."""
    try:
        address = found.begin(request, process=process, next_url=next_url)
    except provider.WRONG as error:
        return provider.failed(request, found.given, exception=error)
    return render(request, "accounts/to_provider.html", {"address": address, "provider": found.given})


@require_safe
def provider_callback(request: HttpRequest, slug: str) -> HttpResponse:
    """Handle people whom the provider sends back."""
    found = _configured(request, slug)
    try:
        return found.finish(request)
    except PermissionDenied:  # allauth knows of no such login in this session
        return provider.failed(request, found.given)
    except provider.WRONG as error:
        return provider.failed(request, found.given, exception=error)
    except IntegrityError:  # the same person logged in for the first time in two windows at once
        return login_page(request, why="You have just logged in elsewhere. Log in again.", status=409)


def way_out(request: HttpRequest, held: dict[str, str]) -> dict[str, Any] | None:
    """Return the context of to_provider.html to end the session at the provider too; None if impossible."""
    if held["provider"] not in settings.PROVIDERS:
        return None
    found = provider.named(request, held["provider"])
    try:
        return {"address": found.logout_address(request, held), "provider": found.given, "out": True}
    except provider.WRONG as error:
        provider.log.warning("Logout at %s failed: %s", found.given.slug, error)
        return None


@require_POST
def saml_answer(request: HttpRequest, organization_slug: str) -> HttpResponse:
    """Take an answer by POST from another site, which comes without our cookies: allauth keeps it until a GET."""
    from allauth.socialaccount.providers.saml.views import acs

    _configured(request, organization_slug, saml=True)
    if wait := seconds_to_wait(request, None):
        return wait_page(request, wait)
    return acs(request, organization_slug)


@require_safe
def saml_answered(request: HttpRequest, organization_slug: str) -> HttpResponse:
    return provider_callback(request, organization_slug)


@require_safe
def saml_metadata(request: HttpRequest, organization_slug: str) -> HttpResponse:
    """Return Winnow's metadata for the identity provider's operators."""
    return HttpResponse(_configured(request, organization_slug, saml=True).metadata(request), content_type="text/xml")


@require_safe
def saml_logout(request: HttpRequest, organization_slug: str) -> HttpResponse:
    """Handle the identity provider's answer to our logout, and its signed requests to log people out."""
    found = _configured(request, organization_slug, saml=True)
    if "SAMLRequest" not in request.GET:
        return redirect("login")
    try:
        address, subject = found.asked_out(request)
    except provider.WRONG as error:
        return provider.failed(request, found.given, exception=error)
    held = request.session.get(SINGLE_LOGOUT, {})
    if (held.get("provider"), held.get("name_id")) == (organization_slug, subject):
        logout(request)
    return redirect(address)


@require_POST
@permissions.staff_only
def provider_disconnect(request: StaffRequest, slug: str) -> HttpResponse:
    """Disconnect the provider if the account has a password, and so another way to log in."""
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    if not settings.LOCAL_LOGIN or not request.user.has_usable_password():
        messages.error(request, "This is your only way to log in.")
        return redirect("account")
    with transaction.atomic():
        gone, _ = SocialAccount.objects.filter(user=request.user, provider=slug).delete()
        if gone:
            audit.record(by=audit.named(request.user), verb="disconnected from the provider", subject=request.user)
    messages.success(request, "Your account is no longer connected.")
    return redirect("account")
