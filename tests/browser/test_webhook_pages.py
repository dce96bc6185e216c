"""The pages of webhooks in a real browser: by keyboard, at both sizes, light and dark, clean of axe's rules."""

import ipaddress

from django.contrib.auth.models import User
from playwright.sync_api import expect

from annotation.models import Delivery, Webhook
from annotation.webhooks import send
from tests.browser.looking import enter, flaws, tab_to
from tests.builders import studies
from tests.builders.webhooks import receiver, waiting


def test_a_webhook_is_added_tested_and_resumed_by_keyboard(site, sign_in, page, axe_violations, settings):
    settings.WEBHOOK_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    study = studies.study()
    sign_in(page, User.objects.create_superuser("ana"))

    def press(name: str, says: str, role: str = "button") -> None:
        tab_to(page, page.get_by_role(role, name=name, exact=True))
        enter(page)
        expect(page.get_by_text(says).first).to_be_visible()

    page.goto(f"{site}/studies/{study.pk}/settings/")
    press("Webhooks", "None yet.", role="link")
    with receiver(lambda number: 500 if number else 200) as there:
        page.get_by_label("Address").focus()
        page.keyboard.insert_text(there.url)
        press("Add webhook", "it won’t be shown again")
        page.get_by_text("Choose events").first.click()
        assert flaws(page, axe_violations) == []
        press("Send a test event", "A test event was queued.")
        one = Webhook.objects.get()
        send.send_waiting(one.pk)
        Delivery.objects.update(created_at="2026-01-02T03:04Z")
        waiting(one, 2)
        Delivery.objects.filter(state="waiting").update(tries=send.TRIES - 1)
        send.send_waiting(one.pk)
    page.reload()
    expect(page.get_by_text("Paused because an event could not be delivered")).to_be_visible()
    assert (flaws(page, axe_violations, ".stopped, .deliveries"), page.errors) == ([], [])
    press("Skip it and resume", "Resumed.")
    assert list(one.deliveries.values_list("state", flat=True)) == ["waiting", "skipped", "delivered"]
