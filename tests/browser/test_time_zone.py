"""The browser's time zone reaches the server by script."""

from datetime import UTC, datetime

from django.contrib.auth.models import User
from rest_framework.authtoken.models import Token

from benchmarks.accounts import tokens


def test_times_are_in_the_zone_of_the_browser_from_the_second_page_on(site, sign_in, page):
    ana = User.objects.create_user("ana", is_staff=True)
    tokens.make_token(user=ana, by="test")
    Token.objects.update(created=datetime(2025, 7, 31, 22, 30, tzinfo=UTC))
    browser = page.context.new_cdp_session(page)
    browser.send("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kolkata"})
    sign_in(page, ana)
    page.goto(f"{site}/token/")
    assert page.locator("time").first.text_content() == "31 Jul 2025, 22:30"
    page.reload()
    time = page.locator("time").first
    assert (time.text_content(), time.get_attribute("title")) == ("1 Aug 2025, 04:00", "31 Jul 2025, 22:30 UTC")
    assert page.errors == []
    browser.detach()  # and the page is in its own zone again
