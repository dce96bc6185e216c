"""Tokens for the API: made on a page or by a command, shown once, of no use to who may not log in."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from rest_framework.authtoken.models import Token
from rest_framework.request import Request

from annotation.studies import members
from benchmarks import audit
from benchmarks.accounts import tokens
from benchmarks.models import Event, TokenTerms
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> User:
    return User.objects.create_user("ana", is_staff=True)


def status(client, token: str, name: str = "api-study-list", *args) -> int:
    return client.get(reverse(name, args=args), headers={"Authorization": f"Bearer {token}"}).status_code


def made_on_the_page(client) -> str:
    page = client.post(reverse("api-token"))
    assert "no-store" in page["Cache-Control"]
    return re.search(r'id="token"[^>]*value="([^"]+)"', page.content.decode())[1]


def test_it_is_shown_once_and_kept_as_a_digest(client, ana):
    client.force_login(ana)
    token = made_on_the_page(client)
    assert token not in client.get(reverse("api-token")).content.decode()
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM authtoken_token")
        ((kept,),) = cursor.fetchall()
    assert kept != token and Event.objects.get(verb="made an API token").by == f"user:{ana.pk}"
    client.logout()
    assert status(client, token) == 200
    assert status(client, kept) == 401  # whoever reads the table has no token


def test_a_new_one_replaces_the_old_and_a_revoked_one_is_none(client, ana):
    client.force_login(ana)
    old, new = made_on_the_page(client), made_on_the_page(client)
    assert Token.objects.count() == 1
    client.post(reverse("api-token-revoke"))
    assert Event.objects.filter(verb="revoked an API token", subject=audit.named(ana)).exists()
    assert "You have no token" in client.get(reverse("api-token")).content.decode()
    client.logout()
    assert (status(client, old), status(client, new)) == (401, 401)
    newest = tokens.make_token(user=ana, by="test")
    assert status(client, newest) == 200


def test_it_opens_what_its_owner_may_see(client, ana):
    mine, other = studies.study(), studies.study()
    members.add(study=mine, user=ana, role="viewer", by="test")
    token = tokens.make_token(user=ana, by="test")
    assert status(client, token, "api-task-list", mine.pk) == 200
    assert status(client, token, "api-task-list", other.pk) == 404
    assert client.get(reverse("study-list"), headers={"Authorization": f"Bearer {token}"}).status_code == 302


@pytest.mark.parametrize(("lost", "answer"), [("is_active", 401), ("is_staff", 403)])
def test_of_somebody_who_may_not_log_in_any_more_it_opens_nothing(client, ana, lost, answer):
    token = tokens.make_token(user=ana, by="test")
    User.objects.filter(pk=ana.pk).update(**{lost: False})
    assert status(client, token) == answer


def move(client, token: str, study):
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "a"}
    url = reverse("api-study-move", args=[study.pk])
    return client.post(url, {"to": "paused"}, content_type="application/json", headers=headers)


def test_an_expired_one_says_when_it_ended(client, ana):
    token = tokens.make_token(user=ana, by="test", days=30)
    assert status(client, token) == 200
    TokenTerms.objects.update(expires_at=datetime(2026, 3, 2, tzinfo=UTC))
    refused = client.get(reverse("api-study-list"), headers={"Authorization": f"Bearer {token}"})
    assert (refused.status_code, refused.json()["code"]) == (401, "EXPIRED_TOKEN")
    assert "expired on 2026-03-02" in refused.json()["detail"]
    client.force_login(ana)
    assert "and no longer works" in client.get(reverse("api-token")).text


@pytest.mark.parametrize("writes", [True, False, None])
def test_one_may_be_limited_to_reading(client, ana, writes):
    """Those of earlier versions, without terms, were made when the API only read."""
    study = studies.study(created_by=ana)
    token = tokens.make_token(user=ana, by="test", writes=bool(writes))
    if writes is None:
        TokenTerms.objects.all().delete()
    assert status(client, token) == 200
    answer = move(client, token, study)
    code = None if writes else "TOKEN_ONLY_READS"
    assert (answer.status_code, answer.json().get("code")) == (200 if writes else 403, code)


@pytest.mark.parametrize(("form", "days", "writes"), [({}, 90, False), ({"days": "365", "writes": "on"}, 365, True)])
def test_the_page_asks_for_its_terms(client, ana, form, days, writes):
    client.force_login(ana)
    client.post(reverse("api-token"), form)
    terms = TokenTerms.objects.get()
    assert terms.writes == writes and (terms.expires_at - timezone.now()).days in (days - 1, days)
    page = client.get(reverse("api-token")).text
    assert ("read and change data" in page) == writes
    assert client.post(reverse("api-token"), {"days": "forever"}).status_code == 422
    assert TokenTerms.objects.get() == terms


def test_the_answer_says_what_to_bring(client):
    refused = client.get(reverse("api-study-list"), headers={"Authorization": "Bearer nonsense"})
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
    assert refused.json() == {"code": "BAD_TOKEN", "detail": "Invalid token.", "errors": []}
    assert client.get(reverse("api-study-list")).status_code == 403


def test_the_command_prints_one(client, ana):
    out = StringIO()
    call_command("api_token", "ana", stdout=out)
    assert status(client, out.getvalue().strip()) == 200
    call_command("api_token", "ana", "--days", "7", "--read-only", stdout=out)
    assert not TokenTerms.objects.get().writes
    with pytest.raises(CommandError, match="1 to 3650"):
        call_command("api_token", "ana", "--days", "0")
    call_command("api_token", "ana", "--revoke", stdout=out)
    assert not Token.objects.exists()
    User.objects.create_user("guest")
    for who, says in (("nobody", "There is no user nobody"), ("guest", "may not manage Winnow")):
        with pytest.raises(CommandError, match=says):
            call_command("api_token", who)


def test_the_page_is_for_managers(client):
    assert client.get(reverse("api-token")).status_code == 302
    client.force_login(User.objects.create_user("guest"))
    for name in ("api-token", "api-token-revoke"):
        assert client.post(reverse(name)).status_code == 403
    assert not Token.objects.exists()


def test_a_script_is_slowed_down_and_a_page_is_not(client, ana, monkeypatch):
    monkeypatch.setattr(tokens.PerToken, "THROTTLE_RATES", {"token": "3/min"})
    token = tokens.make_token(user=ana, by="test")
    asked = [client.get(reverse("api-study-list"), headers={"Authorization": f"Bearer {token}"}) for _ in range(4)]
    assert [answer.status_code for answer in asked] == [200, 200, 200, 429]
    assert {answer["RateLimit-Policy"] for answer in asked} == {'"token";q=3;w=60'}
    assert [answer["RateLimit"][:11] for answer in asked] == [f'"token";r={left}' for left in (2, 1, 0, 0)]
    assert 55 < int(asked[3]["Retry-After"]) <= 60 and asked[3]["RateLimit"].endswith(f";t={asked[3]['Retry-After']}")
    client.force_login(ana)
    assert [client.get(reverse("api-study-list")).status_code for _ in range(4)] == [200] * 4
    assert "RateLimit" not in client.get(reverse("api-study-list"))


def test_no_more_pass_at_the_same_time_than_one_after_another(ana, rf, monkeypatch):
    """As of several processes: with REST framework's own counter, which reads and then writes, all of these pass."""
    monkeypatch.setattr(tokens.PerToken, "THROTTLE_RATES", {"token": "20/min"})

    def passes(_: int) -> bool:
        request = Request(rf.get("/"))
        request.user, request.auth = ana, Token()
        return tokens.PerToken().allow_request(request, None)

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(passes, range(80))) == 20
