"""Questions that are answered with marks on a picture: read, refused, filled in again, decided, and in words."""

from dataclasses import replace
from random import Random

import pytest

from annotation.protocols import answers, simulated, walk
from annotation.protocols.base import Answer, InvalidAnswer, UnsuitableItem
from annotation.protocols.decisions import decide_item
from annotation.protocols.in_words import answers_in_words
from annotation.protocols.tasks import tasks_of
from tests.annotation.protocols.files import changed, problems, read
from tests.annotation.protocols.items import item

SPOTS = {"name": "spots", "ask": "Where?", "kind": "points", "of": "scene", "most": 3}
PARTS = {
    "name": "parts", "ask": "Which?", "kind": "boxes", "of": "scene", "least": 0, "most": 2,
    "labels": {"hand": "Hand", "face": "Face"},
}  # fmt: skip
AGREED = {"answer": "parts", "rule": "agreement", "at_least": 0.5, "below": "no_agreement"}
DATA = changed(("answers", [SPOTS, PARTS]), ("decide", [AGREED]))
FILE = read(DATA)


@pytest.mark.parametrize(
    ("sent", "label"),
    [
        ({"spots": "1:2,10000:0", "parts": "0:0:5:5:face"}, "1:2,10000:0/0:0:5:5:face"),
        ({"spots": "1:2", "parts": "none"}, "1:2/none"),
    ],
)
def test_marks_are_read_and_filled_in_as_they_were_set(sent, label):
    answer = answers.parse(FILE, sent, [], {})
    assert answer == Answer(label) and answers.fill(FILE, answer, []) == sent


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        ({"spots": "", "parts": "none"}, "Where?"),
        ({"spots": "1:2"}, "Which?"),
        ({"spots": "1:10001", "parts": "none"}, "outside the picture"),
        ({"spots": "none", "parts": "none"}, "at least: 1"),
        ({"spots": "1:1,1:2,1:3,1:4", "parts": "none"}, "at most 3"),
        ({"spots": "1:2", "parts": "0:0:5:5"}, "not one of the answers"),
        ({"spots": "1:2", "parts": "0:0:5:5:foot"}, "not one of the answers"),
        ({"spots": "1:2/3", "parts": "none"}, "not one of the answers"),
    ],
)
def test_what_is_no_answer_is_refused_by_name(sent, refused):
    with pytest.raises(InvalidAnswer, match=refused):
        answers.parse(FILE, sent, [], {})


@pytest.mark.parametrize(
    "data", [DATA, changed(("screen.0.boxes", "model"), ("item.attributes", ["model"]), ("decide", []))]
)
def test_a_video_has_no_marks(data):
    record = item(["positive", "negative", "more"], ["scene"])
    assert tasks_of(read(data), record, {})
    record = replace(record, images=[replace(one, format="WEBM") for one in record.images])
    with pytest.raises(UnsuitableItem, match="item 7 has a video as scene, and fits has points or boxes on it"):
        tasks_of(read(data), record, {})


@pytest.mark.parametrize(
    ("change", "code", "key"),
    [
        (("answers.0.of", "other"), "NOT_SHOWN", "answers.0.of"),
        (("answers.0.least", 4), "WRONG_COUNT", "answers.0.least"),
        (("item.images.scene", "0..1"), "WRONG_COUNT", "answers.0.of"),
        (("answers.1.labels", {"none": "None"}), "VALUE_TWICE", "answers.1.labels.none"),
        (("answers.1.labels.face", "Hand"), "VALUE_TWICE", "answers.1.labels"),
        (("answers.1.most", 20), "TOO_LONG", "answers"),
        (("answers.0.kind", "lines"), "WRONG_VALUE", "answers.0.kind"),
        (("decide.0.rule", "mean"), "BOUND_ON_NOMINAL", "decide.0.rule"),
        (("decide.0.answer", "fit"), "UNKNOWN_ANSWER", "decide.0.answer"),
        (("screen.0.boxes", "nothing"), "UNKNOWN_ROLE", "screen.0.boxes"),
        (("screen.0.boxes", "more"), "SEVERAL", "screen.0.boxes"),
    ],
)
def test_a_file_that_cannot_be_asked_so_is_refused(change, code, key):
    found = [(one.code, one.column) for one in problems(changed(change, of=DATA))]
    assert (code, key) in found


@pytest.mark.parametrize(
    ("labels", "state", "outcome"),
    [
        (["1:2/0:0:100:100:hand"] * 3, "kept", "1"),
        (["1:2/0:0:100:100:hand", "1:2/0:0:100:50:hand", "1:2/0:0:100:50:hand"], "kept", "0.666667"),
        (["1:2/0:0:100:100:hand", "1:2/0:0:100:100:face", "1:2/none"], "dropped", "0"),
        (["1:2/none"] * 3, "kept", "1"),
    ],
)
def test_an_item_is_kept_if_annotators_agree_where_the_marks_are(labels, state, outcome):
    found = decide_item(FILE, labels)
    assert (found.state, found.outcome, found.reason) == (state, outcome, "" if state == "kept" else "no_agreement")


def test_simulated_annotators_mark_about_the_same_and_every_walked_answer_is_one():
    dice = Random(1)
    for _ in range(50):
        sent = simulated.simulate(FILE, dice, [], {}, item="a")
        assert answers.fill(FILE, answers.parse(FILE, sent, [], {}), []) == sent
    for sent in walk.every_answer(FILE, walk.Screen([], {}, ""), dice)[0]:
        assert answers.fill(FILE, answers.parse(FILE, sent, [], {}), []) == sent
    kept = [
        decide_item(
            FILE, [answers.parse(FILE, simulated.simulate(FILE, dice, [], {}, item=n), [], {}).label for _ in "abc"]
        )
        for n in range(30)
    ]
    assert sum(one.state == "kept" for one in kept) > 15


def test_marks_are_told_in_percent():
    said = answers.in_words(FILE, Answer("1250:5000/0:0:5000:10000:face"))
    assert said == "spots: (12.5, 50); parts: Face (0, 0)–(50, 100)"
    assert answers.in_words(FILE, Answer("1250:5000/none")).endswith("parts: –")
    assert "1 to 3 points on the picture scene" in answers_in_words(FILE)[0]


@pytest.mark.parametrize(("text", "suits"), [("[[0, 0, 0.5, 1]]", True), ("[]", True), ("a cat", False)])
def test_items_whose_regions_cannot_be_read_do_not_suit(text, suits):
    file = read(
        changed(
            ("screen.0.boxes", "regions"),
            ("item", {"images": {"scene": 1}, "captions": {"regions": 1}}),
            ("answers", [SPOTS]),
            ("decide", []),
        )
    )
    one = item(captions=("regions",), images=("scene",))
    one = one.with_captions({"regions": text})
    if suits:
        assert tasks_of(file, one, {})
    else:
        with pytest.raises(ValueError, match="item 7: regions, the boxes of scene, is not a JSON"):
            tasks_of(file, one, {})
