"""Login through an OpenID Connect provider: allauth.idp in its own process, asked over HTTP."""

import time

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from annotation.models import Member, Role
from annotation.studies import members
from benchmarks.accounts import accounts
from benchmarks.accounts.factors import PROVIDER
from benchmarks.accounts.provider import ENDPOINTS, Adapter, ProviderAdapter
from benchmarks.models import Event
from config import preparation
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
    settings.OIDC = running.configured()
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


def test_the_same_subject_of_another_issuer_is_another_person(client, provider, settings):
    oidc.log_in(client)
    elsewhere = provider.address.replace("localhost", "127.0.0.1")  # the same server, under another name
    settings.OIDC = provider.configured(issuer=elsewhere)
    oidc.log_in(Client())
    assert User.objects.count() == 2


def test_a_first_login_in_two_windows_at_once_makes_one_account(client, provider, monkeypatch):
    def later(adapter, request, login, form=None, save=ProviderAdapter.save_user):
        other = User.objects.create_user("other", is_staff=True)
        SocialAccount.objects.create(user=other, provider=PROVIDER, uid=login.account.uid)
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
    answer = client.post(reverse("provider-login"))
    assert answer.status_code == 502 and REFUSED in answer.text


@pytest.mark.parametrize("name", ["jwks_uri", "userinfo_endpoint"])
def test_a_provider_with_https_has_all_its_addresses_there(client, settings, monkeypatch, name):
    """Who reads along on one that is not could log in as anybody."""
    issuer = "https://login.example.org"
    found = {"issuer": issuer, name: "http://login.example.org/"}
    monkeypatch.setattr(Adapter, "_fetch", lambda self, address: dict.fromkeys(ENDPOINTS, f"{issuer}/x") | found)
    settings.OIDC = oidc.RunningProvider(issuer).configured()
    answer = client.post(reverse("provider-login"))
    assert answer.status_code == 502 and REFUSED in answer.text


def test_a_provider_that_is_down_is_named(client, provider, settings):
    address = oidc.at_the_provider(oidc.provider_address(client.post(reverse("provider-login"))))
    settings.OIDC = provider.configured(issuer="http://localhost:1")
    for answer in (client.get(address), client.post(reverse("provider-login"))):
        assert answer.status_code == 502 and "Lab does not answer." in answer.text


def test_an_answer_that_nobody_asked_for_logs_nobody_in(client, provider):
    """Not without a login begun in this browser, and not twice."""
    begun = client.post(reverse("provider-login"))
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
    settings.OIDC = provider.configured(groups_claim="realm_access.roles")
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
    settings.OIDC = provider.configured(
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
    settings.OIDC = provider.configured(roles={"*": "staff", "boss": {"Pilot": "owner"}})
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
    begun = confirm(client, client.post(reverse("provider-connect")))
    assert client.get(oidc.at_the_provider(oidc.provider_address(begun))).url == reverse("account")
    assert "You can log in through Lab." in client.get(reverse("account")).text
    other = Client()
    oidc.log_in(other)
    assert other.get(reverse("account")).context["user"] == ana
    client.post(reverse("provider-disconnect"))
    assert not ana.socialaccount_set.exists()
    verbs = set(Event.objects.values_list("verb", flat=True))
    assert {"connected to the provider", "disconnected from the provider"} <= verbs


def test_who_is_connected_elsewhere_is_not_connected_twice(client, provider, ana):
    oidc.log_in(Client())
    begun = confirm(client, client.post(reverse("provider-connect")))
    client.get(oidc.at_the_provider(oidc.provider_address(begun)))
    assert "Another account here is connected" in client.get(reverse("account")).text
    assert not ana.socialaccount_set.exists()


def test_the_only_way_in_is_kept(client, provider):
    oidc.log_in(client)
    client.post(reverse("provider-disconnect"))
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
    assert client.post(reverse("provider-login")).status_code == 404
    assert client.get(reverse("provider-callback")).status_code == 404
    assert "through" not in client.get(reverse("login")).text
