"""Light or dark, and whether single keys act: the viewer's choices, on managers' and annotators' pages."""

import pytest

from config import appearance
from tests.builders import studies

pytestmark = pytest.mark.django_db
DARK = 'media="screen"'
SYSTEM = 'media="screen and (prefers-color-scheme: dark)"'


def look(page: str) -> tuple[bool, bool, str]:
    """Whether the dark colours hold always; whether they follow the system; the scheme of the browser's own parts."""
    return DARK in page, SYSTEM in page, page.partition('name="color-scheme" content="')[2].partition('"')[0]


@pytest.mark.parametrize(
    ("sent", "kept", "looks"),
    [
        ("dark", "dark", (True, False, "dark")),
        ("light", "light", (False, False, "light")),
        ("auto", "auto", (False, True, "light dark")),
        ("pink", None, (False, True, "light dark")),
    ],
)
def test_the_choice_is_kept_for_every_page(client, sent, kept, looks):
    home = f"/judge/{studies.annotator(studies.study(items=2)).token}/"
    address = f"http://testserver{home}?rules"
    answer = client.post("/appearance/", {"appearance": sent}, headers={"referer": address})
    assert answer.url == address
    cookie = answer.cookies.get("appearance")
    assert (cookie and cookie.value) == kept
    assert cookie is None or (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    for page in ("/login/", home, f"{home}?rules", "/no-such-page/"):
        assert look(client.get(page).text) == looks, page
    assert f'value="{kept or "auto"}" aria-pressed="true"' in client.get(home).text
    assert appearance.chosen("appearance") == "auto"  # between requests


def test_single_keys_are_switched_off_and_on_beside_the_look(client):
    home = f"/judge/{studies.annotator(studies.study(items=2)).token}/"
    client.post("/appearance/", {"appearance": "dark"})
    for sent, holds in (("off", "off"), ("loud", "off"), ("on", "on")):
        client.post("/appearance/", {"keys": sent})
        for page in ("/login/", home, f"{home}?rules"):
            text = client.get(page).text
            assert (" data-no-keys>" in text) == (holds == "off") and look(text)[0]
        assert f'value="{holds}" aria-pressed="true"' in text


@pytest.mark.parametrize("referer", ["", "https://elsewhere.example/", "//elsewhere.example/"])
def test_nobody_is_led_elsewhere(client, referer):
    answer = client.post("/appearance/", {"appearance": "dark"}, headers={"referer": referer})
    assert answer.url == "/"


def test_a_forged_cookie_is_no_choice(client):
    client.cookies["appearance"] = '"><script>'
    assert look(client.get("/login/").text) == (False, True, "light dark")
