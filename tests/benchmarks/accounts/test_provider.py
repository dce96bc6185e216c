"""Login through an OpenID Connect provider: allauth.idp in its own process, asked over HTTP."""

import json
import time
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
import requests
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core import checks
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from annotation.models import Member, Role
from annotation.studies import members
from benchmarks.accounts import accounts
from benchmarks.accounts.openid import ENDPOINTS, Adapter
from benchmarks.accounts.provider import ProviderAdapter
from benchmarks.models import Event
from config import preparation
from config.apps import providers_work
from tests.builders import oidc, studies

pytestmark = pytest.mark.django_db
LAB = {"groups": ["lab"], "preferred_username": "Ana", "email": "ana@example.org", "email_verified": True}
REFUSED = "Lab sent an answer that Winnow cannot accept."


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    with oidc.running(tmp_path_factory.mktemp("provider")) as provider:
        yield provider


@pytest.fixture(autouse=True)
def no_tries_yet():
    cache.clear()


@pytest.fixture
def provider(running, settings):
    settings.PROVIDERS = running.configured()
    running.set(claims=LAB)
    return running


def is_logged_in(client) -> bool:
    return client.get(reverse("account")).status_code == 200


def test_the_first_login_makes_an_account_and_the_next_finds_it(client, provider):
    assert oidc.log_in(client, next="/benchmarks/").url == "/benchmarks/"
    user = User.objects.get()
    assert (user.username, user.email, user.is_staff, user.is_superuser) == ("ana", "ana@example.org", True, False)
    assert not user.has_usable_password() and is_logged_in(client)
    provider.set(claims={**LAB, "preferred_username": "renamed", "email": "new@example.org"})
    assert oidc.log_in(Client()).url == reverse("study-list")
    assert User.objects.get() == user
    assert [event.data["ways"] for event in Event.objects.filter(verb="logged in")] == [["socialaccount"]] * 2


def test_another_subject_is_another_person_whatever_name_and_address_it_has(client, provider):
    """The account of whoever has this address or name here cannot be taken over."""
    ana = User.objects.create_user("ana", email="ana@example.org", password="x", is_staff=True, is_superuser=True)
    assert oidc.log_in(client).status_code == 302
    made = User.objects.exclude(pk=ana.pk).get()
    assert made.username != "ana" and made.username.startswith("ana") and not made.is_superuser
    provider.set(sub="sub-2", claims=LAB)
    oidc.log_in(Client())
    assert User.objects.count() == 3


@pytest.mark.parametrize(
    ("claims", "name"),
    [({"email": "Bo.Lind@example.org", "email_verified": False}, "bo.lind"), ({"preferred_username": 5}, "sub-1"),
     ({"preferred_username": "", "email": "@"}, "sub-1"), ({"email": "ana@example.org"}, "ana2")],
)  # fmt: skip
def test_without_a_name_the_address_or_the_subject_names_the_account(client, provider, claims, name):
    ana = User.objects.create_user("ana", email="ana@example.org")
    provider.set(claims={"groups": ["lab"], **claims})
    oidc.log_in(client)
    made = User.objects.exclude(pk=ana.pk).get()
    assert made.username.startswith("ana") and made.email == "" if name == "ana2" else made.username == name


def test_of_several_providers_each_logs_in_its_own_people_by_its_own_map(client, provider, settings):
    """A login that began at one cannot end at another, though both know the same subject."""
    elsewhere = provider.address.replace("localhost", "127.0.0.1")
    other = provider.configured(slug="other", label="Other", issuer=elsewhere, roles={"lab": "superuser"})
    settings.PROVIDERS = provider.configured() | other
    page = client.get(reverse("login")).text
    assert page.index("Log in through Lab") < page.index("Log in through Other")
    back = oidc.at_the_provider(oidc.provider_address(client.post(reverse("provider-login", args=["lab"]))))
    assert client.get(back.replace("/lab/", "/other/")).status_code == 400 and not User.objects.exists()
    oidc.log_in(client)
    provider.set(claims=LAB, redirect_uri="http://testserver/login/provider/other/callback/")
    oidc.log_in(second := Client(), "other")
    assert [user.is_superuser for user in User.objects.order_by("pk")] == [False, True]
    shown = second.get(reverse("account")).text
    assert "You can log in through Other." in shown and "Connect your account to log in through Lab" in shown


