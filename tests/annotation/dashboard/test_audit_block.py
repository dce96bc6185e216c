"""The block of the study page about an audit, and changing its target there."""

from dataclasses import replace

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.dashboard import audit_block, home_page
from annotation.figures import blocked_items, study_list
from annotation.measures.audits.sentence import percent
from annotation.models import Stage, StageState, Study
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import audits
from annotation.studies import closing
from tests.builders import annotators, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage():
    made = studies.stage(items=30, strategy="audit", target_half_width=0.2, pay_per_hour=12, auto_advance=True)
    return made


def judge(stage, n, wrong=()):
    annotator = stage.study.annotators.first() or studies.annotator(stage.study)
    for place in range(n):
        studies.judgment(annotator, stage, "none" if place in wrong else "candidate-0", active_ms=6000, elapsed_ms=6000)


def block(client, stage) -> str:
    page = client.get(reverse("study-stage", args=[stage.study_id, 1])).content.decode()
    return " ".join(strip_tags(page.partition('id="live-audit">')[2].partition("</section>")[0]).split())


def test_before_the_first_judgment_it_shows_the_order_and_the_most_that_it_takes(admin_client, stage):
    shown = block(admin_client, stage)
    assert "No item is settled yet." in shown and "At most 20 more items." in shown and stage.order_sha256 in shown
    page = text(admin_client, stage)
    assert "0 of at most 20 items settled" in page and "0 of at most 20 judgments" in page


def test_under_way_it_shows_the_interval_what_is_to_come_and_the_sentence(admin_client, stage):
    judge(stage, 5, wrong={1})
    shown, found = block(admin_client, stage), audits.progress_of(stage)
    assert f"20.0% wrong: 1 of 5 judged items, 95% interval {100 * found.low:.1f}" in shown
    assert "Target: ± 20%." in shown
    assert f"{found.plan.expected - 5} more items expected, at most {found.plan.most - 5}." in shown
    assert "Cost so far: $0.10." in shown and f"Remaining cost: about ${0.02 * (found.plan.expected - 5):.2f}" in shown
    assert f"After 5 of 30 items, the share of wrong items is {0.2:.1%}" in client_text(admin_client, stage)
    assert "Of the 30 items of" in shown and "target ± 20%, not met yet). Judged by 1 annotator. The answer" in shown
    assert "An item is wrong if it is dropped as “no image fits”." in shown
    assert "The estimate cannot be corrected for annotators’ errors: no item has three judgments, and" in shown


def test_one_sentence_adds_up_the_items_that_count_that_came_too_late_and_that_were_begun(stage):
    judge(stage, 6)
    found = audits.progress_of(stage)
    for ended, later in ((True, "were settled after the end"), (False, "are settled, but after an open item")):
        counts = audit_block.counts(stage, replace(found, n=3, ended=ended), settled=5)
        assert counts == f"The result rests on 3 of 30 items; 2 more {later}; 1 more have some judgments."


def test_where_every_item_is_expected_to_be_needed_it_says_only_the_most(admin_client, stage):
    Stage.objects.update(target_half_width=0.001)
    judge(stage, 5, wrong={1})
    shown = block(admin_client, stage)
    assert "At most 25 more items. Cost so far: $0.10. Remaining cost: at most $0.50." in shown
    assert "Remaining cost: about" not in shown


def test_two_questions_about_an_item_are_not_called_items(admin_client):
    made = studies.stage(benchmark=annotators.benchmark_of_pairs(2), protocol="verify")
    page = text(admin_client, made)
    assert "typequestions" in page.replace(" ", "") and "Outcomes questions" in page


@pytest.mark.parametrize(("n", "wrong", "any_look"), [(5, {1}, False), (17, set(range(0, 17, 2)), True)])
def test_it_says_if_the_scores_hardly_help(admin_client, stage, n, wrong, any_look):
    """The second audit would be over after 16 items without them."""
    judge(stage, n, wrong)
    words = "the scores have hardly narrowed the interval"
    assert words not in block(admin_client, stage)
    Stage.objects.update(scores_of="CLIP", scores_sha256="0" * 64, any_look=any_look)  # all alike
    assert words in block(admin_client, stage)


def test_every_figure_of_the_page_counts_the_items_that_the_audit_is_expected_to_need(admin_client, stage):
    judge(stage, 5, wrong={1})
    needed = audits.progress_of(stage).plan.expected
    assert 5 < needed < 30
    page = text(admin_client, stage)
    assert f"5 of about {needed} items settled" in page and f"5 of about {needed} judgments" in page
    assert f"of about ${0.02 * needed:.2f}" in page
    half_width = 100 * audits.progress_of(stage).half_width
    assert f"The audit’s result is ± {half_width:.2f}% so far. Its target is ± 20%." in page
    home = home_page.step_of(home_page.listed(User.objects.get(), stage.study))
    assert home.step.sentence.startswith(f"Stage 1 (Choose the image that fits): 5 of about {needed} items settled.")
    (listed,) = study_list.with_stages(Study.objects.all())
    assert (listed.wanted, listed.judged) == (needed, 5)
    shown = text_of(admin_client.get(reverse("study-list")))
    assert f"{1000 * 5 // needed / 10:g}%5 of about {needed} items" in shown and "next items" not in page
    participant_lifecycle.leave(annotator=stage.study.annotators.get(), by="test")
    page = text(admin_client, stage)
    assert "The next items need a new annotator" in page and "blocked" not in page
    assert closing.open_items(stage) == needed - 5


