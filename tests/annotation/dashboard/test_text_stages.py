"""Managers' pages of stages where an answer is more than a pick: answers in words, and no checks."""

import html
import re

import pytest
from django.urls import reverse

from annotation.assignment import seats
from annotation.checks import setup
from annotation.checks.gold_items import CannotSet
from annotation.designs.plan import NO_CHECKS, StagePlan
from annotation.judging import submissions
from annotation.models import Outcome, Stage, Study, Task
from annotation.studies.lifecycle import CannotCreate
from tests.annotation.adjudication.test_pages import fields, post, url
from tests.builders import ranking_screens, studies, text_items

pytestmark = pytest.mark.usefixtures("savepoint")
FIRST, SECOND, THIRD = "A cat is lying on a mat.", "There is a cat on a mat.", "A mat <b>has</b> a cat on it."


@pytest.fixture
def stage() -> Stage:
    """Three different edits of one item: an adjudicator is asked."""
    here = text_items.stage()
    for words in (FIRST, SECOND, THIRD):
        text_items.edits(here, words)
    return here


def value_of(page: str, words: str) -> str:
    found = re.findall(r'name="verdict" value="([^"]+)".*?<span class="words" dir="auto">([^<]*)<', page, re.S)
    return next(value for value, text in found if words in html.unescape(text))


def test_the_adjudicator_reads_the_material_and_every_answer(client, manager, stage):
    page = client.get(url(stage)).text
    for text in (
        *text_items.TEXTS["positive"],
        *text_items.TEXTS["negative"],
        *text_items.TEXTS["candidate"],
        FIRST,
        SECOND,
    ):
        assert text in page
    assert page.count("<b>A-0") == 3 and "<b>has</b>" not in page
    assert "No two agree" in page and "hard negative" in page
    for secret in ("caption-", "edit-"):
        assert secret not in page


def test_an_answer_is_adopted(client, manager, stage):
    page = client.get(url(stage)).text
    answer = post(client, page, stage, do="decide", verdict=value_of(page, SECOND), note="The best.")
    assert "Decided: kept." in client.get(answer.url).text
    assert Outcome.objects.get().content["texts"] == {"second_positive": SECOND}


def test_own_words_are_kept_and_shown_afterwards(client, manager, stage):
    page = client.get(url(stage)).text
    own = {"verdict": "own_words", "own_words-second_positive": "A cat lies on a mat."}
    post(client, page, stage, do="decide", note="Shorter.", **own)
    assert Outcome.objects.get().content["texts"] == {"second_positive": "A cat lies on a mat."}
    assert "edited to “A cat lies on a mat.”" in client.get(url(stage, show="decided")).text


def test_words_that_no_annotator_could_write_are_refused_and_are_still_there(client, manager, stage):
    page = client.get(url(stage)).text
    own = {"verdict": "own_words", "own_words-second_positive": text_items.TEXTS["negative"][0]}
    answer = post(client, page, stage, do="decide", note="So.", **own)
    assert answer.status_code == 422 and "must not mean" in answer.text and not Outcome.objects.exists()
    assert f">{text_items.TEXTS['negative'][0]}</textarea>" in answer.text


def test_what_is_no_answer_is_refused(client, manager, stage):
    page = client.get(url(stage)).text
    for verdict in ("", "1", "edited", "0" * 16, "caption-candidate-0"):
        answer = post(client, page, stage, do="decide", verdict=verdict, note="So.")
        assert answer.status_code == 422 and not Outcome.objects.exists(), verdict


def test_a_rejection_drops_it(client, manager, stage):
    answer = post(client, client.get(url(stage)).text, stage, do="decide", verdict="reject", note="None.")
    assert "Decided: dropped, rejected." in client.get(answer.url).text


def test_why_somebody_rejected_is_read(client, manager):
    here = text_items.stage()
    text_items.edits(here, FIRST)
    text_items.rejects(here, "They all add something.")
    text_items.edits(here, SECOND)
    assert "They all add something." in client.get(url(here)).text