def test_logging_out_goes_through_the_provider(client, provider):
    oidc.log_in(client)
    assert client.get(reverse("logout")).status_code == 405 and is_logged_in(client)
    page = client.post(reverse("logout"))
    address = urlsplit(oidc.provider_address(page))
    given = {name: value for name, [value] in parse_qs(address.query).items()}
    assert f"{address.scheme}://{address.netloc}" == provider.address and address.path == "/identity/o/logout"
    assert given["post_logout_redirect_uri"] == "http://testserver/login/" and given["client_id"] == "winnow"
    assert jwt.decode(given["id_token_hint"], options={"verify_signature": False})["sub"] == "sub-1"
    assert not is_logged_in(client) and "to log out there too" in page.text


def test_who_came_by_password_or_whose_provider_has_no_logout_is_logged_out_here(client, provider, ana):
    assert client.post(reverse("logout")).url == reverse("login")
    description = requests.get(f"{provider.address}/.well-known/openid-configuration", timeout=10).json()
    del description["end_session_endpoint"]
    provider.set(claims=LAB, answers={"/.well-known/openid-configuration": [200, json.dumps(description)]})
    oidc.log_in(client)
    assert is_logged_in(client) and client.post(reverse("logout")).url == reverse("login") and not is_logged_in(client)


@pytest.mark.parametrize(
    ("issuer", "level"), [("", None), ("http://127.0.0.1:1", checks.INFO), ("127.0.0.1", checks.ERROR)]
)
def test_the_check_before_a_start_reads_what_the_provider_says(provider, settings, issuer, level):
    elsewhere = issuer if "://" in issuer else provider.address.replace("localhost", issuer or "localhost")
    provider.set(answers={"/.well-known/openid-configuration": [200, "{}"]} if level == checks.ERROR else {})
    settings.PROVIDERS = provider.configured(issuer=elsewhere)
    assert [one.level for one in providers_work()] == [level] * (level is not None)


def test_the_same_subject_of_another_issuer_is_another_person(client, provider, settings):
    oidc.log_in(client)
    elsewhere = provider.address.replace("localhost", "127.0.0.1")  # the same server, under another name
    settings.PROVIDERS = provider.configured(issuer=elsewhere)
    oidc.log_in(Client())
    assert User.objects.count() == 2


def test_a_first_login_in_two_windows_at_once_makes_one_account(client, provider, monkeypatch):
    def later(adapter, request, login, form=None, save=ProviderAdapter.save_user):
        other = User.objects.create_user("other", is_staff=True)
        SocialAccount.objects.create(user=other, provider="lab", uid=login.account.uid)
        return save(adapter, request, login, form)

    monkeypatch.setattr(ProviderAdapter, "save_user", later)
    answer = oidc.log_in(client)
    assert answer.status_code == 409 and "Log in again." in answer.text
    assert User.objects.get().username == "other" and oidc.log_in(client).status_code == 302


def test_an_address_that_the_provider_has_not_verified_is_not_taken(client, provider):
    provider.set(claims={**LAB, "email_verified": False})
    oidc.log_in(client)
    assert User.objects.get().email == ""


BAD = {
    "another key": {"signed": "foreign"},
    "no signature": {"signed": "none"},
    "signed with the client's secret": {"signed": "HS256"},
    "another client": {"token": {"aud": "somebody-else"}},
    "another client's turn": {"token": {"azp": "somebody-else"}},
    "another issuer": {"token": {"iss": "https://elsewhere.example.org"}},
    "another login": {"token": {"nonce": "0" * 64}},
    "expired": {"token": {"exp": int(time.time()) - 3600}},
    "no expiry": {"token": {"exp": None}},
    "no subject": {"token": {"sub": ""}},
    "a long subject": {"token": {"sub": "s" * 256}},
    "a subject that no column takes": {"token": {"sub": "s\0"}},
    "userinfo about another": {"userinfo": {"sub": "sub-2"}},
    "userinfo is no JSON": {"answers": {"/identity/o/api/userinfo": [200, "<html>"]}},
    "userinfo is a list": {"answers": {"/identity/o/api/userinfo": [200, "[]"]}},
    "the token is a number": {"answers": {"/identity/o/api/token": [200, "5"]}},
    "the token is no JSON": {"answers": {"/identity/o/api/token": [200, "{"]}},
    "the token is refused": {"answers": {"/identity/o/api/token": [400, '{"error": "invalid_grant"}']}},
    "no ID token": {"answers": {"/identity/o/api/token": [200, '{"access_token": "x"}']}},
    "an ID token that is none": {"answers": {"/identity/o/api/token": [200, '{"access_token": "x", "id_token": 5}']}},
    "no keys": {"answers": {"/.well-known/jwks.json": [200, '{"keys": []}']}},
    "keys that are none": {"answers": {"/.well-known/jwks.json": [200, '{"keys": 5}']}},
}


