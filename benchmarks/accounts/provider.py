"""Login through a provider: the code common to both protocols, which are in `openid.py` and `saml.py`.

People are identified by issuer and subject, never by e-mail address.
"""

import hashlib
import logging
from collections.abc import Callable
from typing import Any

from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.internal.emailkit import valid_email_or_none
from allauth.account.signals import user_logged_in
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.signals import social_account_added
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.module_loading import import_string
from requests import RequestException

from benchmarks import audit
from benchmarks.accounts import roles
from benchmarks.accounts.factors import SINGLE_LOGOUT
from benchmarks.accounts.login_page import login_page
from workers.neighbours import Neighbour, Unresponsive

NEIGHBOUR = Neighbour("The login provider", seconds=5, at_once=2)
WRONG = (OAuth2Error, ProviderException, RequestException)  # raised for providers' bad answers
log = logging.getLogger(__name__)


def named(request: HttpRequest | None, slug: str) -> Any:
    """Return the configured provider of this name as an allauth app, never stored. Raises ImproperlyConfigured."""
    given = settings.PROVIDERS.get(slug)
    if given is None:
        raise ImproperlyConfigured(f"WINNOW_PROVIDERS has no {slug!r}.")
    kind = "saml" if hasattr(given, "metadata") else "openid"
    return import_string(f"benchmarks.accounts.{kind}.Provider")(request, given)


def ask(fetch: Callable[[], Any]) -> Any:
    """Return the result of `fetch` from a provider. Raises RequestException, also if it takes too long."""
    try:
        return NEIGHBOUR.ask(fetch)
    except Unresponsive as error:
        raise RequestException(str(error)) from error


class Person:
    """Claims about a person in the form common to both kinds, with the issuer (`iss`) and the subject (`sub`)."""

    app_fields: Callable[[], dict[str, Any]]  # fields of allauth's SocialApp, besides its names

    def __init__(self, request: HttpRequest | None, given: Any):
        self.given, self.id = given, given.slug
        names = {"provider": given.slug, "provider_id": given.slug, "name": given.label}
        super().__init__(request, app=SocialApp(**names, **self.app_fields()))  # type: ignore[call-arg]

    def extract_uid(self, data: dict) -> str:
        """Hash issuer and subject: a subject is unique only at its issuer, and may be longer than the column."""
        return hashlib.sha256(f"{data['iss']} {data['sub']}".encode()).hexdigest()

    def extract_extra_data(self, data: dict) -> dict:
        return {"iss": data["iss"], "sub": data["sub"]}

    def extract_common_fields(self, data: dict) -> dict:
        """Return nothing, not even the address: allauth would use it to look for other accounts."""
        return {}

    def extract_email_addresses(self, data: dict) -> list:
        return []

    def sociallogin_from_response(self, request: HttpRequest, response: dict) -> SocialLogin:
        login = super().sociallogin_from_response(request, response)  # type: ignore[misc]
        login.claims, login.logout = response, {}
        return login


def _text(claims: dict, name: str) -> str:
    """Return the claim, or the first of its values."""
    found = claims.get(name)
    first = found[0] if isinstance(found, list) and found else found
    return first if isinstance(first, str) else ""


def groups_in(claims: dict, name: str) -> list[str]:
    """Return the groups listed in the claim of this name: a list, or one name. `a.b` finds `b` inside `a`."""
    found = claims.get(name)
    if found is None:
        found = claims
        for part in name.split("."):
            found = found.get(part) if isinstance(found, dict) else None
    listed = [found] if isinstance(found, str) else found
    return [group for group in listed if isinstance(group, str)] if isinstance(listed, list) else []


@receiver(social_account_added)
def _record_connected(sociallogin: SocialLogin, **rest: object) -> None:
    user = sociallogin.user
    audit.record(by=audit.named(user), verb="connected to the provider", subject=user)


@receiver(user_logged_in)
def _keep_way_out(request: HttpRequest, sociallogin: SocialLogin | None = None, **rest: object) -> None:
    """Keep what `logout_address` needs later; called after any second factor."""
    if sociallogin and (held := sociallogin.state.get("logout")):
        request.session[SINGLE_LOGOUT] = held


class ProviderAdapter(DefaultSocialAccountAdapter):
    def get_provider(self, request, provider: str = "", client_id=None) -> Any:
        return named(request, provider)

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict) -> User:
        return sociallogin.user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Give an existing account the rights of its groups before it is logged in."""
        if sociallogin.logout:
            sociallogin.state["logout"] = {"provider": sociallogin.provider.id, **sociallogin.logout}
        if sociallogin.is_existing and sociallogin.state.get("process") != AuthProcess.CONNECT:
            roles.apply(user=sociallogin.user, rights=_rights(sociallogin))
            if not sociallogin.user.is_staff:
                raise ImmediateHttpResponse(_no_access(request, sociallogin.provider.given))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        if not (_rights(sociallogin) or roles.Rights()).staff:
            raise ImmediateHttpResponse(_no_access(request, sociallogin.provider.given))
        return True

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form=None) -> User:
        """Create an account without a password and with a unique name: the provider's name for the person, the
        beginning of their address, or their subject. allauth's own list of addresses stays empty."""
        user, claims, given = sociallogin.user, sociallogin.claims, sociallogin.provider.given
        names = [_text(claims, given.username), _text(claims, given.email), claims["sub"], "user"]
        user.username = get_account_adapter().generate_unique_username(names)
        if claims.get("email_verified") is True:
            user.email = valid_email_or_none(_text(claims, given.email)) or ""
        user.set_unusable_password()
        user.save()
        sociallogin.account.user = user
        sociallogin.account.save()
        audit.record(by=roles.BY, verb="added an account", subject=user)
        roles.apply(user=user, rights=_rights(sociallogin))
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount) -> str:
        return reverse("account")

    def on_authentication_error(self, request, provider, error=None, exception=None, extra_context=None) -> None:
        raise ImmediateHttpResponse(failed(request, provider.given, error=error, exception=exception))


def _rights(sociallogin: SocialLogin) -> roles.Rights | None:
    given = sociallogin.provider.given
    return roles.rights_of(groups_in(sociallogin.claims, given.groups), given.roles)


def _no_access(request: HttpRequest, given: Any) -> HttpResponse:
    why = f"Your account at {given.label} has no access to Winnow. Ask an admin for access."
    return login_page(request, why=why, status=403)


def failed(
    request: HttpRequest, given: Any, *, error: object = None, exception: Exception | None = None
) -> HttpResponse:
    """Render the login page with one sentence about the problem at the provider; the log has the details."""
    name = given.label
    if error == AuthError.CANCELLED:
        return login_page(request, why=f"You cancelled the login at {name}.", status=403)
    if exception is None and "error" not in request.GET:
        return login_page(request, why="This login has expired, or began in another browser. Log in again.", status=400)
    log.warning("Login through %s failed: %s", given.slug, exception or repr(request.GET.get("error")))
    if isinstance(exception, RequestException):
        why = f"{name} does not answer. Try again later."
    else:
        why = f"{name} sent an answer that Winnow cannot accept. Try again, or ask an admin to look at the log."
    return login_page(request, why=why, status=502)
