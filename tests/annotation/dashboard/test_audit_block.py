"""The block of the study page about an audit, and changing its target there."""

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.figures import blocked_items
from annotation.models import StageState
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import audits
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    made = studies.stage(
        items=30, strategy="audit", target_half_width=0.2, pay_per_hour=12, auto_advance=True
    )  # fmt: skip
    return made


def judge(stage, n, wrong=()):
    annotator = stage.study.annotators.first() or studies.annotator(stage.study)
    for place in range(n):
        studies.judgment(annotator, stage, "none" if place in wrong else "candidate-0", active_ms=6000, elapsed_ms=6000)


def block(client, stage) -> str:
    page = client.get(reverse("study-detail", args=[stage.study_id])).content.decode()
    return " ".join(strip_tags(page.partition('id="live-audit">')[2].partition("</section>")[0]).split())


def test_before_the_first_judgment_it_shows_the_order_and_the_most_that_it_takes(admin_client, stage):
    shown = block(admin_client, stage)
    assert "No item is settled yet." in shown and "At most 20 more items." in shown and stage.order_sha256 in shown


def test_under_way_it_shows_the_interval_what_is_to_come_and_the_sentence(admin_client, stage):
    judge(stage, 5, wrong={1})
    shown, found = block(admin_client, stage), audits.progress_of(stage)
    assert f"20.0 % wrong: 1 of 5 judged items, 95 % interval {100 * found.low:.1f}" in shown
    assert "Target: ± 20 %." in shown
    assert f"{found.plan.expected - 5} more items expected, at most {found.plan.most - 5}." in shown
    assert "Cost so far: 0.10 USD." in shown and f"To come: {0.02 * (found.plan.expected - 5):.2f} USD" in shown
    assert f"After 5 of 30 items the share of wrong ones is {0.2:.1%}" in client_text(admin_client, stage)
    assert "Of the 30 items of" in shown and "target ± 20 %, not met yet). Judged by 1 annotator: one judgment" in shown


def client_text(client, stage) -> str:
    return client.get(reverse("study-detail", args=[stage.study_id])).content.decode()


def test_at_the_target_and_after_a_tighter_one(admin_client, stage):
    judge(stage, 10)
    audits.stop_if_met(stage)
    assert "The target is met, and no more items are assigned." in block(admin_client, stage)
    address = reverse("stage-target", args=[stage.study_id, stage.position])
    assert admin_client.post(address, {"target": "5"}).status_code == 302
    stage.refresh_from_db()
    assert (stage.state, stage.target_half_width) == (StageState.OPEN, 0.05)
    assert "Target: ± 5 %." in block(admin_client, stage)


@pytest.mark.parametrize("target", ["", "x", "70", "0"])
def test_a_target_that_is_none_is_refused(admin_client, stage, target):
    address = reverse("stage-target", args=[stage.study_id, stage.position])
    page = admin_client.post(address, {"target": target}, follow=True).content.decode()
    stage.refresh_from_db()
    assert stage.target_half_width == 0.2 and 'class="messages"' in page


def test_other_stages_have_no_such_block(admin_client):
    assert "live-audit" not in client_text(admin_client, studies.stage(items=1))


def test_of_a_stopped_audit_only_items_that_lost_their_judgments_are_blocked(stage):
    judge(stage, 10)
    audits.stop_if_met(stage)
    stage.refresh_from_db()
    assert blocked_items.counts(stage) == {}
    participant_lifecycle.exclude(annotator=stage.study.annotators.get(), by="test", reason="At random")
    assert blocked_items.counts(stage) == {blocked_items.REOPEN: 10}
