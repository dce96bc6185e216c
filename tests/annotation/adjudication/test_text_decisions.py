"""Adjudication where an answer is more than a pick: an answer is adopted, or the adjudicator writes what stands."""

import pytest

from annotation.adjudication import cases, decisions
from annotation.designs.plan import StagePlan
from annotation.models import Outcome, Stage, Task
from annotation.protocols.base import Answer
from tests.builders import studies, text_items

pytestmark = pytest.mark.django_db
FIRST, SECOND, THIRD = "A cat is lying on a mat.", "There is a cat on a mat.", "A mat has a cat on it."


def decide(task: Task, said: Answer, **more) -> Outcome:
    given = {"by": "user:7", "seen": decisions.seen(task), "note": "I read them.", **more}
    return decisions.decide(task=task, answer=said.label, content=said.content, **given)


@pytest.fixture
def three() -> Task:
    """Three different edits: the stage's cap."""
    here = text_items.stage()
    for words in (FIRST, SECOND, THIRD):
        text_items.edits(here, words)
    return Task.objects.select_related("stage__study").get()


def test_what_waits_for_a_confirmation_waits_for_no_adjudicator():
    here = text_items.stage()
    text_items.edits(here, FIRST)
    assert cases.queue(here) == []
    text_items.edits(here, SECOND)
    assert cases.queue(here) == []
    text_items.edits(here, THIRD)
    assert cases.queue(here) == [(Task.objects.get().pk, "awaiting")]


def test_an_edit_and_its_confirmation_are_no_disagreement():
    here = text_items.stage()
    made = text_items.edits(here, FIRST)
    text_items.picks(here, f"edit-{made.pk}")
    assert Outcome.objects.get().content["texts"] == {"second_positive": FIRST}
    assert cases.queue(here) == []


def test_every_answer_is_there_in_words_with_its_count_and_no_name(three):
    case = cases.case(three, three.stage)
    assert sorted(answer.label for answer in case.options) == sorted(f"edited to “{w}”" for w in (FIRST, SECOND, THIRD))
    assert [(len(answer.who), answer.keys) for answer in case.options] == [(1, "1"), (1, "2"), (1, "3")]
    assert [(answer.value, answer.keys) for answer in case.fixed] == [("reject", "r"), ("cannot_judge", "c")]
    assert [part.text for part in case.shown if part.text] == [
        text_items.TEXTS["positive"][0],
        text_items.TEXTS["negative"][0],
    ]


def test_an_answer_that_was_given_is_adopted_with_its_content(three):
    wanted = next(one for one in cases.case(three, three.stage).options if SECOND in one.label)
    said = cases.answer_from_form(three, three.stage, {"verdict": wanted.value})
    found = decide(three, said)
    assert (found.state, found.outcome, found.by) == ("kept", "edited", "adjudicator")
    assert found.content == {"texts": {"second_positive": SECOND}, "from": {"second_positive": "caption-candidate-0"}}


def test_own_words_are_made_of_the_nearest_sentence(three):
    said = decisions.own_words(three, three.stage, {"second_positive": "On a mat a  cat sits."})
    found = decide(three, said)
    assert found.outcome == "edited" and found.content["texts"] == {"second_positive": "On a mat a cat sits."}
    assert found.content["from"] == {"second_positive": "caption-candidate-1"}


def test_own_words_that_are_an_option_are_that_option(three):
    said = decisions.own_words(three, three.stage, {"second_positive": text_items.TEXTS["candidate"][2]})
    assert decide(three, said).outcome == "caption-candidate-2"


def test_own_words_must_pass_what_an_annotators_must(three):
    for words in ("", "  ", text_items.TEXTS["negative"][0], "x" * 1001):
        with pytest.raises(decisions.Unfit, match="Your version"):
            decisions.own_words(three, three.stage, {"second_positive": words})


def test_what_nobody_could_have_answered_is_refused(three):
    for said in (
        Answer("edited"),
        Answer("edited", {"texts": {"second_positive": text_items.TEXTS["negative"][0]}}),
        Answer("edited", {"texts": {"negative": "A dog."}, "from": {"second_positive": "caption-candidate-0"}}),
        Answer("caption-candidate-0", {"texts": {"second_positive": "Other words."}}),
        Answer("caption-candidate-9"),
        Answer("reject", {"texts": {"second_positive": FIRST}}),
        Answer("flagged"),
    ):
        with pytest.raises(decisions.Unfit):
            decide(three, said)
        assert not Outcome.objects.exists(), said


def test_a_fixed_answer_drops_it_with_the_protocol_s_reason(three):
    found = decide(three, cases.answer_from_form(three, three.stage, {"verdict": "reject"}))
    assert (found.state, found.outcome, found.reason, found.content) == ("dropped", "reject", "rejected", {})


def test_whoever_saw_other_words_is_told(three):
    seen = decisions.seen(three)
    first, second = (Answer("reject"), decisions.own_words(three, three.stage, {"second_positive": "A cat lies."}))
    decide(three, first)
    with pytest.raises(decisions.Changed):
        decide(three, second, seen=seen)
    seen = decisions.seen(three)
    decide(three, second)
    third = decisions.own_words(three, three.stage, {"second_positive": "A cat lies down."})
    with pytest.raises(decisions.Changed):
        decide(three, third, seen=seen)