def test_a_narrow_interval_ends_the_audit_only_after_every_tenth_item(admin_client, stage):
    for n, narrow in ((4, False), (1, True), (5, False)):
        judge(stage, n)
        assert ("already narrow enough" in block(admin_client, stage)) is narrow


def test_the_report_has_the_target_and_the_result(admin_client, stage):
    judge(stage, 5, wrong={1})
    shown = text_of(admin_client.get(reverse("study-report", args=[stage.study_id])))
    assert "Target ± 20%; the audit stops when its 95% interval is narrow enough; an item is wrong if" in shown
    assert "1 wrong of 5 judged items (30 in all): 20.0%, 95% interval" in shown
    assert "the target is not met yet" in shown and stage.order_sha256 in shown


def test_closing_an_audit_before_its_target_asks_first(admin_client, stage):
    address = reverse("stage-move", args=[stage.study_id, 1])
    assert "The audit has no result yet. Its target is ± 20%." in text_of(admin_client.post(address, {"to": "closed"}))
    judge(stage, 5, wrong={1})
    asked = text_of(admin_client.post(address, {"to": "closed"}))
    assert "The audit has not ended by itself: the result is ± " in asked and "and the target is ± 20%." in asked
    assert "items are still open" in asked and "of 30 items" not in asked


def test_an_audit_that_has_met_its_target_has_nothing_to_come(admin_client, stage):
    judge(stage, 10)
    audits.stop_if_over(stage)
    page = text(admin_client, stage)
    assert "10 items settled" in page and "target met" in page and "10 of 10 judgments" in page
    assert "The target is met. To continue the audit, set a tighter target below." in page
    (listed,) = study_list.with_stages(Study.objects.all())
    assert listed.wanted == listed.judged == 10
    assert "10 items0.0% wrongat most" in text_of(admin_client.get(reverse("study-list")))


@pytest.mark.parametrize(
    ("n", "state", "why"),
    [
        (8, None, ""),
        (
            15,
            "not met, and with 95% confidence out of reach",
            "at least {low} of the items are wrong (95% interval), more than 50%.",
        ),
        (16, "not met, and cannot be met any more", "16 of 30 items are wrong, more than 50% even if no other is."),
        (30, "not met", "16 of all 30 items are wrong, more than 50%."),
    ],
)
def test_a_bound_that_is_not_met_is_said_wherever_the_audit_is_shown(admin_client, n, state, why):
    stage = studies.stage(items=30, strategy="audit", target_bound=0.5, any_look=True)
    judge(stage, n, wrong=range(16 if n > 8 else 2))
    ended = audits.stop_if_over(stage)
    shown, page = block(admin_client, stage), text(admin_client, stage)
    report = text_of(admin_client.get(reverse("study-report", args=[stage.study_id])))
    figures = admin_client.get(f"/api/v1/studies/{stage.study_id}/figures/?stage=1").json()
    why = why.format(low=percent(audits.progress_of(stage).low))
    if state is None:
        assert ended is False and "target is" not in shown.replace("The target is not met yet", "")
        assert "at most 50% wrong, not met yet). Judged by" in shown
        assert "the target is not met yet" in report and figures["audit"]["met"] is None
        return
    assert ended is (n == 30) and figures["audit"]["met"] is (None if n == 15 else False)
    assert f"The target is {state}: {why}" in shown and f"target at most 50% wrong, {state}). Judged by" in shown
    tile = f"30 items settled, target {state}" if ended else f"{n} of about 30 items settled, target {state}"
    assert tile in page and f"The target is {state}: {why}" in page.partition("Change the target")[2] + page
    assert f"; the target is {state}. SHA-256" in report
    assert "target met" not in page and "met the" not in page and "target is met" not in page + report
    if not ended:
        asked = text_of(admin_client.post(reverse("stage-move", args=[stage.study_id, 1]), {"to": "closed"}))
        assert f"The target is {state}: {why}" in asked


def text(client, stage) -> str:
    return text_of(client.get(reverse("study-stage", args=[stage.study_id, 1])))


def text_of(page) -> str:
    return " ".join(strip_tags(page.content.decode()).split())


def client_text(client, stage) -> str:
    return client.get(reverse("study-stage", args=[stage.study_id, 1])).content.decode()


def test_at_the_target_and_after_a_tighter_one(admin_client, stage):
    judge(stage, 10)
    audits.stop_if_over(stage)
    assert "The target is met. No more items are assigned." in block(admin_client, stage)
    address = reverse("stage-target", args=[stage.study_id, stage.position])
    assert admin_client.post(address, {"target": "5"}).status_code == 302
    stage.refresh_from_db()
    assert (stage.state, stage.target_half_width) == (StageState.OPEN, 0.05)
    assert "Target: ± 5%." in block(admin_client, stage)


@pytest.mark.parametrize("target", ["x", "70"])
def test_a_target_that_is_none_is_refused(admin_client, stage, target):
    address = reverse("stage-target", args=[stage.study_id, stage.position])
    page = admin_client.post(address, {"target": target}, follow=True).content.decode()
    stage.refresh_from_db()
    assert stage.target_half_width == 0.2 and 'class="messages"' in page


def test_other_stages_have_no_such_block(admin_client):
    assert "live-audit" not in client_text(admin_client, studies.stage(items=1))


def test_of_a_stopped_audit_only_items_that_lost_their_judgments_are_blocked(stage):
    judge(stage, 10)
    audits.stop_if_over(stage)
    stage.refresh_from_db()
    assert blocked_items.counts(stage) == {}
    participant_lifecycle.exclude(annotator=stage.study.annotators.get(), by="test", reason="At random")
    assert blocked_items.counts(stage) == {blocked_items.REOPEN: 10}
