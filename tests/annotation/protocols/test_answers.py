"""What a screen sends comes back as it was; what it cannot send is refused."""

from random import Random

import pytest

from annotation.protocols import answers, schema, values
from annotation.protocols.base import Answer, InvalidAnswer
from annotation.protocols.schema import ProtocolFile
from annotation.protocols.simulated import simulate
from tests.annotation.protocols.files import changed, problems, read
from tests.annotation.protocols.phrases import in_english

SHOWN = ("caption-negative-0", "caption-positive-0")
TEXTS = {
    "caption-positive-0": "a red cup",
    "caption-negative-0": "a blue cup",
    "caption-more-0": "one",
    "caption-more-1": "two",
}
OF = ["captions.positive", "captions.negative"]
KINDS = {
    "pick": {"kind": "pick", "of": OF, "fixed": {"both": "Both"}},
    "many": {"kind": "pick", "of": OF, "fixed": {"none": "None"}, "many": True},
    "scale": {"kind": "scale", "points": [0, 0.5, 1], "not_applicable": "Not here"},
    "slider": {"kind": "scale", "points": "0..100", "step": 2.5, "anchors": {50: "Half"}, "not_applicable": "Not here"},
    "number": {"kind": "number", "least": -2, "most": 20, "decimals": 1, "not_applicable": "None there"},
    "rank": {"kind": "rank", "of": OF},
    "strict": {"kind": "rank", "of": OF, "ties": False},
    "pair": {"kind": "pair", "of": OF, "tie": "Tie", "both_bad": "Both are bad"},
    "check": {"kind": "check", "statements": {"same": "Same", "reads": "Reads well"}, "unsure": True},
    "listed": {"kind": "check", "of": "captions.more"},
    "words": {"kind": "words", "of": "captions.positive", "marks": {"wrong": "Wrong", "unsure": "Unsure"}},
    "text": {"kind": "text", "shortest": 3, "longest": 20},
    "edit": {"kind": "edit", "of": "captions.positive", "longest": 20},
}


def protocol(kind: str, **more) -> ProtocolFile:
    data = changed(("decide", []), ("answers", [{"name": "a", **KINDS[kind], **more}]))
    assert problems(data) == []
    return read(data)


def fields(kind: str) -> list[dict[str, str]]:
    """Everything that a screen can send, of a text two."""
    match kind:
        case "pick":
            return [{"a": one} for one in ("1", "2", "both")]
        case "many":
            return [{"a-1": "1"}, {"a-2": "1"}, {"a-1": "1", "a-2": "1"}, {"a-none": "1"}]
        case "scale":
            return [{"a": one} for one in ("0", "0.5", "1", "not_applicable")]
        case "slider":
            return [*({"a-number": one} for one in ("0", "2.5", "97.5", "100")), {"a": "not_applicable"}]
        case "number":
            return [*({"a-number": one} for one in ("-2", "-0.5", "0", "7", "19.9", "20")), {"a": "not_applicable"}]
        case "rank" | "strict":
            orders = [("1", "2"), ("2", "1"), *([("1", "1")] if kind == "rank" else [])]
            return [{"a-1": one, "a-2": other} for one, other in orders]
        case "pair":
            return [{"a": one} for one in ("1", "2", "tie", "both_bad")]
        case "check":
            return [
                {"a-same": one, "a-reads": other}
                for one in ("yes", "no", "unsure")
                for other in ("yes", "no", "unsure")
            ]
        case "listed":
            return [{"a-1": one, "a-2": other} for one in ("yes", "no") for other in ("yes", "no")]
        case "words":
            marks = ("wrong", "unsure")
            one = [{f"a-{place}": mark} for place in (1, 2, 3) for mark in marks]
            two = [{"a-1": mark, "a-3": other} for mark in marks for other in marks]
            return [{"a": "fits", **marked} for marked in ({}, *one, *two)]
        case "text":
            return [{"a": "A cup.\nRed."}, {"a": "cup"}]
    return [{"a": "a red cup"}, {"a": "a red mug"}]


