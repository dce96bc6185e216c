"""Adjudication under protocol files: what an adjudicator's answer decides, and what the pages say of it."""

import re
import uuid
from random import Random

import pytest
from django.urls import reverse

from annotation.adjudication import cases, decisions
from annotation.models import Judgment, Outcome, Task
from annotation.pipeline import outcomes
from annotation.pipeline.item_results import results
from annotation.protocols.base import Answer
from annotation.protocols.registry import protocol_named
from annotation.screens.trial import lease_of
from tests.builders import declared, studies, text_annotators

pytestmark = pytest.mark.django_db
FIELDS = {"holds-sharp": "yes", "holds-whole": "no"}


@pytest.fixture
def mixed() -> Task:
    """Three answers to the first item of MIXED: the caption, the foil with a reason, and neither of them."""
    stage = declared.texts_and_edits(items=1).stages.get(position=1)
    said = (("positive", "4", ""), ("negative", "1", "There are more plates."), ("neither", "", ""))
    for number, (fit, how, why) in enumerate(said):

        def fields(lease, texts, fit=fit, how=how, why=why, number=number):
            place = next((str(n) for n, one in enumerate(lease.shown, 1) if fit in one), fit)
            return {**FIELDS, "fit": place, "how": how, "why": why, "better": f"Words number {number}."}

        text_annotators.in_order(studies.annotator(stage.study), stage, [0], fields)
    return Task.objects.select_related("stage__study").get(stage=stage, item__position=0)


def decide(task: Task, said: Answer) -> Outcome:
    given = {"by": "user:7", "seen": decisions.seen(task), "note": "I looked."}
    return decisions.decide(task=task, answer=said.label, content=said.content, **given)


@pytest.mark.parametrize(
    ("begins", "state", "reason", "carried"),
    [
        ("positive/4", "kept", "", "Words number 0."),
        ("negative/1", "dropped", "foil_fits", None),
        ("neither/", "dropped", "neither_fits", None),
    ],
)
def test_an_annotators_answer_decides_as_if_all_had_given_it(mixed, begins, state, reason, carried):
    assert Outcome.objects.get().reason == "unclear"
    given = Judgment.objects.get(answer__startswith=begins)
    made = decide(mixed, Answer(given.answer, given.content))
    assert (made.state, made.reason, made.outcome, made.by) == (state, reason, given.answer, "adjudicator")
    found = results(mixed.stage).get(mixed.item_id)
    assert found.carried.get("caption-second_positive") == carried


def test_no_other_answer_can_be_given(mixed):
    with pytest.raises(decisions.Unfit):
        decide(mixed, Answer("positive/5/yes,yes//edited"))


def test_the_case_has_the_answers_in_words_with_what_each_decides(client, manager, mixed):
    case = cases.case(mixed, mixed.stage)
    assert {one.decides for one in case.options} == {"kept", "dropped: hard negative fits", "dropped: neither fits"}
    assert [one.value for one in case.fixed] == ["cannot_judge"]
    page = client.get(reverse("study-adjudicate", args=[mixed.stage.study_id]) + f"?stage=1&task={mixed.pk}")
    text = page.content.decode()
    assert "fit: hard negative; how: 1; holds: sharp yes, whole no; why: “There are more plates.”" in text
    assert "fit: Neither; holds" in text and "dropped: hard negative fits" in text
    wanted = next(one for one in case.options if one.decides == "kept")
    sent = {"task": mixed.pk, "seen": case.seen, "do": "decide", "note": "It fits.", "verdict": wanted.value}
    client.post(page.request["PATH_INFO"] + "?stage=1", sent)
    assert Outcome.objects.get(task=mixed).state == "kept"
    item = client.get(reverse("study-item", args=[mixed.stage.study_id, 0])).content.decode()
    assert "kept (fit: caption; how: 4; holds: sharp yes, whole no; better: edited)" in item
    assert "why: “There are more plates.”" in item
    rows = client.get(reverse("study-disagreements", args=[mixed.stage.study_id]) + "?stage=1&case=all")
    assert "better: “Words number 1.”" in rows.content.decode()


@pytest.mark.parametrize(
    ("identity", "state", "reason"),
    [
        ("caption-positive-0", "kept", ""),
        ("caption-negative-0", "dropped", "foil_fits"),
        ("both", "dropped", "both_fit"),
        ("cannot_judge", "dropped", "cannot_judge"),
    ],
)
def test_of_a_single_pick_any_option_can_be_given(identity, state, reason):
    study = declared.study("image-caption-foil")
    task = Task.objects.select_related("stage__study").filter(stage__study=study).first()
    made = decide(task, Answer(identity))
    assert (made.state, made.reason, made.outcome) == (state, reason, identity)


