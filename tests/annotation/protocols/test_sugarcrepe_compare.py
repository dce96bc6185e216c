"""SugarCrepe App. E.2, by literals; and that every answer comes back as the fields that it was made of."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.base import Answer, InvalidAnswer, TaskSpec, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.protocols.items import item
from tests.annotation.protocols.phrases import in_english

PROTOCOL = PROTOCOLS["sugarcrepe-compare"]
FORM = PROTOCOL.form
OPTIONS = ("caption-negative-0", "caption-negative-1")
TEXTS = dict.fromkeys(OPTIONS, "A dog.")
ANSWERS = ("negative-0", "negative-1", "tie")
LABELS = [f"{sense}/{fluency}" for sense in ANSWERS for fluency in ANSWERS]
PLACES = ("1", "2", "tie")

drawn = st.sampled_from([OPTIONS, OPTIONS[::-1]])
values = st.sampled_from([*PLACES, "", "0", "3", "²", "1 ", "Tie", "negative-0"]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=4
)


def read(sense: str, fluency: str, shown=OPTIONS) -> str:
    return FORM.parse({"sense": sense, "fluency": fluency}, shown, TEXTS).label


def test_it_shows_the_caption_and_both_negatives_are_options():
    made = item(captions=["positive", "negative", "negative"], images=[])
    assert PROTOCOL.tasks(made, {}) == [TaskSpec(("caption-positive-0",), OPTIONS)]


def test_an_image_is_not_shown():
    made = item(captions=["positive", "negative", "negative"], images=["positive"])
    assert PROTOCOL.tasks(made, {})[0].shows == ("caption-positive-0",)


@pytest.mark.parametrize(
    ("captions", "words"),
    [
        (["negative", "negative"], "item 7 has no positive caption"),
        (["positive"], "item 7 has no negative captions; sugarcrepe-compare needs 2"),
        (["positive", "negative"], "item 7 has 1 negative caption;"),
        (["positive", "negative", "negative", "negative"], "item 7 has 3 negative captions"),
    ],
)
def test_an_item_that_cannot_be_compared_is_named_with_why(captions, words):
    with pytest.raises(UnsuitableItem, match=words):
        PROTOCOL.tasks(item(captions=captions), {})


def test_places_are_read_in_the_order_shown():
    assert read("2", "tie") == "negative-1/tie"
    assert read("2", "tie", OPTIONS[::-1]) == "negative-0/tie"
    assert read("tie", "1", OPTIONS[::-1]) == "tie/negative-1"


@given(st.sampled_from(LABELS), drawn)
def test_what_is_read_comes_back_whatever_the_order_drawn(label, shown):
    fields = FORM.fill(Answer(label), shown)
    assert FORM.parse(fields, shown, TEXTS) == Answer(label)
    assert set(fields) == {"sense", "fluency"} and set(fields.values()) <= set(PLACES)


@given(st.sampled_from(PLACES), st.sampled_from(PLACES), drawn)
def test_what_was_filled_in_comes_back(sense, fluency, shown):
    assert FORM.fill(Answer(read(sense, fluency, shown)), shown) == {"sense": sense, "fluency": fluency}


@given(st.dictionaries(st.sampled_from(["sense", "fluency", "answer"]), values), drawn)
def test_both_questions_must_be_answered(given, shown):
    lacking = [question for question in ("sense", "fluency") if given.get(question) not in PLACES]
    if not lacking:
        assert FORM.parse(given, shown, TEXTS).label in LABELS
        return
    asked = {"sense": "Which makes more sense", "fluency": "Which is more fluent"}[lacking[0]]
    with pytest.raises(InvalidAnswer, match=f"{asked}|not one of the answers on this screen"):
        FORM.parse(given, shown, TEXTS)


def test_each_question_has_a_projection():
    sense, fluency = PROTOCOL.projections["sense"], PROTOCOL.projections["fluency"]
    assert [(sense(one), fluency(one)) for one in ("negative-1/tie", "cannot_judge")] == [
        ("negative-1", "tie"),
        ("cannot_judge", "cannot_judge"),
    ]


def test_answers_are_measured_and_drop_nothing():
    assert PROTOCOL.measures and {PROTOCOL.reason(one) for one in (*LABELS, "cannot_judge")} == {""}
    assert max(map(len, LABELS)) <= 40


@given(st.integers(0, 10**6), drawn)
def test_what_is_made_up_is_an_answer_that_does_not_hang_on_the_order_drawn(seed, shown):
    labels = {FORM.parse(FORM.simulate(Random(seed), one, TEXTS), one, TEXTS).label for one in (shown, shown[::-1])}
    assert len(labels) == 1 and labels <= set(LABELS)


def test_managers_read_what_was_said():
    assert FORM.describe(Answer("negative-1/tie")) == "sense: negative 2; fluency: Tie"
    assert FORM.describe(Answer("cannot_judge")) == "cannot judge"


def test_annotators_read_their_answer_by_the_sentences_they_saw():
    said = FORM.describe_fields({"sense": "2", "fluency": "tie"}, ["A horse rides.", "A man rides."], OPTIONS)
    assert in_english(said) == "Which makes more sense? “A man rides.” Which is more fluent? Tie"
