"""What managers paste is read as they meant it, or refused by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.checks.parsing import Known, Unreadable, keys_in, read_known, read_questions, write_questions

KEYS = {"item-1", "item-2", "a key 3", "a key"}


@pytest.mark.parametrize(
    ("text", "key", "known"),
    [
        ("item-1 none", "item-1", Known(("none",))),
        ("item-1 candidate-0|candidate-2", "item-1", Known(("candidate-0", "candidate-2"))),
        ("item-1", "item-1", Known()),
        ("item-1 none # No picture has a plate.", "item-1", Known(("none",), "No picture has a plate.")),
        ("a key 3", "a key 3", Known()),
        ("a key 3 none", "a key 3", Known(("none",))),
        ("a key none", "a key", Known(("none",))),
        ("item-1\tnone\tNo picture.", "item-1", Known(("none",), "No picture.")),
        ("a key 3\t\t", "a key 3", Known()),
    ],
)
def test_a_line(text, key, known):
    assert key in keys_in(text)
    assert read_known(f"\n  {text}\r\n", KEYS) == {key: known}


def test_every_wrong_line_is_named():
    with pytest.raises(Unreadable) as error:
        read_known("item-1 none\nitem-9 none\n\nitem-1\n", KEYS)
    assert error.value.reasons == [
        "Line 2: the benchmark has no item item-9.",
        "Line 4: item item-1 is already on line 1.",
    ]
    assert list(error.value.read) == ["item-1"]


TEXT = """\
What counts?
- how good it looks
* what it shows

And if no picture fits?
* None of them
- any
- Skip"""


def test_questions_are_read_and_written_back():
    questions = read_questions(TEXT)
    assert questions == [
        {"question": "What counts?", "options": ["how good it looks", "what it shows"], "answer": 1},
        {"question": "And if no picture fits?", "options": ["None of them", "any", "Skip"], "answer": 0},
    ]
    assert write_questions(questions) == TEXT
    assert read_questions(TEXT.replace("\n", "\r\n")) == questions
    assert read_questions("") == []


words = (
    st.text("abcdefghij ÄÖ?*-#", min_size=1, max_size=20)
    .map(str.strip)
    .filter(lambda t: t and t[:2] not in {"- ", "* "})
)


@given(st.lists(st.tuples(words, st.lists(words, min_size=2, max_size=9, unique=True), st.integers(0, 8)), max_size=4))
def test_whatever_can_be_asked_comes_back_as_it_was(drawn):
    questions = [{"question": q, "options": o, "answer": a % len(o)} for q, o, a in drawn]
    assert read_questions(write_questions(questions)) == questions


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Q?\n- a\n- b", "Question 1: 0 options are marked correct"),
        ("Q?\n* a\n* b", "Question 1: 2 options are marked correct"),
        ("Q?\n* a", "Question 1: it has 1 options"),
        ("- a\n* b", "Question 1: the first line must be the question"),
        ("Q?\n- a\nmore\n* b", "Question 1: put the options after the question"),
        ("Q?\n- a\n* a", "Question 1: two options are the same"),
        (TEXT + "\n\nLast?", "Question 3: it has 0 options"),
    ],
)
def test_what_cannot_be_asked_is_named(text, reason):
    with pytest.raises(Unreadable, match=reason):
        read_questions(text)