@pytest.mark.parametrize("kind", KINDS)
def test_every_answer_comes_back_as_it_was_given(kind):
    of = protocol(kind)
    labels = set()
    for sent in fields(kind):
        answer = answers.parse(of, sent, SHOWN, TEXTS)
        assert answers.fill(of, answer, SHOWN) == sent
        assert answers.parse(of, answers.fill(of, answer, SHOWN[::-1]), SHOWN[::-1], TEXTS) == answer
        assert answers.in_words(of, answer)
        labels.add(answer.label + str(answer.texts))
    assert len(labels) == len(fields(kind))


@pytest.mark.parametrize(
    ("kind", "sent"),
    [
        ("pick", {}), ("pick", {"a": "3"}), ("pick", {"a": "positive"}), ("pick", {"a": "0"}), ("pick", {"a": "١"}),
        ("many", {}), ("many", {"a-4": "1"}), ("many", {"a-1": "1", "a-none": "1"}),
        ("scale", {"a": "2"}), ("scale", {"a": "0.50"}), ("scale", {"a": "nan"}),
        ("rank", {"a-1": "1"}), ("rank", {"a-1": "1", "a-2": "3"}), ("strict", {"a-1": "1", "a-2": "1"}),
        ("pair", {"a": "both"}), ("check", {"a-same": "yes"}), ("check", {"a-same": "yes", "a-reads": "maybe"}),
        ("listed", {"a-1": "yes", "a-2": "unsure"}), ("words", {"a-4": "wrong"}), ("words", {"a-0": "wrong"}),
        ("words", {"a-1": "right"}), ("words", {"a": "x"}),
        ("words", {"a-": "wrong"}), ("words", {"a-١": "wrong"}), ("text", {"a": "ab"}), ("text", {"a": "x" * 21}),
        ("text", {"a": " \0 "}), ("edit", {"a": "x" * 21}), ("edit", {}),
    ],
)  # fmt: skip
def test_what_a_screen_cannot_send_is_refused(kind, sent):
    with pytest.raises(InvalidAnswer):
        answers.parse(protocol(kind), sent, SHOWN, TEXTS)


@pytest.mark.parametrize("kind", KINDS)
def test_what_need_not_be_answered_may_stay_empty(kind):
    assert answers.parse(protocol(kind, required=False), {}, SHOWN, TEXTS) == Answer("")


@pytest.mark.parametrize(
    ("kind", "sent", "label"),
    [
        ("pick", {"a": "2"}, "positive"), ("many", {"a-2": "1", "a-1": "1"}, "negative,positive"),
        ("rank", {"a-1": "2", "a-2": "2"}, "positive=negative"),
        ("rank", {"a-1": "1", "a-2": "2"}, "negative>positive"), ("text", {"a": "cup"}, "written"),
        ("words", {"a-3": "wrong", "a-1": "unsure"}, "3;1:unsure,3:wrong"),
        ("words", {"a": "fits", "a-2": ""}, "3;"),
        ("edit", {"a": "a red  cup"}, "unchanged"), ("edit", {"a": "a red mug"}, "edited"),
    ],
)  # fmt: skip
def test_an_answer_is_stored_by_what_was_picked_and_not_by_its_place(kind, sent, label):
    assert answers.parse(protocol(kind), sent, SHOWN, TEXTS).label == label


@pytest.mark.parametrize(
    ("kind", "label", "number"),
    [
        ("scale", "0.5", 0.5), ("scale", "not_applicable", None), ("check", "yes,unsure", 0.5),
        ("listed", "no,yes", 0.5), ("words", "4;1:wrong", 0.75), ("words", "4;", 1), ("pick", "positive", None),
    ],
)  # fmt: skip
def test_answers_as_numbers(kind, label, number):
    assert answers.number(protocol(kind).answers[0], label) == number


