"""Which key is whose: what looks like a key is that key, and no other answer has it."""

import pytest

from annotation.protocols.declared.keys import given_keys, keys_on_screen
from tests.annotation.protocols.declared.files import changed, problems, read


def given(answer: dict) -> str:
    """`value=keys` of its points and fixed answers."""
    data = changed(("answers", [{"name": "fit", **answer}]), ("decide", []))
    assert problems(data) == []
    return " ".join(f"{one.value}={''.join(one.keys)}" for one in given_keys(read(data))["fit"])


def scale(*points: float, **more) -> dict:
    return {"kind": "scale", "points": list(points), **more}


def pick(*labels: str | dict, of: tuple = ()) -> dict:
    return {"kind": "pick", "of": list(of), "fixed": dict(zip("vwxyz", labels, strict=False))}


OPTIONS = ("captions.positive", "captions.negative")


@pytest.mark.parametrize(
    ("answer", "keys"),
    [
        (scale(0, 0.5, 1), "0=0 0.5=a 1=1"),
        (scale(-2, -1, 0, 1, 2), "-2=a -1=b 0=0 1=1 2=2"),
        (scale(0, 0.25, 0.5, 0.75, 1, not_applicable="Absent"), "0=0 0.25=b 0.5=d 0.75=e 1=1 not_applicable=a"),
        ({"kind": "scale", "points": 10}, " ".join(f"{n}={n}" for n in range(1, 10)) + " 10=a"),
        (scale(1000000, 1000001), "1000000=a 1000001=b"),
        (scale(1, 2, not_applicable="3"), "1=1 2=2 not_applicable=3"),
        (pick("10", "2", "1"), "v=a w=2 x=1"),
        (pick("1 of them", "2 or more"), "v=o w=r"),
        (pick("Blue", "B"), "v=l w=b"),
        (pick("C", "D"), "v=a w=d"),
        (pick("٣", "3 or 4"), "v=3 w=o"),
        (pick({"label": "Yes", "keys": ["y", "1"]}, "0", of=OPTIONS[:0]), "v=y1 w=0"),
        (pick("0", "None", of=OPTIONS), "v=0 w=n"),
    ],
)
def test_what_is_called_by_a_key_has_it_and_everything_else_has_letters(answer, keys):
    assert given(answer) == keys


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (pick("2", "Neither", of=OPTIONS), "v looks like the key 2, which does something else. Label it in words."),
        (pick("2", {"label": "Two", "keys": ["2"]}), "The key 2 of w looks like the answer v. Choose another."),
        (pick("B", {"label": "Blue", "keys": ["b"]}), "The key b of w looks like the answer v. Choose another."),
        (pick({"label": "3", "keys": ["5"]}, "No"), "v is called 3, so 5 cannot be its key. Leave keys out."),
        (pick({"label": "Yes", "keys": ["1"]}, of=OPTIONS), "The key 1 of v does something else on this screen."),
        (scale(1, 2, not_applicable="2"), "not_applicable is called 2, as 2 is. Label it in words."),
    ],
)
def test_a_file_in_which_a_key_would_look_like_another_answer_is_refused(answer, words):
    found = problems(changed(("answers", [{"name": "fit", **answer}]), ("decide", [])))
    assert [(one.code, one.column) for one in found] == [("SAME_KEY", "answers.0")] and words in found[0].advice


@pytest.mark.parametrize(
    ("texts", "fixed", "keys"),
    [
        (["A cup", "", "3 cups"], ["n0"], (["1", "2", "3"], ["n0"])),
        (["3", "1", "2"], ["n0"], (["3", "1", "2"], ["n0"])),
        (["3", "two", "0"], ["n0", "a"], (["3", "b", "0"], ["n", "a"])),
        (["2", "2", "1"], ["2"], (["a", "b", "1"], ["d"])),
    ],
)
def test_options_that_are_digits_have_these_as_their_keys(texts, fixed, keys):
    options, own = keys_on_screen(texts, fixed)
    assert (options, ["".join(one) for one in own]) == keys
