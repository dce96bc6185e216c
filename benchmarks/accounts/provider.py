"""Login through an OpenID Connect provider: allauth's flow, with every answer of the provider checked.

Stricter than allauth: the provider's document must name the configured issuer; the ID token must be signed by one of
its keys, for this client, unexpired, and for this very login (nonce); what the userinfo endpoint adds must be about the
same subject. People are identified by issuer and subject, never by e-mail address.
"""

import hashlib
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import jwt
from allauth.account.adapter import get_adapter as get_account_adapter
from allauth.account.internal.emailkit import valid_email_or_none
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.base.constants import AuthError, AuthProcess
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.socialaccount.signals import social_account_added
from allauth.utils import build_absolute_uri
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare, get_random_string, salted_hmac
from requests import RequestException

from benchmarks import audit
from benchmarks.accounts import roles
from benchmarks.accounts.factors import PROVIDER as ID
from benchmarks.accounts.login_page import login_page
from workers import outside_json
from workers.neighbours import Neighbour, Unresponsive

SIGNED_BY = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
REQUIRED = ["iss", "sub", "aud", "exp", "iat"]
CLOCKS = 60  # seconds by which the provider's clock may differ
LONGEST_SUBJECT = 255  # characters, by the specification
METHODS = "token_endpoint_auth_methods_supported"
PROVIDER = Neighbour("The provider of logins", seconds=5, at_once=2)
log = logging.getLogger(__name__)
ENDPOINTS, USERINFO = ("authorization_endpoint", "token_endpoint", "jwks_uri"), "userinfo_endpoint"


def app() -> SocialApp:
    """The configured provider as allauth knows it; it is never stored."""
    found = settings.OIDC
    return SocialApp(
        provider=ID,
        provider_id=ID,
        name=found.name,
        client_id=found.client_id,
        secret=found.client_secret,
        settings={"server_url": found.issuer, "scope": list(found.scopes)},
    )


def nonce_of(state: str) -> str:
    """The nonce for a login with this state, which is random, kept in the session and used once."""
    return salted_hmac("benchmarks.accounts.provider.nonce", state, algorithm="sha256").hexdigest()


