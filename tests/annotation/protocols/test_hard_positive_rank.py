"""Hard Positive §4.1, human performance, by literals; and that every order comes back as the steps it was made of."""

from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.measures.papers.rank import is_right, ranks
from annotation.protocols.base import Answer, InvalidAnswer, TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.protocols.items import item
from tests.annotation.protocols.phrases import in_english

PROTOCOL = PROTOCOLS["hard-positive-rank"]
FORM = PROTOCOL.form
ROLES = ("positive", "second_positive", "negative")
OPTIONS = tuple(f"caption-{role}-0" for role in ROLES)
TEXTS = dict.fromkeys(OPTIONS, "A dog.")
RIGHT = {"positive=second_positive>negative", "positive>second_positive>negative", "second_positive>positive>negative"}
WRONG = {
    "positive=second_positive=negative",
    "positive=negative>second_positive",
    "second_positive=negative>positive",
    "positive>second_positive=negative",
    "second_positive>positive=negative",
    "negative>positive=second_positive",
    "positive>negative>second_positive",
    "second_positive>negative>positive",
    "negative>positive>second_positive",
    "negative>second_positive>positive",
}

orders = st.sampled_from(sorted(RIGHT | WRONG))
drawn = st.sampled_from(list(permutations(OPTIONS)))
steps = st.sampled_from(["1", "2", "3"])
values = (
    steps
    | st.sampled_from(["", "0", "4", "²", "1 ", "best", "01"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
)


def sent(*steps: str) -> dict[str, str]:
    return {f"step-{place}": step for place, step in enumerate(steps, 1)}


def test_it_shows_the_image_and_all_three_captions_are_options():
    assert PROTOCOL.tasks(item(captions=ROLES, images=["positive"]), {}) == [TaskSpec(("positive-0",), OPTIONS)]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (item(captions=["positive", "negative"]), "item 7 has no second positive caption"),
        (item(captions=["positive", "second_positive"]), "item 7 has no negative caption"),
        (item(captions=["second_positive", "negative"]), "item 7 has no positive caption"),
        (item(captions=ROLES, images=["negative"]), "item 7 has no positive image"),
    ],
)
def test_an_item_that_lacks_something_is_named_with_what_it_lacks(made, words):
    with pytest.raises(UnsuitableItem, match=words):
        PROTOCOL.tasks(made, {})


def test_a_second_positive_that_an_earlier_stage_wrote_is_enough():
    made = item(captions=["positive", "negative"])
    assert PROTOCOL.tasks_for(made, {"caption-second_positive": "A hound."})[0].options == OPTIONS


def test_places_are_read_in_the_order_shown():
    shown = (OPTIONS[2], OPTIONS[0], OPTIONS[1])
    assert FORM.parse(sent("3", "1", "1"), shown, TEXTS) == Answer("positive=second_positive>negative")
    assert FORM.parse(sent("1", "2", "3"), shown, TEXTS).label == "negative>positive>second_positive"


def test_the_27_ways_to_fill_three_steps_are_13_orders():
    found = {FORM.parse(sent(*given), OPTIONS, TEXTS).label for given in product("123", repeat=3)}
    assert found == RIGHT | WRONG and len(found) == 13
    assert max(map(len, found)) <= 40  # of a label


@pytest.mark.parametrize("given", [("1", "1", "3"), ("2", "2", "3"), ("1", "1", "2")])
def test_an_empty_step_changes_nothing(given):
    answer = FORM.parse(sent(*given), OPTIONS, TEXTS)
    assert answer.label == "positive=second_positive>negative"
    assert FORM.fill(answer, OPTIONS) == sent("1", "1", "2")


@given(orders, drawn)
def test_what_is_read_comes_back_whatever_the_order_drawn(label, shown):
    fields = FORM.fill(Answer(label), shown)
    assert FORM.parse(fields, shown, TEXTS) == Answer(label)
    assert FORM.fill(FORM.parse(fields, shown, TEXTS), shown) == fields


@given(st.tuples(steps, steps, steps), drawn)
def test_any_three_steps_are_an_answer_with_the_same_order(given, shown):
    rank = ranks(FORM.parse(sent(*given), shown, TEXTS).label)
    placed = {identity.split("-")[1]: int(step) for identity, step in zip(shown, given, strict=True)}
    pairs = [(one, other) for one in ROLES for other in ROLES]
    assert all((rank[one] < rank[other]) == (placed[one] < placed[other]) for one, other in pairs)
    assert set(rank.values()) == set(range(1, len(set(given)) + 1))


@given(st.dictionaries(st.sampled_from(["step-1", "step-2", "step-3", "step-4", "answer"]), values), drawn)
def test_anything_else_is_no_answer(given, shown):
    lacking = [place for place in (1, 2, 3) if given.get(f"step-{place}") not in {"1", "2", "3"}]
    if not lacking:
        assert FORM.parse(given, shown, TEXTS).label in RIGHT | WRONG
        return
    with pytest.raises(InvalidAnswer):
        FORM.parse(given, shown, TEXTS)


def test_those_that_tie_have_the_same_rank():
    assert ranks("positive=second_positive>negative") == {"positive": 1, "second_positive": 1, "negative": 2}
    assert ranks("negative>positive=second_positive") == {"positive": 2, "second_positive": 2, "negative": 1}
    assert set(ranks("positive=second_positive=negative").values()) == {1}


@pytest.mark.parametrize("label", ["cannot_judge", "", "positive>negative", "positive>second_positive>other"])
def test_what_is_no_order_has_no_ranks_and_is_not_right(label):
    assert ranks(label) == {} and not is_right(label)


def test_it_is_right_when_both_positives_stand_above_the_negative():
    assert {label for label in RIGHT | WRONG if is_right(label)} == RIGHT


def test_agreement_is_also_computed_on_right_and_wrong():
    project = PROTOCOL.projections["both above the negative"]
    assert {project(label) for label in RIGHT} == {"right"} and {project(label) for label in WRONG} == {"wrong"}
    assert project("cannot_judge") == "cannot_judge"


def test_answers_are_measured_and_drop_nothing():
    assert PROTOCOL.measures and {PROTOCOL.reason(one) for one in (*RIGHT, *WRONG, "cannot_judge")} == {""}
    assert {"visla-paraphrase", "visla-triplet"} <= PROTOCOL.leaks


@given(st.integers(0, 10**6), drawn)
def test_what_is_made_up_is_an_answer(seed, shown):
    assert FORM.parse(FORM.simulate(Random(seed), shown, TEXTS), shown, TEXTS).label in RIGHT | WRONG


def test_simulated_annotators_are_mostly_right_and_tie_often():
    rng = Random(1)
    labels = [FORM.parse(FORM.simulate(rng, OPTIONS, TEXTS), OPTIONS, TEXTS).label for _ in range(2000)]
    assert 0.85 < sum(map(is_right, labels)) / 2000 < 0.95
    assert 0.25 < labels.count("positive=second_positive>negative") / 2000 < 0.4


def test_managers_read_what_was_said():
    assert FORM.describe(Answer("positive=second_positive>negative")) == "positive and second positive, then negative"
    assert FORM.describe(Answer("cannot_judge")) == "cannot judge"


def test_annotators_read_their_answer_by_the_sentences_they_saw():
    options = ["A dog.", "A hound.", "A cat."]
    assert (
        in_english(FORM.describe_fields(sent("1", "2", "1"), options, OPTIONS))
        == "Your order: “A dog.” = “A cat.” > “A hound.”"
    )