def test_disagreements_are_read_in_words_and_a_confirmation_is_none(client, manager, stage):
    confirmed = text_items.stage()
    made = text_items.edits(confirmed, FIRST)
    text_items.picks(confirmed, f"edit-{made.pk}")
    there = reverse("study-disagreements", args=[confirmed.study_id])
    assert "None so far" in client.get(there).text
    page = client.get(reverse("study-disagreements", args=[stage.study_id])).text
    assert all(f"Edited to “{html.escape(words)}”" in page for words in (FIRST, SECOND, THIRD))
    assert client.get(reverse("study-stage", args=[stage.study_id, 1])).status_code == 200


def test_orders_that_differ_stand_below_the_sentences_that_they_order(client, manager):
    who = ranking_screens.ranking(1, overlap=2)
    task = Task.objects.get()
    for steps in ("123", "111"):
        person = studies.annotator(who.study)
        put = {f"step-{place}": step for place, step in enumerate(steps, 1)}
        text_items.send(person, text_items.hold(person, task.stage), **put)
    page = re.sub("</?mark>", "", client.get(reverse("study-disagreements", args=[who.study_id])).text)
    assert all(html.escape(one.text) in page for one in task.item.captions.all())


def test_a_flag_is_read_with_the_words_that_an_earlier_stage_gave(client, manager):
    plans = [StagePlan(text_items.PARAPHRASE, "one"), StagePlan(text_items.TRIPLET, "two", source="one", apart_from=[])]
    here = text_items.study(*plans).stages.select_related("study").get(position=1)
    text_items.picks(here)
    second = Stage.objects.select_related("study").get(position=2)
    person = studies.annotator(second.study)
    seats.sit(annotator=person, stage=second)
    studies.read(person, second)
    lease = text_items.hold(person, second)
    submissions.flag(annotator=person, token=lease.token, reason="Odd")
    task = Task.objects.get(stage=second)
    assert text_items.TEXTS["candidate"][0] in client.get(url(second, task=task.pk)).text
    assert "Odd" in client.get(f"{reverse('study-stage', args=[second.study_id, 2])}").text


def test_checks_are_not_offered_and_the_page_says_why(client, manager, stage):
    there = reverse("study-checks", args=[stage.study_id, 1])
    page = client.get(there).text
    assert NO_CHECKS in page and "Pick checks" not in page and 'name="check_rate"' not in page
    pick = reverse("study-checks-pick", args=[stage.study_id, 1])
    assert client.get(pick).url == there
    given = {"item": stage.study.benchmark.items.first().pk, "answer": "reject"}
    assert client.post(pick, given).status_code == 422
    with pytest.raises(CannotSet, match="more than that"):
        setup.revise(stage=stage, by="test", check_rate=0.1)
    assert not Task.objects.exclude(kind="judge").exists()


def test_setting_up_says_so_too(client, manager, stage):
    page = client.get(reverse("study-new") + "?protocol=visla-paraphrase").text
    assert NO_CHECKS in page and 'name="visla-paraphrase-check_rate"' not in page
    with pytest.raises(CannotCreate, match="more than that"):
        text_items.study(StagePlan(text_items.RANK, settings={"check_rate": 0.1}))
    with pytest.raises(CannotCreate, match="a second one confirms edits"):
        text_items.study(StagePlan(text_items.PARAPHRASE, settings={"overlap": 2}))
    assert Study.objects.count() == 1


def test_the_rules_have_the_keys_of_the_screen(client, stage):
    person = studies.annotator(stage.study)
    page = client.get(f"{reverse('judge', args=[person.token])}?rules").text
    assert "<dt><kbd>E</kbd></dt>" in page and "<dt><kbd>R</kbd></dt>" in page


def test_what_was_sent_twice_is_the_same_decision(client, manager, stage):
    page = client.get(url(stage)).text
    sent = {**fields(page), "do": "decide", "verdict": value_of(page, FIRST), "note": "So."}
    assert [client.post(url(stage), sent).status_code for _ in range(2)] == [302, 302]