@pytest.mark.parametrize("name", declared.SAMPLED)
def test_every_protocol_of_the_library_can_be_adjudicated(client, manager, name):
    """The pages of a task that one annotator has judged, and the decision by their answer."""
    study = declared.study(name, 1)
    stage = study.stages.get()
    who = studies.annotator(study)
    lease = text_annotators.screen(who, stage)
    text_annotators.answer(lease, text_annotators.of_protocol(lease, protocol_named(stage.protocol), Random(1)))
    url = reverse("study-adjudicate", args=[study.pk]) + f"?stage=1&task={lease.task_id}"
    assert client.get(url).status_code == 200
    task = Task.objects.get(pk=lease.task_id)
    given = Judgment.objects.get()
    made = decide(task, Answer(given.answer, given.content))
    assert made.state in ("kept", "dropped") and bool(made.reason) == (made.state == "dropped")
    for page in (url, reverse("study-item", args=[study.pk, 0])):
        assert client.get(page).status_code == 200
    reasons = {why for rule in protocol_named(stage.protocol).file.decide for why in getattr(rule, "drop", {}).values()}
    listed = client.get(reverse("study-items", args=[study.pk])).content.decode() if reasons else ""
    assert all(f'value="{why}"' in listed for why in reasons)


ASKED = {
    "winnow": "protocol/1", "name": "many-kinds", "title": "Many kinds", "ask": "What is there?",
    "instructions": "Look.",
    "item": {"images": {"picture": 1, "option": 4}}, "screen": [{"picture": "picture"}],
    "answers": [
        {"name": "which", "ask": "Which go with it?", "kind": "pick", "of": "images.option", "many": "1..3"},
        {"name": "where", "ask": "Where is it?", "kind": "points", "of": "picture", "most": 2},
        {"name": "part", "ask": "Which part?", "kind": "boxes", "of": "picture", "least": 0, "most": 1},
        {"name": "count", "ask": "How many?", "kind": "number", "most": 20, "decimals": 1},
        {"name": "second", "ask": "And the second?", "kind": "number", "most": 9, "when": {"item": {"level": ["2"]}}},
    ],
    "judgments": 2, "decide": [{"answer": "count", "rule": "majority", "tie": "adjudicate"}],
}  # fmt: skip
SENT = {"which-1": "1", "which-3": "1", "where": "1200:3400", "part": "none", "count-number": "4.5"}


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        (SENT, ""),
        ({**SENT, "which-2": "1", "which-4": "1"}, "Choose at most 3. You have chosen 4."),
        ({**SENT, "where": "1200:34000"}, "outside the picture"),
        ({**SENT, "count-number": "21"}, "Write a number from 0 to 20 in steps of 0.1."),
    ],
)
def test_an_adjudicator_answers_as_an_annotator_would(client, manager, sent, refused):
    """A set, marks and numbers that nobody gave; nothing is decided before the page of adjudication says so."""
    stage = declared.judge(declared.of_file(ASKED, 1), 2, lambda task, who: f"option-{who}/1:1/none/{3 + who}/")
    task = stage.tasks.get()
    outcomes.settle(task, stage)
    address = reverse("study-adjudicate", args=[stage.study_id]) + f"?stage=1&task={task.pk}"
    page = client.get(address)
    home = reverse("study-adjudicate-own", args=[stage.study_id, 1, task.pk])
    assert f'action="{home}?stage=1&amp;task={task.pk}"' in page.text and "own_answer" not in page.text
    assert ">option 1<" in page.text and "which: option 1;" in page.text  # by the same name
    asked = client.post(f"{home}?stage=1&task={task.pk}", follow=True).text
    assert 'name="which-4"' in asked and 'name="second-number"' not in asked
    lease = re.search(r'name="lease" value="([^"]+)"', asked)[1]
    given = client.post(f"{home}submit/", {"lease": lease, "key": uuid.uuid4(), **sent})
    assert (refused in given.text, given.status_code) == (True, 422) if refused else given.status_code == 302
    said = {"task": task.pk, "seen": decisions.seen(task), "note": "I looked.", "do": "decide", "verdict": "own_answer"}
    if refused:
        assert client.post(address, said).status_code == 422 and not Outcome.objects.exists()
        return
    back = client.get(home)
    assert back.url == address and not Outcome.objects.exists()
    shown = client.get(back.url).text
    shuffled = lease_of(task, task.pk).shown
    label = ",".join(sorted((shuffled[0], shuffled[2]))) + "/1200:3400/none/4.5/"
    assert re.search(r'value="own_answer"[^>]*checked', shown) and "count: 4.5" in shown
    client.post(f"{home}?stage=1&task={task.pk}")
    assert 'value="4.5"' in client.get(home).text  # asked again, with the answer
    client.post(address, said)
    assert Outcome.objects.get().outcome == label
    assert "own_answer" not in client.get(address).text
