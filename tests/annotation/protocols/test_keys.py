"""Which key is whose: what looks like a key is that key, and no other answer has it."""

import pytest

from annotation.protocols.keys import given_keys, keys_on_screen, looks_like
from tests.annotation.protocols.files import changed, problems, read
from tests.annotation.protocols.typed import LOOKS


def given(answer: dict) -> str:
    """`value=keys` of its points and fixed answers."""
    data = changed(("answers", [{"name": "fit", **answer}]), ("decide", []))
    assert problems(data) == []
    return " ".join(f"{one.identity}={''.join(one.keys)}" for one in given_keys(read(data))["fit"])


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
        (pick("A", "B", "C"), "v=a w=b x=c"),
        (pick("Ф", "A"), "v=bф w=a"),
        (pick("А", "Б"), "v=aа w=bб"),
        (pick("É", "E"), "v=aé w=e"),
        (pick("Apple", "Ａ"), "v=p w=a"),
        (pick("二", "一"), "v=2二 w=1一"),
        (scale(1, 2, anchors={"1": "A", "2": "3"}), "1=1a 2=23"),
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
        (scale(1, 2, not_applicable="2"), "not_applicable is called 2, like 2. Label it in words."),
        (scale(1, 2, 3, anchors={"1": "3", "3": "1"}), "1 is called 3, like 3. Label it in words."),
        (scale(0.5, 1, anchors={"0.5": "①"}), "0.5 is called ①, like 1. Label it in words."),
        (scale(1, 2, anchors={"1": "F"}), "1 looks like the key F, which is Winnow's own"),
        (pick("А", "A"), "w is called A, like v. Label it in words."),
        (pick("Ⅰ", "I"), "w is called I, like v. Label it in words."),
        *(
            (pick(one, "No"), f"v looks like the key {one[0]}, which is Winnow's own")
            for one in ("U", "F.", "Z", "H", "S", "?")
        ),
        (pick("Ｆ", "No"), "v looks like the key F, which is Winnow's own"),
        (pick({"label": "Cat", "keys": ["c"]}, "No"), "The key c of v does something else on this screen."),
        (pick({"label": "Cat", "keys": ["c"]}, "C"), "The key c of v looks like the answer w. Choose another."),
        (pick({"label": "Ⅱ", "keys": ["1"]}, {"label": "Ⅰ", "keys": ["2"]}), "The key 1 of v looks like the answer w."),
        *(
            (pick({"label": one, "keys": ["1"]}, "No"), "so 1 cannot be its key. Leave keys out.")
            for one in ("2.", "-1", "−1", "½", "二", "Ⅱ", "2️⃣", "10", "2 of them")
        ),
    ],
)
def test_a_file_in_which_a_key_would_look_like_another_answer_is_refused(answer, words):
    found = problems(changed(("answers", [{"name": "fit", **answer}]), ("decide", [])))
    assert [(one.code, one.column) for one in found] == [("SAME_KEY", "answers.0")] and words in found[0].advice


@pytest.mark.parametrize(
    ("texts", "fixed", "keys"),
    [
        (["A cup", "", "3 cups"], ["n0", "c"], (["1", "2", "3"], ["n0", "c"])),
        (["A", "B", "C"], ["b", "c"], (["a", "b", "c"], ["d", "e"])),
        (["A", "A long one"], ["ab"], (["a", "2"], ["b"])),
        (["a", "A."], ["a"], (["1a", "2a"], ["b"])),
        (["Ф", "U"], ["aф"], (["1ф", "u"], ["a"])),
        (["A cup", "A mug"], ["c", "c"], (["1", "2"], ["c", "a"])),
        (["2.", "1."], ["n"], (["2", "1"], ["n"])),
        (["Ⅰ", "1"], ["n"], (["i1", "a1"], ["n"])),
        (["3", "1", "2"], ["n0"], (["3", "1", "2"], ["n0"])),
        (["3", "two", "0"], ["n0", "a"], (["3", "b", "0"], ["n", "a"])),
        (["2", "2", "1"], ["2"], (["a2", "b2", "1"], ["d"])),
        ([f"sentence {n}" for n in range(12)], ["n"], ([*"123456789", "", "", ""], ["n"])),
    ],
)
def test_options_that_look_like_keys_have_these(texts, fixed, keys):
    options, own = keys_on_screen(texts, fixed)
    assert (["".join(one) for one in options], ["".join(one) for one in own]) == keys


def test_what_labels_look_like():
    assert {label: " ".join(looks_like(label)) for label in LOOKS} == LOOKS


def test_more_answers_than_letters_leave_some_without_a_key():
    options, own = keys_on_screen(["1", "two"], [[letter] for letter in "abdegijklmnopqrtvwxy"])
    assert options == [("1",), ()] and all(own)