@pytest.mark.parametrize("state", BAD.values(), ids=BAD)
def test_a_bad_answer_is_one_sentence_and_makes_no_account(client, provider, state):
    provider.set(claims=LAB, **state)
    answer = oidc.log_in(client)
    assert answer.status_code == 502 and REFUSED in answer.text
    assert not User.objects.exists() and not is_logged_in(client)


@pytest.mark.parametrize("text", ["<html>", "[]", "{}", '{"issuer": "https://elsewhere.example.org"}', '{"issuer": 5}'])
def test_a_bad_description_of_the_provider_is_refused_at_the_start(client, provider, text):
    provider.set(answers={"/.well-known/openid-configuration": [200, text]})
    answer = client.post(reverse("provider-login", args=["lab"]))
    assert answer.status_code == 502 and REFUSED in answer.text


@pytest.mark.parametrize("name", ["jwks_uri", "userinfo_endpoint"])
def test_a_provider_with_https_has_all_its_addresses_there(client, settings, monkeypatch, name):
    """Who reads along on one that is not could log in as anybody."""
    issuer = "https://login.example.org"
    found = {"issuer": issuer, name: "http://login.example.org/"}
    monkeypatch.setattr(Adapter, "_fetch", lambda self, address: dict.fromkeys(ENDPOINTS, f"{issuer}/x") | found)
    settings.PROVIDERS = oidc.RunningProvider(issuer).configured()
    answer = client.post(reverse("provider-login", args=["lab"]))
    assert answer.status_code == 502 and REFUSED in answer.text


def test_a_provider_that_is_down_is_named(client, provider, settings):
    address = oidc.at_the_provider(oidc.provider_address(client.post(reverse("provider-login", args=["lab"]))))
    settings.PROVIDERS = provider.configured(issuer="http://localhost:1")
    for answer in (client.get(address), client.post(reverse("provider-login", args=["lab"]))):
        assert answer.status_code == 502 and "Lab does not answer." in answer.text


def test_an_answer_that_nobody_asked_for_logs_nobody_in(client, provider):
    """Not without a login begun in this browser, and not twice."""
    begun = client.post(reverse("provider-login", args=["lab"]))
    address = oidc.at_the_provider(oidc.provider_address(begun))
    for browser in (Client(), client, client):
        answer = browser.get(address)
    assert answer.status_code == 400 and "has expired, or began in another browser" in answer.text
    assert Event.objects.filter(verb="logged in").count() == 1


def test_cancelling_at_the_provider_is_said(client, provider):
    provider.set(deny=True)
    answer = oidc.log_in(client)
    assert answer.status_code == 403 and "You cancelled the login at Lab." in answer.text


@pytest.mark.parametrize(
    ("claims", "staff", "superuser"),
    [({"groups": ["lab"]}, True, False), ({"groups": ["admins", "x"]}, True, True), ({"groups": "lab"}, True, False),
     ({"groups": ["other"]}, None, None), ({}, None, None), ({"groups": {"lab": 1}}, None, None)],
)  # fmt: skip
def test_groups_give_rights_and_without_them_no_account_is_made(client, provider, claims, staff, superuser):
    provider.set(claims=claims)
    answer = oidc.log_in(client)
    if staff is None:
        assert answer.status_code == 403 and "has no access to Winnow" in answer.text and not User.objects.exists()
    else:
        user = User.objects.get()
        assert (user.is_staff, user.is_superuser) == (staff, superuser)


def test_a_claim_may_be_inside_another(client, provider, settings):
    settings.PROVIDERS = provider.configured(groups="realm_access.roles")
    provider.set(claims={"realm_access": {"roles": ["admins"]}})
    oidc.log_in(client)
    assert User.objects.get().is_superuser


def test_who_leaves_a_group_loses_its_rights_at_the_next_login(client, provider):
    provider.set(claims={"groups": ["admins"]})
    oidc.log_in(client)
    provider.set(claims={"groups": ["lab"]})
    oidc.log_in(Client())
    user = User.objects.get()
    assert (user.is_staff, user.is_superuser) == (True, False)
    provider.set(claims={"groups": []})
    assert oidc.log_in(Client()).status_code == 403
    assert client.get(reverse("account")).status_code == 403, "the session that is open loses them too"


