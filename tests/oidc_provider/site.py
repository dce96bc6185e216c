"""The provider's addresses, and how it misbehaves."""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qs, urlsplit

import jwt
from allauth.core.internal import jwkkit
from allauth.idp.oidc.adapter import DefaultOIDCAdapter
from allauth.idp.oidc.models import Client
from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import include, path


@dataclass
class State:
    """`claims` are about the person; `token` is what the ID token, `userinfo` what the endpoint says instead."""

    sub: str = "sub-1"
    claims: dict = field(default_factory=dict)
    token: dict = field(default_factory=dict)
    userinfo: dict = field(default_factory=dict)
    signed: str = ""  # by whom else: "foreign", "none", "HS256"
    deny: bool = False
    answers: dict = field(default_factory=dict)  # by path: [status, text]
    redirect_uri: str = "http://testserver/login/provider/lab/callback/"


STATE = State()
jwkkit.load_jwk_from_pem = lru_cache(jwkkit.load_jwk_from_pem)  # or each answer checks the keys' primes anew


class Adapter(DefaultOIDCAdapter):
    def get_claims(self, purpose, user, client, scopes, email=None, **rest) -> dict:
        return {"sub": STATE.sub, **STATE.claims} | (STATE.userinfo if purpose == "userinfo" else {})

    def populate_id_token(self, id_token, client, scopes, **rest) -> None:
        id_token.update(STATE.token)


def misbehaving(get_response):
    def middleware(request):
        if request.path in STATE.answers:
            status, text = STATE.answers[request.path]
            return HttpResponse(text, status=status, content_type="application/json")
        answer = get_response(request)
        if STATE.signed and request.path.endswith("/token"):
            found = json.loads(answer.content)
            return JsonResponse(found | {"id_token": _signed_again(found["id_token"])})
        return answer

    return middleware


def _signed_again(token: str) -> str:
    claims = jwt.decode(token, options={"verify_signature": False})
    kid = {"kid": jwt.get_unverified_header(token)["kid"]}
    keys = {"foreign": (settings.FOREIGN_KEY, "RS256"), "none": (None, "none"), "HS256": (settings.SECRET, "HS256")}
    return jwt.encode(claims, *keys[STATE.signed], headers=kid)


def control(request):
    STATE.__dict__.update(State(**json.loads(request.body)).__dict__)
    Client.objects.update(redirect_uris=STATE.redirect_uri)
    return HttpResponse("")


def log_in(request):
    wanted = request.GET["next"]
    if STATE.deny:
        state = parse_qs(urlsplit(wanted).query)["state"][0]
        return redirect(f"{STATE.redirect_uri}?error=access_denied&state={state}")
    login(request, User.objects.get())
    return redirect(wanted)


urlpatterns = [
    path("control", control),
    path("log-in/", log_in, name="account_login"),
    path("", include("allauth.idp.urls")),
]