@pytest.mark.parametrize(
    ("kind", "sent", "words"),
    [
        ("pick", {"a": "1"}, "Which? “a blue cup”"), ("pick", {"a": "both"}, "Which? Both"),
        ("many", {"a-2": "1", "a-1": "1"}, "Which? “a blue cup” Which? “a red cup”"),
        ("scale", {"a": "0.5"}, "Which? 0.5"),
        ("rank", {"a-1": "2", "a-2": "1"}, "Your order: “a red cup” > “a blue cup”"),
        ("pair", {"a": "tie"}, "Which? Tie"),
        ("check", {"a-same": "yes", "a-reads": "unsure"}, "Same Yes Reads well Not sure"),
        ("listed", {"a-1": "yes", "a-2": "no"}, "1. Yes 2. No"), ("text", {"a": "A mug."}, "Which? “A mug.”"),
        ("words", {"a": "fits", "a-2": "wrong"}, "Marked words: 2 (Wrong)"),
        ("words", {"a": "fits"}, "Marked words: –"),
    ],
)  # fmt: skip
def test_an_answer_in_its_annotators_words(kind, sent, words):
    of = protocol(kind, ask="Which?")
    fields = answers.fill(of, answers.parse(of, sent, SHOWN, TEXTS), SHOWN)
    assert in_english(answers.fields_in_words(of, fields, [TEXTS[one] for one in SHOWN], SHOWN)) == words


FOLLOWED = changed(("decide", []))


def test_a_follow_up_comes_on_the_listed_values_and_leaves_no_trace_without_them():
    of = read(FOLLOWED)
    assert answers.parse(of, {"fit": "2", "sure": "3"}, SHOWN, TEXTS).label == "positive/"
    assert answers.parse(of, {"fit": "both", "sure": "3"}, SHOWN, TEXTS).label == "both/3"
    with pytest.raises(InvalidAnswer, match="How sure"):
        answers.parse(of, {"fit": "both"}, SHOWN, TEXTS)
    assert answers.in_words(of, Answer("both/3")) == "fit: Both; sure: 3"
    assert answers.in_words(of, Answer("cannot_judge")) == "cannot judge"


@pytest.mark.parametrize(
    ("when", "fit", "why", "comes"),
    [
        ({"all": {"fit": ["both"], "why": ["1"]}}, "both", "1", True),
        ({"all": {"fit": ["both"], "why": ["1"]}}, "both", "2", False),
        ({"any": {"fit": ["both"], "why": ["1"]}}, "positive", "1", True),
        ({"any": {"fit": ["both"], "why": ["1"]}}, "positive", "2", False),
    ],
)
def test_all_or_any(when, fit, why, comes):
    first = {"name": "why", "ask": "Why?", "kind": "scale", "points": 2}
    data = changed(
        ("answers.1", first), ("answers.2", {"name": "sure", "ask": "?", "kind": "text", "when": when}), of=FOLLOWED
    )
    of = read(data)
    assert answers.is_asked(of.answers[2], {"fit": fit, "why": why}, of) is comes


@pytest.mark.parametrize("kind", KINDS)
def test_a_simulated_annotator_sends_what_a_screen_can(kind):
    of = protocol(kind)
    rng = Random(1)
    for _ in range(30):
        sent = simulate(of, rng, SHOWN, TEXTS)
        assert answers.parse(of, sent, SHOWN, TEXTS).label


def test_options_of_two_roles_are_told_apart_by_kind():
    """A role may be of images and of captions: `positive-0` and `caption-positive-0`."""
    of = protocol("pick")
    answer = of.answers[0]
    assert isinstance(answer, schema.Pick)
    assert list(answers.option_names(of, answer, ("positive-0", *SHOWN))) == list(SHOWN)
    assert (
        values.option_name(of, "caption-positive-0") == "positive"
        and values.option_name(of, "caption-more-1") == "more-1"
    )
