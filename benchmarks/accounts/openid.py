"""Login through an OpenID Connect provider: allauth's flow, with checks of every answer from the provider.

Stricter than allauth: the provider's document must name the configured issuer; the ID token must be signed by one of
its keys, for this client, unexpired, and for this very login (nonce); claims from the userinfo endpoint must be about
the same subject.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jwt
from allauth.core.internal.httpkit import add_query_params
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialApp, SocialLogin, SocialToken
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.utils import build_absolute_uri
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare, get_random_string, salted_hmac

from benchmarks.accounts.provider import Person, ask
from workers import outside_json

SIGNED_BY = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
REQUIRED = ["iss", "sub", "aud", "exp", "iat"]
CLOCKS = 60  # seconds by which the provider's clock may differ
LONGEST_SUBJECT = 255  # characters, according to the specification
METHODS = "token_endpoint_auth_methods_supported"
ENDPOINTS, USERINFO = ("authorization_endpoint", "token_endpoint", "jwks_uri"), "userinfo_endpoint"
LOGOUT = "end_session_endpoint"


def nonce_of(state: str) -> str:
    """Return the nonce for a login with this state, which is random, kept in the session and used once."""
    return salted_hmac("benchmarks.accounts.provider.nonce", state, algorithm="sha256").hexdigest()


def _checked(fetch: Callable[[], Any]) -> Any:
    """Return the result of `fetch`. Nonsense from the provider raises OAuth2Error, which is shown as one sentence."""
    try:
        return fetch()
    except (jwt.PyJWTError, KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise OAuth2Error(f"{type(error).__name__}: {error}") from error


class Adapter(OpenIDConnectOAuth2Adapter):
    def __init__(self, request: HttpRequest, provider: "Provider"):
        super().__init__(request, provider.given.slug)
        self.provider, self.given = provider, provider.given

    def get_provider(self) -> "Provider":
        return self.provider

    @property
    def openid_config(self) -> dict:
        if not hasattr(self, "_openid_config"):
            self._openid_config = _checked(self._fetch_configuration)
        return self._openid_config

    def _fetch_configuration(self) -> dict:
        found = self._fetch(self.provider.server_url)
        if found["issuer"].rstrip("/") != self.given.issuer:
            raise ValueError(f"the issuer is {found['issuer']!r}")
        scheme, _, _ = self.given.issuer.partition("://")
        for name in (*ENDPOINTS, *filter(found.get, [USERINFO, LOGOUT])):
            if not found[name].startswith(("https://", f"{scheme}://")):
                raise ValueError(f"{name} is {found[name]!r}")
        if not isinstance(found.setdefault(METHODS, ["client_secret_basic"]), list):  # the specification's default
            raise ValueError(f"{METHODS} is not a list")
        return found

    def _fetch(self, address: str, **options: Any) -> Any:
        def fetch() -> Any:
            with get_adapter().get_requests_session() as session:
                response = session.get(address, **options)
                response.raise_for_status()
                return outside_json.read(response.content)

        return ask(fetch)

    def get_access_token_data(self, request: HttpRequest, app: SocialApp, client, pkce_code_verifier=None) -> dict:
        fetch = partial(super().get_access_token_data, request, app, client, pkce_code_verifier=pkce_code_verifier)
        return _checked(lambda: ask(fetch))

    def parse_token(self, data: dict) -> SocialToken:
        return SocialToken(token=str(data["access_token"]))

    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
        return build_absolute_uri(request, reverse("provider-callback", args=[self.given.slug]))

    def complete_login(self, request: HttpRequest, app: SocialApp, token: SocialToken, **kwargs: Any) -> SocialLogin:
        """Return the person in the provider's answer, not yet looked up. Raises OAuth2Error for a bad answer."""
        id_token = _checked(lambda: kwargs["response"]["id_token"])
        claims = _checked(lambda: self._claims(id_token, nonce_of(request.GET["state"])))
        if self.openid_config.get(USERINFO):
            claims = _checked(lambda: self._more_claims(token.token, claims))
        login = self.provider.sociallogin_from_response(request, claims)
        if self.openid_config.get(LOGOUT):
            login.logout = {"address": self.openid_config[LOGOUT], "id_token": id_token}
        return login

    def _claims(self, id_token: str, nonce: str) -> dict:
        named = jwt.get_unverified_header(id_token).get("kid")
        keys = jwt.PyJWKSet.from_dict(self._fetch(self.openid_config["jwks_uri"])).keys
        key = next((key for key in keys if named in (None, key.key_id)), None)
        if key is None:
            raise ValueError("the provider has no such key")
        issuer, client = self.openid_config["issuer"], self.given.client_id
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


class Provider(Person, OpenIDConnectProvider):
    pkce_enabled_default = True

    def app_fields(self) -> dict[str, Any]:
        given = self.given
        server = {"server_url": given.issuer, "scope": list(given.scopes)}
        return {"client_id": given.client_id, "secret": given.client_secret, "settings": server}

    def get_oauth2_adapter(self, request: HttpRequest) -> Adapter:
        return Adapter(request, self)

    def check(self) -> None:
        """Raise RequestException if the provider does not answer, OAuth2Error if not as `issuer` should."""
        _ = Adapter(None, self).openid_config  # type: ignore[arg-type]  # it asks nothing of a request

    def begin(self, request: HttpRequest, *, process: str, next_url: str) -> str:
        """Return the provider's address. `process` is "login", or "connect" for an account that is logged in."""
        state = get_random_string(32)
        auth_params = {**self.get_auth_params(), "nonce": nonce_of(state)}
        return self.redirect(request, process, next_url, auth_params=auth_params, state_id=state)["Location"]

    def finish(self, request: HttpRequest) -> HttpResponse:
        """Exchange the code with which the provider sends people back for their identity."""
        return OAuth2CallbackView.adapter_view(Adapter(request, self))(request)

    def logout_address(self, request: HttpRequest, held: dict[str, str]) -> str:
        """Return the address that ends the provider's own session (OpenID Connect RP-Initiated Logout)."""
        back = build_absolute_uri(request, reverse("login"))
        given = {"id_token_hint": held["id_token"], "client_id": self.given.client_id, "post_logout_redirect_uri": back}
        return add_query_params(held["address"], given)