def _checked(fetch: Callable[[], Any]) -> Any:
    """What `fetch` returns; nonsense from the provider raises OAuth2Error, which is shown as one sentence."""
    try:
        return fetch()
    except (jwt.PyJWTError, KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise OAuth2Error(f"{type(error).__name__}: {error}") from error


def _ask(fetch: Callable[[], Any]) -> Any:
    """What `fetch` gets from the provider. Raises RequestException, also if that takes long."""
    try:
        return PROVIDER.ask(fetch)
    except Unresponsive as error:
        raise RequestException(str(error)) from error


class Adapter(OpenIDConnectOAuth2Adapter):
    def __init__(self, request: HttpRequest):
        super().__init__(request, ID)

    @property
    def openid_config(self) -> dict:
        if not hasattr(self, "_openid_config"):
            self._openid_config = _checked(self._fetch_configuration)
        return self._openid_config

    def _fetch_configuration(self) -> dict:
        found = self._fetch(self.get_provider().server_url)
        if found["issuer"].rstrip("/") != settings.OIDC.issuer:
            raise ValueError(f"the issuer is {found['issuer']!r}")
        scheme, _, _ = settings.OIDC.issuer.partition("://")
        for name in (*ENDPOINTS, *filter(found.get, [USERINFO])):
            if not found[name].startswith(("https://", f"{scheme}://")):
                raise ValueError(f"{name} is {found[name]!r}")
        if not isinstance(found.setdefault(METHODS, ["client_secret_basic"]), list):  # the specification's default
            raise ValueError(f"{METHODS} is no list")
        return found

    def _fetch(self, address: str, **options: Any) -> Any:
        def fetch() -> Any:
            with get_adapter().get_requests_session() as session:
                response = session.get(address, **options)
                response.raise_for_status()
                return outside_json.read(response.content)

        return _ask(fetch)

    def get_access_token_data(self, request: HttpRequest, app: SocialApp, client, pkce_code_verifier=None) -> dict:
        fetch = partial(super().get_access_token_data, request, app, client, pkce_code_verifier=pkce_code_verifier)
        return _checked(lambda: _ask(fetch))

    def parse_token(self, data: dict) -> SocialToken:
        return SocialToken(token=str(data["access_token"]))

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return build_absolute_uri(request, reverse("provider-callback"))

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """The person whom the provider's answer is about, not yet looked up. Raises OAuth2Error for a bad answer."""
        claims = _checked(lambda: self._claims(kwargs["response"]["id_token"], nonce_of(request.GET["state"])))
        if self.openid_config.get(USERINFO):
            claims = _checked(lambda: self._more_claims(token.token, claims))
        return self.get_provider().sociallogin_from_response(request, claims)

    def _claims(self, id_token: str, nonce: str) -> dict:
        named = jwt.get_unverified_header(id_token).get("kid")
        keys = jwt.PyJWKSet.from_dict(self._fetch(self.openid_config["jwks_uri"])).keys
        key = next((key for key in keys if named in (None, key.key_id)), None)
        if key is None:
            raise ValueError("the provider has no such key")
        issuer, client = self.openid_config["issuer"], settings.OIDC.client_id
        claims = jwt.decode(
            id_token, key, algorithms=SIGNED_BY, audience=client, issuer=issuer, leeway=CLOCKS,
            options={"require": REQUIRED},
        )  # fmt: skip
        if claims.get("azp", client) != client:
            raise ValueError("the token is for another client (azp)")
        if not constant_time_compare(str(claims.get("nonce", "")), nonce):
            raise ValueError("the token is for another login (nonce)")
        if not 0 < len(claims["sub"]) <= LONGEST_SUBJECT or not claims["sub"].isprintable():
            raise ValueError("the subject is not 1 to 255 printable characters")
        return claims

    def _more_claims(self, access_token: str, claims: dict) -> dict:
        headers = {"Authorization": f"Bearer {access_token}"}
        more = self._fetch(self.openid_config[USERINFO], headers=headers)
        if more["sub"] != claims["sub"]:
            raise ValueError("userinfo is about another subject")
        return {**more, **claims}


class Provider(OpenIDConnectProvider):
    id = ID
    oauth2_adapter_class = Adapter
    pkce_enabled_default = True

    def get_oauth2_adapter(self, request: HttpRequest) -> Adapter:
        return Adapter(request)

    def begin(self, request: HttpRequest, *, process: str, next_url: str) -> HttpResponse:
        """A redirect to the provider. `process` is "login", or "connect" for an account that is logged in."""
        state = get_random_string(32)
        return self.redirect(
            request, process, next_url, auth_params={**self.get_auth_params(), "nonce": nonce_of(state)}, state_id=state
        )

    def extract_uid(self, data: dict) -> str:
        """A digest of issuer and subject: a subject is unique only at its issuer, and may be longer than the column."""
        return hashlib.sha256(f"{data['iss']} {data['sub']}".encode()).hexdigest()

    def extract_extra_data(self, data: dict) -> dict:
        return {"iss": data["iss"], "sub": data["sub"]}

    def extract_common_fields(self, data: dict) -> dict:
        """No address: allauth would look for other accounts with it."""
        name = data.get("preferred_username")
        return {"username": name} if isinstance(name, str) else {}

    def extract_email_addresses(self, data: dict) -> list:
        return []

    def sociallogin_from_response(self, request: HttpRequest, response: dict) -> SocialLogin:
        login = super().sociallogin_from_response(request, response)
        login.claims = response
        return login


def groups_in(claims: dict) -> list[str]:
    """The groups that the configured claim names: a list, or one name. `a.b` finds `b` inside `a`."""
    name = settings.OIDC.groups_claim
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


class ProviderAdapter(DefaultSocialAccountAdapter):
    def get_provider(self, request, provider: str = "", client_id=None) -> "Provider":
        if settings.OIDC is None:
            raise ImproperlyConfigured("No provider: WINNOW_OIDC_ISSUER is empty.")
        return _provider(request)

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict) -> User:
        sociallogin.user.username = data.get("username", "")
        return sociallogin.user

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Before an account that exists is logged in, it gets the rights of its groups."""
        if sociallogin.is_existing and sociallogin.state.get("process") != AuthProcess.CONNECT:
            roles.apply(user=sociallogin.user, rights=_rights(sociallogin))
            if not sociallogin.user.is_staff:
                raise ImmediateHttpResponse(_no_access(request))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        if not _rights(sociallogin).staff:
            raise ImmediateHttpResponse(_no_access(request))
        return True

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: SocialLogin, form=None) -> User:
        """An account without a password; its name is made unique. allauth's own list of addresses stays empty."""
        user, claims = sociallogin.user, sociallogin.claims
        preferred = sociallogin.provider.extract_common_fields(claims).get("username")
        user.username = get_account_adapter().generate_unique_username([preferred, "user"])
        if claims.get("email_verified") is True:
            user.email = valid_email_or_none(claims.get("email")) or ""
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
        raise ImmediateHttpResponse(failed(request, error=error, exception=exception))


def _provider(request: HttpRequest) -> Provider:
    return Provider(request, app=app())


def _rights(sociallogin: SocialLogin) -> roles.Rights:
    return roles.rights_of(groups_in(sociallogin.claims))


def _no_access(request: HttpRequest) -> HttpResponse:
    why = f"Your account at {settings.OIDC.name} has no access to Winnow. Ask an admin for access."
    return login_page(request, why=why, status=403)


def failed(request: HttpRequest, *, error: object = None, exception: Exception | None = None) -> HttpResponse:
    """The login page with one sentence about what went wrong at the provider; the log has the details."""
    name = settings.OIDC.name
    if error == AuthError.CANCELLED:
        return login_page(request, why=f"You cancelled the login at {name}.", status=403)
    if exception is None and "error" not in request.GET:
        return login_page(request, why="This login has expired, or began in another browser. Log in again.", status=400)
    log.warning("Login through %s failed: %s", settings.OIDC.issuer, exception or repr(request.GET.get("error")))
    if exception is None or isinstance(exception, OAuth2Error):
        why = f"{name} sent an answer that Winnow cannot accept. Try again, or ask an admin to look at the log."
    else:
        why = f"{name} does not answer. Try again later."
    return login_page(request, why=why, status=502)
