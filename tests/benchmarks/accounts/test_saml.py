"""Login through a SAML identity provider, whose answers the test signs."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.core import checks
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from config.apps import providers_work
from tests.builders import saml

pytestmark = pytest.mark.django_db
FORMATS = "urn:oasis:names:tc:SAML:{}:nameid-format:{}"
REFUSED = "Uni sent an answer that Winnow cannot accept."


@pytest.fixture(scope="module")
def idp(tmp_path_factory) -> saml.IdentityProvider:
    return saml.IdentityProvider(tmp_path_factory.mktemp("idp"))


class Browser(Client):
    """It names the host, as python3-saml expects of one."""

    def __init__(self):
        super().__init__(headers={"host": "testserver"})


@pytest.fixture
def client() -> Client:
    return Browser()


@pytest.fixture(autouse=True)
def configured(idp, settings):
    cache.clear()
    settings.PROVIDERS = idp.configured()


def is_logged_in(client) -> bool:
    return client.get(reverse("account")).status_code == 200


def log_in(client, idp, **answer):
    return saml.send(client, idp.answer(saml.begin(client), **answer))


def test_the_first_login_makes_an_account_and_the_next_finds_it(client, idp):
    assert log_in(client, idp).url == reverse("study-list")
    user = User.objects.get()
    assert (user.username, user.email, user.is_staff, user.is_superuser) == ("ana", "ana@example.org", True, False)
    assert is_logged_in(client) and not user.has_usable_password()
    log_in(Browser(), idp, attributes={"uid": "renamed", "groups": "lab"})
    assert User.objects.get() == user
    log_in(Browser(), idp, name="sub-2")
    assert User.objects.count() == 2, "the same name, another subject"


def test_an_encrypted_assertion_is_read_with_the_key_of_winnow_alone(client, idp, settings, caplog):
    settings.PROVIDERS = idp.configured(signing=True)
    ours = Path(settings.PROVIDERS["uni"].certificate_file).read_text()
    for wrong, reason in (
        ({"encrypted": saml.key_pair()[1]}, "failed to decrypt"),
        ({"encrypted": ours, "signed": saml.key_pair()}, "Signature validation failed"),
    ):
        assert log_in(client, idp, **wrong).status_code == 502 and reason in caplog.text
    assert not User.objects.exists()
    log_in(client, idp, encrypted=ours)
    assert User.objects.get().username == "ana" and is_logged_in(client)


BAD = {  # and what the log says of it
    "not signed": ({"signed": ()}, "No Signature found"),
    "signed by another key": ({"signed": saml.key_pair()}, "Signature validation failed"),
    "for another audience": ({"audience": "https://elsewhere.example.org"}, "is not a valid audience"),
    "for no audience": ({"audience": None}, "does not name an audience"),
    "expired": ({"end": -10}, "expired"),
    "of another issuer": ({"issuer": "https://elsewhere.example.org"}, "Invalid issuer"),
    "about somebody who asked for nothing": ({"confirmed": ""}, "does not belong to a login that began here"),
    "about another login": ({"confirmed": 'InResponseTo="_other"'}, "SubjectConfirmation"),
    "sent to another address": ({"here": "https://elsewhere.example.org"}, "instead of"),
    "with a name that changes": ({"format": FORMATS.format("2.0", "transient")}, "no attribute identifies"),
    "with an address for a name": ({"format": FORMATS.format("1.1", "emailAddress")}, "no attribute identifies"),
}


@pytest.mark.parametrize(("wrong", "reason"), BAD.values(), ids=BAD)
def test_a_bad_answer_is_one_sentence_and_makes_no_account(client, idp, caplog, wrong, reason):
    answer = log_in(client, idp, **wrong)
    assert answer.status_code == 502 and REFUSED in answer.text and reason in caplog.text
    assert not User.objects.exists() and not is_logged_in(client)


@pytest.mark.parametrize("posted", ["", "AAAA", "PGE+", "é"])
def test_what_is_no_answer_is_refused(client, posted):
    saml.begin(client)
    answer = saml.send(client, posted)
    assert answer.status_code == 502 and REFUSED in answer.text


def test_an_answer_is_taken_once_and_in_the_browser_that_asked(client, idp):
    answer = idp.answer(saml.begin(client))
    assert [saml.send(browser, answer).status_code for browser in (Browser(), client, client)] == [400, 302, 400]
    assert saml.send(Browser(), idp.answer("")).status_code == 502, "nobody asked for it"
    assert client.get(reverse("saml_finish_acs", args=["uni"])).status_code == 400


def test_people_are_known_by_the_attribute_that_is_set_or_a_standard_one(client, idp, settings):
    transient = {"format": FORMATS.format("2.0", "transient")}
    for name in ("urn:oasis:names:tc:SAML:attribute:pairwise-id", "employeeNumber"):
        settings.PROVIDERS = idp.configured(subject="" if ":" in name else name)
        log_in(client := Browser(), idp, attributes={name: f"{name[-4:]}@example.org", "groups": "lab"}, **transient)
        assert is_logged_in(client)
    assert set(User.objects.values_list("username", flat=True)) == {"e-id", "mber"}


def test_logging_out_ends_the_session_at_the_provider_too(client, idp, settings):
    settings.PROVIDERS = idp.configured(signing=True)
    log_in(client, idp)
    page = client.post(reverse("logout"))
    address = saml.oidc.provider_address(page)
    assert address.startswith(f"{saml.AT}/slo?") and "Signature" in parse_qs(urlsplit(address).query)
    assert ">sub-1</saml:NameID>" in saml.asked(address) and "_session" in saml.asked(address)
    assert not is_logged_in(client) and "to log out there too" in page.text
    assert client.get(reverse("saml_sls", args=["uni"]), {"SAMLResponse": "x"}).url == reverse("login")


def test_the_provider_logs_out_its_people_with_its_signature_alone(client, idp):
    log_in(client, idp)
    assert client.get(idp.logout_request("sub-1", signed=False)).status_code == 502 and is_logged_in(client)
    assert client.get(idp.logout_request("sub-2")).status_code == 302 and is_logged_in(client)
    answer = client.get(idp.logout_request("sub-1"))
    assert answer.url.startswith(f"{saml.AT}/slo?SAMLResponse=") and not is_logged_in(client)


def test_a_provider_without_single_logout_leaves_it_at_that(client, idp, settings, tmp_path):
    without = tmp_path / "idp.xml"
    without.write_text("\n".join(line for line in idp.metadata.read_text().splitlines() if "Logout" not in line))
    settings.PROVIDERS = idp.configured(metadata=without.as_uri())
    log_in(client, idp)
    assert client.post(reverse("logout")).url == reverse("login") and not is_logged_in(client)


def test_the_metadata_of_winnow_name_its_addresses(client, idp):
    answer = client.get(reverse("saml_metadata", args=["uni"]))
    assert answer["Content-Type"] == "text/xml"
    assert all(f"{saml.HERE}/{name}/" in answer.text for name in ("answer", "logout", "metadata"))


@pytest.mark.parametrize(
    ("more", "level", "says"),
    [({}, None, ""), ({"entity_id": "https://elsewhere.example.org"}, checks.ERROR, "has no valid description of"),
     ({"metadata": "http://127.0.0.1:1/idp.xml"}, checks.INFO, "does not answer"),
     ({"signing": True, "key_file": __file__}, checks.ERROR, "key_file does not contain a private key")],
)  # fmt: skip
def test_the_check_before_a_start_reads_metadata_and_keys(idp, settings, more, level, says):
    settings.PROVIDERS = idp.configured(**more)
    found = providers_work()
    assert [one.level for one in found] == [level] * (level is not None) and all(says in one.msg for one in found)


def test_metadata_that_are_gone_are_said(client, settings, idp):
    settings.PROVIDERS = idp.configured(metadata="http://127.0.0.1:1/idp.xml")
    answer = client.post(reverse("provider-login", args=["uni"]))
    assert answer.status_code == 502 and "Uni does not answer." in answer.text