def test_the_same_request_again_is_the_same_decision(three):
    said = decisions.own_words(three, three.stage, {"second_positive": "A cat lies."})
    seen = decisions.seen(three)
    assert decide(three, said, seen=seen) == decide(three, said, seen=seen)


def test_a_settled_item_that_is_sent_back_waits_for_one_judgment_more():
    here = text_items.stage()
    text_items.picks(here)
    task = Task.objects.get()
    decisions.send_back(task=task, by="user:7", seen=decisions.seen(task), note="Look again.")
    assert not Outcome.objects.exists() and task.slots.count() == 2
    text_items.picks(here)
    assert Outcome.objects.get().by == "unanimous"


class TestPromotion:
    """What an adjudicator writes goes on to the stage that asks about the three sentences, and comes back."""

    @pytest.fixture
    def first(self) -> Task:
        plans = [
            StagePlan(text_items.PARAPHRASE, "one"),
            StagePlan(text_items.TRIPLET, "two", source="one", apart_from=[]),
        ]
        here = text_items.study(*plans).stages.select_related("study").get(position=1)
        for words in (FIRST, SECOND, THIRD):
            text_items.edits(here, words)
        return Task.objects.select_related("stage__study").get()

    def carried(self) -> list[dict]:
        return list(Task.objects.filter(stage__position=2, live=True).values_list("carried", flat=True))

    def test_the_words_go_on_and_come_back(self, first):
        decide(first, decisions.own_words(first, first.stage, {"second_positive": "A cat lies."}))
        assert self.carried() == [{"caption-second_positive": "A cat lies."}]
        decide(first, Answer("reject"))
        assert self.carried() == []
        decide(first, decisions.own_words(first, first.stage, {"second_positive": "A cat lies."}))
        assert self.carried() == [{"caption-second_positive": "A cat lies."}]
        decisions.withdraw(task=first, by="user:7", seen=decisions.seen(first))
        assert self.carried() == []

    def test_three_sentences_are_written_with_every_guideline_kept(self, first):
        decide(first, decisions.own_words(first, first.stage, {"second_positive": "A cat lies on a mat."}))
        task = Task.objects.select_related("stage__study").get(stage__position=2, live=True)
        case = cases.case(task, task.stage)
        assert [(one.role, one.text) for one in case.words] == [
            ("positive", text_items.TEXTS["positive"][0]),
            ("second positive", "A cat lies on a mat."),
            ("negative", text_items.TEXTS["negative"][0]),
        ]
        texts = {"positive": "A cat sits on a mat.", "second_positive": "A cat is on a mat.", "negative": "No cat."}
        found = decide(task, decisions.own_words(task, task.stage, texts))
        assert found.outcome == "edited" and all(found.content["guidelines"].values())
        assert found.content["texts"] == {"second_positive": "A cat is on a mat.", "negative": "No cat."}

    def test_what_is_left_as_it_was_is_valid(self, first):
        decide(first, decisions.own_words(first, first.stage, {"second_positive": "A cat lies on a mat."}))
        task = Task.objects.select_related("stage__study").get(stage__position=2, live=True)
        case = cases.case(task, task.stage)
        sent = {"verdict": cases.OWN, **{one.name: one.text for one in case.words}}
        assert decide(task, cases.answer_from_form(task, task.stage, sent)).outcome == "valid"


def level_rankings(tie_rule: str) -> Stage:
    """One item, ranked in two ways."""
    texts = {**text_items.TEXTS, "second_positive": ["A cat rests on a mat."]}
    plan = StagePlan(text_items.RANK, settings={"overlap": 2, "tie_rule": tie_rule})
    here = text_items.stage(plan, texts=texts)
    for steps in ("112", "121"):
        person = studies.annotator(here.study)
        lease = text_items.hold(person, here)
        order = dict(zip(("positive", "second_positive", "negative"), steps, strict=True))
        places = {f"step-{place}": order[one.split("-")[1]] for place, one in enumerate(lease.shown, 1)}
        text_items.send(person, lease, **places)
    return here


def test_level_rankings_are_measured_and_drop_nothing():
    level_rankings("drop")
    assert Outcome.objects.values_list("state", "outcome", "reason", "by").get() == ("kept", "", "", "no_majority")


def test_a_ranking_is_adopted_or_another_given_that_ranks_every_sentence():
    here = level_rankings("adjudicate")
    task = Task.objects.get()
    labels = {answer.label: answer for answer in cases.case(task, here).options}
    assert set(labels) == {"positive and second positive, then negative", "positive and negative, then second positive"}
    said = cases.answer_from_form(task, here, {"verdict": labels["positive and second positive, then negative"].value})
    assert decide(task, said).outcome == "positive=second_positive>negative"
    assert decide(task, Answer("negative>positive>second_positive")).outcome == "negative>positive>second_positive"
    with pytest.raises(decisions.Unfit):
        decide(task, Answer("negative>positive"))
