"""The questions that managers type are read as they meant them, or refused by number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.checks.parsing import Unreadable, read_questions, write_questions

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
