"""VISLA §3.3, by literals; and that an answer comes back as the fields that it was made of."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.base import Answer, InvalidAnswer, TaskSpec, UnsuitableItem
from annotation.protocols.visla_triplet import GUIDELINES, PROTOCOL
from tests.annotation.protocols.items import item
from tests.annotation.protocols.phrases import in_english

FORM = PROTOCOL.form
TEXTS = {
    "caption-positive-0": "The cat is in the sink.",
    "caption-second_positive-0": "The sink holds the cat.",
    "caption-negative-0": "The cat is outside the sink. ",
    "caption-candidate-0": "The cat is beside the sink.",
    "caption-candidate-1": "The cat is under the sink. ",
    "caption-candidate-2": "The cat is outside the sink.",
}
SHOWN = [f"caption-candidate-{number}" for number in (1, 0, 2)]
CODES = [one.code for one in GUIDELINES]
ALL = dict.fromkeys(CODES, "holds")
THREE = ("positive", "second_positive", "negative")

typed = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [*TEXTS.values(), "x" * 1001, "The cat is  gone.", "", "\0"]
)
fields = st.fixed_dictionaries(
    {},
    optional={
        **{code: st.sampled_from(["holds", "holds", "broken", "maybe"]) for code in CODES},
        "first": typed,
        "second": typed,
        "third": typed,
        "use": st.sampled_from(["", "0", "1", "2", "3", "4", "x", "²"]),
        "drop": st.sampled_from(["", "1"]),
    },
)


def read(**sent) -> Answer:
    return FORM.parse({**ALL, **sent}, SHOWN, TEXTS)


def test_it_shows_the_image_and_three_sentences_and_candidates_for_the_third():
    made = item(captions=[*THREE, "candidate", "candidate"], images=["positive"])
    shows = ("positive-0", "caption-positive-0", "caption-second_positive-0", "caption-negative-0")
    assert PROTOCOL.tasks(made, {}) == [TaskSpec(shows, ("caption-candidate-0", "caption-candidate-1"))]


def test_nothing_but_the_three_need_be_there():
    assert PROTOCOL.tasks(item(captions=THREE, images=["positive"]), {})[0].options == ()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (item(images=["positive"]), "item 7 has no second_positive caption"),
        (item(captions=THREE, images=[]), "item 7 has no positive image"),
        (item(captions=[*THREE, *["candidate"] * 10]), "item 7 has 10 candidate captions"),
    ],
)
def test_an_item_that_lacks_something_is_named_with_what_it_lacks(made, words):
    with pytest.raises(UnsuitableItem, match=words):
        PROTOCOL.tasks(made, {})


def test_all_lines_hold_and_nothing_was_changed():
    assert read() == Answer("valid", {"guidelines": dict.fromkeys(CODES, True)})
    assert read(first=" The cat is in the  sink.\n", use="").label == "valid"


def test_what_was_changed_is_kept_by_role():
    answer = read(second="The sink contains the cat. ", third="The cat left the sink.")
    texts = {"second_positive": "The sink contains the cat.", "negative": "The cat left the sink."}
    made_of = {"second_positive": "caption-second_positive-0", "negative": "caption-negative-0"}
    assert answer == Answer("edited", {"guidelines": dict.fromkeys(CODES, True), "texts": texts, "from": made_of})


@pytest.mark.parametrize(
    ("sent", "words", "made_of"),
    [
        ({"use": "1"}, TEXTS[SHOWN[0]], SHOWN[0]),
        ({"use": "1", "third": TEXTS["caption-negative-0"]}, TEXTS[SHOWN[0]], SHOWN[0]),
        ({"third": "The cat is beside the sink. "}, TEXTS[SHOWN[1]], SHOWN[1]),
        ({"use": "2", "third": "The cat is far from the sink."}, "The cat is far from the sink.", SHOWN[1]),
    ],
)
def test_another_sentence_can_stand_in_the_third_ones_place(sent, words, made_of):
    content = read(**sent).content
    assert (content["texts"], content["from"]) == ({"negative": words}, {"negative": made_of})


def test_one_of_the_same_words_changes_nothing():
    assert read(use="3").label == "valid"


def test_what_does_not_hold_is_mended_or_dropped():
    with pytest.raises(InvalidAnswer, match="Correct the sentences"):
        read(same="broken", first="The cat sits in the sink.")
    lines = {code: code != "same" for code in CODES}
    assert read(same="broken", drop="1", first="") == Answer(
        "dropped", {"guidelines": lines, "reason": GUIDELINES[0].words}
    )


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"same": ""}, "every line"),
        ({"drop": "1"}, "Mark what does not hold"),
        ({"second": "\0 "}, "Sentence B is empty"),
        ({"third": "x" * 1001}, "Sentence C is longer than 1,000"),
        ({"third": TEXTS["caption-positive-0"]}, "are identical"),
        ({"second": "The cat is  in the sink."}, "are identical"),
        ({"use": "4"}, "not one of the sentences"),
    ],
)
def test_what_is_no_answer_is_refused_with_a_sentence(sent, says):
    with pytest.raises(InvalidAnswer, match=says):
        read(**sent)


@given(fields)
def test_whatever_is_sent_is_an_answer_that_comes_back_or_none(sent):
    try:
        answer = FORM.parse(sent, SHOWN, TEXTS)
    except InvalidAnswer as lacks:
        assert str(lacks).endswith(".")
        return
    assert FORM.parse(FORM.fill(answer, SHOWN), SHOWN, TEXTS) == answer
    assert answer.label in {"valid", "edited", "dropped"} and FORM.describe(answer)


@given(st.integers(0, 10**6), st.sampled_from([SHOWN, []]))
def test_what_is_made_up_is_an_answer(seed, shown):
    assert FORM.parse(FORM.simulate(Random(seed), shown, TEXTS), shown, TEXTS).label


def test_managers_read_what_was_said():
    assert FORM.describe(read()) == "valid"
    assert FORM.describe(read(third="The cat left.", first="A cat.")) == "edited A to “A cat.”, C to “The cat left.”"
    assert FORM.describe(read(fluent="broken", drop="1")).endswith("All three make sense and read well.")
    assert FORM.describe(Answer("cannot_judge")) == "cannot judge"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({}, "All lines hold."),
        ({"third": "The cat left."}, "All lines hold. C: “The cat left.”"),
        ({"fluent": "broken", "drop": "1"}, "Dropped. What does not hold: All three make sense and read well."),
    ],
)
def test_annotators_read_their_answer_by_the_letters_on_the_screen(sent, words):
    assert in_english(FORM.describe_fields(FORM.fill(read(**sent), SHOWN), [TEXTS[one] for one in SHOWN])) == words


def test_what_is_valid_or_edited_stays_and_needs_nobody_else():
    labels = ("valid", "edited", "dropped", "cannot_judge")
    assert [PROTOCOL.reason(one) for one in labels] == ["", "", "triplet_dropped", "cannot_judge"]
    project = PROTOCOL.projections["kept or dropped"]
    assert [project(one) for one in labels] == ["kept", "kept", "dropped", "cannot_judge"]
    assert not FORM.confirms and FORM.edits == THREE