def test_groups_make_members_of_studies_and_unmake_them(client, provider, settings):
    study, other = studies.study(name="Pilot"), studies.study(name="Other")
    settings.PROVIDERS = provider.configured(
        roles={"lab": "staff", "readers": {"Pilot": "viewer"}, "crowd": {"Pilot": "manager", "Missing": "owner"}}
    )
    provider.set(claims={"groups": ["readers", "crowd"]})
    oidc.log_in(client)
    user = User.objects.get()
    members.add(study=other, user=user, role=Role.VIEWER, by="test")
    assert Member.objects.get(study=study).role == Role.MANAGER and user.is_staff
    for groups, role in ((["readers"], Role.VIEWER), (["lab"], None), (["crowd"], Role.MANAGER)):
        provider.set(claims={"groups": groups})
        oidc.log_in(Client())
        assert getattr(Member.objects.filter(study=study).first(), "role", None) == role
    assert Member.objects.filter(study=other).exists(), "the map does not name it"


def test_a_study_keeps_its_last_owner(client, provider, settings):
    study = studies.study(name="Pilot")
    settings.PROVIDERS = provider.configured(roles={"*": "staff", "boss": {"Pilot": "owner"}})
    provider.set(claims={"groups": ["boss"]})
    oidc.log_in(client)
    provider.set(claims={"groups": []})
    assert oidc.log_in(Client()).status_code == 302
    assert Member.objects.get(study=study).role == Role.OWNER


@pytest.fixture
def ana(client) -> User:
    user = User.objects.create_user("ana", password="cups-and-saucers", is_staff=True, last_login="2026-01-01T00:00Z")
    client.force_login(user)
    return user


def confirm(client, answer):
    """Enter the password that is asked for; the page that was asked for follows."""
    assert answer.status_code == 302 and reverse("account_reauthenticate") in answer.url
    return client.post(answer.url, {"password": "cups-and-saucers"})


def test_an_account_is_connected_after_its_password_and_disconnected(client, provider, ana):
    begun = confirm(client, client.post(reverse("provider-connect", args=["lab"])))
    assert client.get(oidc.at_the_provider(oidc.provider_address(begun))).url == reverse("account")
    assert "You can log in through Lab." in client.get(reverse("account")).text
    other = Client()
    oidc.log_in(other)
    assert other.get(reverse("account")).context["user"] == ana
    client.post(reverse("provider-disconnect", args=["lab"]))
    assert not ana.socialaccount_set.exists()
    verbs = set(Event.objects.values_list("verb", flat=True))
    assert {"connected to the provider", "disconnected from the provider"} <= verbs


def test_who_is_connected_elsewhere_is_not_connected_twice(client, provider, ana):
    oidc.log_in(Client())
    begun = confirm(client, client.post(reverse("provider-connect", args=["lab"])))
    client.get(oidc.at_the_provider(oidc.provider_address(begun)))
    assert "Another account is already connected" in client.get(reverse("account")).text
    assert not ana.socialaccount_set.exists()


def test_the_only_way_in_is_kept(client, provider):
    oidc.log_in(client)
    client.post(reverse("provider-disconnect", args=["lab"]))
    assert User.objects.get().socialaccount_set.exists()


def test_a_closed_account_stays_closed(client, provider):
    oidc.log_in(client)
    User.objects.update(is_active=False)
    answer = oidc.log_in(Client())
    assert answer.status_code == 403 and "This account is closed." in answer.text


def test_with_passwords_off_only_the_provider_logs_in(client, provider, settings, ana):
    settings.LOCAL_LOGIN = False
    other = Client()
    page = other.get(reverse("login")).text
    assert "Log in through Lab" in page and 'name="password"' not in page and "passkey" not in page
    answer = other.post(reverse("login"), {"username": "ana", "password": "cups-and-saucers"})
    assert answer.status_code == 403 and "Passwords are switched off." in answer.text
    assert other.post(reverse("mfa_login_webauthn"), {"credential": "{}"}).status_code == 403
    assert 'name="old_password"' not in client.get(reverse("account")).text
    assert preparation.first_admin(by="test") is None
    with pytest.raises(accounts.CannotAdd, match="Passwords are switched off"):
        accounts.add_user(name="bo", superuser=False, by="test")
    assert oidc.log_in(other).status_code == 302


def test_without_a_provider_there_is_none(client, ana):
    assert client.post(reverse("provider-login", args=["lab"])).status_code == 404
    assert client.get(reverse("provider-callback", args=["lab"])).status_code == 404
    assert "through" not in client.get(reverse("login")).text
