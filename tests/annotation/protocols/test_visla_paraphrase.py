"""VISLA §3.2, by literals; and that an answer comes back as the fields that it was made of."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.protocols.base import Answer, InvalidAnswer, TaskSpec, UnsuitableItem
from annotation.protocols.decision_rule import EDITED, KEPT, OPEN, confirm
from annotation.protocols.visla_paraphrase import PROTOCOL
from tests.annotation.protocols.items import item
from tests.annotation.protocols.phrases import in_english

FORM = PROTOCOL.form
TEXTS = {
    "caption-positive-0": "A cat is in the basket.",
    "caption-negative-0": "A cat is beside the basket.",
    "caption-second_positive-0": "The basket holds a cat. ",
    "caption-candidate-0": "In the basket there is a cat.",
    "edit-17": "Inside the basket is a cat.",
}
SHOWN = ["caption-candidate-0", "edit-17", "caption-second_positive-0"]
THREE = ("positive", "negative", "second_positive")

typed = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    [*TEXTS.values(), "x" * 1001, " A  cat is in the basket.\n", "\0"]
)
fields = st.fixed_dictionaries(
    {},
    optional={
        "answer": st.sampled_from(["1", "2", "3", "reject", "", "0", "4", "²", "edit-17"]) | typed,
        "edit": st.sampled_from(["", "1", "on"]),
        "words": typed,
        "why": typed,
        "reason": typed,
        "same": st.sampled_from(["holds", "broken", "maybe"]),
        "neutral": st.sampled_from(["holds", "broken", ""]),
    },
)


def read(**sent) -> Answer:
    return FORM.parse(sent, SHOWN, TEXTS)


def edited(words: str) -> Answer:
    return read(answer="1", edit="1", words=words)


def test_it_shows_caption_and_negative_and_asks_of_all_others():
    made = item(captions=["candidate", *THREE, "candidate"], images=["positive"])
    options = ("caption-second_positive-0", "caption-candidate-0", "caption-candidate-1")
    assert PROTOCOL.tasks(made, {}) == [TaskSpec(("caption-positive-0", "caption-negative-0", "positive-0"), options)]


def test_an_image_need_not_be_there():
    assert PROTOCOL.tasks(item(captions=THREE, images=[]), {})[0].shows == ("caption-positive-0", "caption-negative-0")


@pytest.mark.parametrize(
    ("captions", "words"),
    [
        (["positive", "second_positive"], "item 7 has no negative caption"),
        (["positive", "negative"], "item 7 has 0 sentences"),
        ([*THREE, *["candidate"] * 9], "item 7 has 10 sentences"),
    ],
)
def test_an_item_that_lacks_something_is_named_with_what_it_lacks(captions, words):
    with pytest.raises(UnsuitableItem, match=words):
        PROTOCOL.tasks(item(captions=captions), {})


def test_a_sentence_that_is_picked_stands_as_it_is():
    texts = {"texts": {"second_positive": TEXTS[SHOWN[2]]}, "from": {"second_positive": SHOWN[2]}}
    assert read(answer="3", words="left over") == Answer(SHOWN[2], texts)


def test_an_edit_says_what_it_was_made_of():
    assert edited(" A cat lies\tin the basket. ") == Answer(
        "edited", {"texts": {"second_positive": "A cat lies in the basket."}, "from": {"second_positive": SHOWN[0]}}
    )


@pytest.mark.parametrize("option", SHOWN)
def test_an_edit_that_comes_to_an_option_is_a_pick_of_it(option):
    assert edited(TEXTS[option]) == Answer(
        option, {"texts": {"second_positive": TEXTS[option]}, "from": {"second_positive": option}}
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "is empty"),
        (" \n\0", "is empty"),
        ("x" * 1001, "longer than 1,000"),
        ("A cat is in  the basket.", "the same as the sentence at the top"),
        ("A cat is beside the basket.", "the same as the sentence that it must not mean"),
    ],
)
def test_what_is_no_edit_is_refused_with_a_sentence(words, says):
    with pytest.raises(InvalidAnswer, match=says):
        edited(words)


def test_a_thousand_characters_are_not_too_many():
    assert edited("x" * 1000).label == EDITED


def test_who_rejects_says_why():
    with pytest.raises(InvalidAnswer, match="Tick every problem"):
        read(answer="reject", same="holds", why=" ")
    ticked = read(answer="reject", same="broken", neutral="broken")
    assert ticked == Answer("reject", {"guidelines": {"same": False, "neutral": False}, "reason": ""})
    assert read(answer="reject", why=" Odd. ") == Answer("reject", {"guidelines": {}, "reason": "Odd."})


@pytest.mark.parametrize("answer", ["", "0", "4", "-1", "²", "caption-candidate-0", "edit-17"])
def test_what_is_not_on_the_screen_is_refused(answer):
    with pytest.raises(InvalidAnswer):
        read(answer=answer)


@given(fields)
def test_whatever_is_sent_is_an_answer_that_comes_back_or_none(sent):
    try:
        answer = FORM.parse(sent, SHOWN, TEXTS)
    except InvalidAnswer as lacks:
        assert str(lacks).endswith(".")
        return
    assert FORM.parse(FORM.fill(answer, SHOWN), SHOWN, TEXTS) == answer
    assert len(answer.label) <= 40 and FORM.describe(answer)


@given(st.integers(0, 10**6))
def test_what_is_made_up_is_an_answer(seed):
    assert FORM.parse(FORM.simulate(Random(seed), SHOWN, TEXTS), SHOWN, TEXTS).label


def test_managers_read_what_was_said():
    assert FORM.describe(edited("A cat lies there.")) == "edited to “A cat lies there.”"
    assert FORM.describe(read(answer="2")) == "picked “Inside the basket is a cat.”"
    assert FORM.describe(read(answer="reject", fluent="broken", why="Odd.")).endswith("or read badly. · Odd.")
    assert FORM.describe(read(answer="reject", why="Odd.")) == "rejected: Odd."
    assert FORM.describe(Answer("cannot_judge")) == "cannot judge"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"answer": "2"}, "Sentence 2: “Inside the basket is a cat.”"),
        ({"answer": "2", "edit": "1", "words": "A cat lies there."}, "Sentence 2, edited: “A cat lies there.”"),
        (
            {"answer": "reject", "fluent": "broken", "why": "Odd."},
            "All rejected. They make no sense or read badly. Odd.",
        ),
        ({"answer": "reject", "why": "Odd."}, "All rejected. Odd."),
    ],
)
def test_annotators_read_their_answer_by_its_place(sent, words):
    assert in_english(FORM.describe_fields(FORM.fill(read(**sent), SHOWN), [TEXTS[one] for one in SHOWN])) == words


def test_only_a_rejection_drops_and_an_edit_waits():
    assert [PROTOCOL.reason(one) for one in ("reject", "cannot_judge", "edited", *SHOWN)] == [
        "rejected", "cannot_judge", "", "", "", "",
    ]  # fmt: skip
    assert FORM.confirms and FORM.edits == ("second_positive",)
    confirmed = [edited("Inside the basket is a cat. "), read(answer="2")]
    assert confirm(confirmed, cap=3, reason=PROTOCOL.reason).state == KEPT
    assert confirm([edited("New.")], cap=3, reason=PROTOCOL.reason).state == OPEN


def test_agreement_is_looked_at_on_kept_or_rejected():
    project = PROTOCOL.projections["kept or rejected"]
    assert [project(one) for one in (SHOWN[0], "edit-17", "edited", "reject", "cannot_judge")] == [
        "kept", "kept", "kept", "reject", "cannot_judge",
    ]  # fmt: skip
