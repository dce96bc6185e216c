"""What decides an item, in sentences: of every protocol of the library, and of every rule that a file can have."""

import pytest

from annotation.protocols import library
from annotation.protocols.registry import protocol_named
from annotation.protocols.rule_words import Asked, deciding, each_rule
from tests.annotation.protocols.files import problems, read
from tests.annotation.protocols.test_option_sets import cue

SCORED = "3 people judge each task. Every answer is scored, and no item is dropped."
EDITED_PAIR = (
    ("Do both pictures look natural?", "natural"),
    ("Do both sentences make sense?", "sensible"),
    ("Do the pictures differ in one thing only?", "minimal"),
    ("Does each sentence describe only its own picture?", "matching"),
)
LIBRARY = {
    "bivlc-choose": "The most common answer of 3 people decides; a tie drops the item. Different images count as the "
    "same answer; the one picked most often wins. Dropped if it is “None of them” (no image fits) or "
    "“Cannot judge”.",
    "bivlc-disambiguate": "The most common answer of 3 people decides; a tie drops the item. Dropped if it is the "
    "negative image (the generated image fits as well or better), “Both” (both images fit) or “Cannot judge”.",
    "count-objects": "An item is kept if every question keeps it. “How many things of the first kind are there?” The "
    "median of the answers of 3 people counts. “How many things of the second kind are there?” The median of the "
    "answers of 3 people counts.",
    "describe": "The text written last counts.",
    "edited-pair": "An item is kept if every question keeps it. "
    + " ".join(
        f"“{ask}” Kept if at least 4 of 5 people answer “Yes”. Otherwise dropped by the most common answer: “No” (not "
        f"{what}) or anything else (no agreement)."
        for ask, what in EDITED_PAIR
    ),
    "image-caption-foil": "Kept if at least 2 of 3 people pick the caption. Otherwise dropped by the most common "
    "answer: the hard negative (hard negative fits), “Both sentences” (both fit), “Neither” (neither fits) or anything "
    "else (no agreement).",
    "preference": "The Bradley–Terry model gives each model a strength over all items, and no item is dropped.",
    "rank-images": "The option with the best mean rank over 3 people counts; a tie goes to the answer given first. "
    "Each model has a mean rank over all items.",
    "revise": "The text written last counts.",
    "true-or-false": "Kept if at least 2 of 3 people give the right answer. Otherwise dropped (label doubted).",
    "verify": "The most common answer of 3 people decides; a tie drops the item. Dropped if it is “No” (does not "
    "hold), “Cannot tell” or “Cannot judge”.",
    "visla-paraphrase": "One person is enough for words taken as they are and for a rejection; an edit goes to another "
    "person, and the first verdict that two share stands. After 3 judgments without one, an adjudicator decides. "
    "Dropped if it is “Reject” (rejected) or “Cannot judge”.",
    "visla-triplet": "The most common answer of 3 people decides; a tie drops the item. Dropped if it is “Dropped” "
    "(triplet dropped) or “Cannot judge”.",
}  # the others measure


@pytest.mark.parametrize("name", [*library.names(), "visla-paraphrase", "visla-triplet"])
def test_how_each_protocol_of_the_library_decides(name):
    people = 5 if name == "edited-pair" else 3
    assert deciding(protocol_named(name), Asked(people)) == LIBRARY.get(name, SCORED)


@pytest.mark.parametrize(
    ("asked", "begins"),
    [
        (Asked(1), "The answer of one person decides. Dropped if"),
        (Asked(2, 5), "The most common answer of 2 to 5 people decides; a tie counts as “None”. One more is asked "
         "while no answer has more than half. Dropped if"),
        (Asked(1, 5, 0.8), "The most common answer of 1 to 5 people decides; a tie counts as “None”. One more is asked "
         "while the leading answer is less than 80% certain."),
        (Asked(1, None, None, 500, 2), "The most common answer of one person decides; a tie counts as “None”. 500 "
         "items drawn for agreement get 2 people. Dropped if"),
    ],
)  # fmt: skip
def test_a_stage_s_own_settings_are_told(asked, begins):
    assert deciding(protocol_named("verify"), asked, tie="none").startswith(begins)


FILE: dict = {
    "winnow": "protocol/1", "name": "own", "title": "Own", "ask": "How good?", "instructions": "Look.",
    "item": {"images": {"scene": "1"}, "captions": {"positive": "1", "negative": "1..3"}},
    "screen": [{"picture": "scene"}],
    "judgments": 3,
}  # fmt: skip
PICK = {"kind": "pick", "of": ["captions.positive", "captions.negative"], "fixed": {"none": "None"}}
SCALE = {"kind": "scale", "points": 5, "anchors": {5: "Very good"}, "not_applicable": "No idea"}
POOR = {1: "bad", 2: "bad", 3: "so_so", 4: "so_so", "not_applicable": "no_idea", "else": "unclear"}
WRONG, KEEPS = {"negative": "wrong_one"}, {"keep": ["positive", "negative"]}
DROPS = {**WRONG, "none": "none", "else": "unclear"}


@pytest.mark.parametrize(
    ("answer", "rule", "says"),
    [
        (PICK, {"rule": "majority", "tie": "none", **KEEPS, "drop": {"none": "no_caption"}},
         "The most common answer of 3 people decides; a tie counts as “None”. Dropped if it is “None” (no "
         "caption) or “Cannot judge”."),
        (PICK, {"rule": "dawid_skene", "tie": "adjudicate", **KEEPS, "drop": {"none": "none"}},
         "The most probable answer decides, by Dawid and Skene’s model of all judgments; a tie waits for an "
         "adjudicator. Dropped if it is “None” or “Cannot judge”."),
        (PICK, {"rule": "at_least", "of": "positive", "m": "2/3", "drop": DROPS},
         "Kept if at least 2 of 3 people pick the caption. Otherwise dropped by the most common answer: one of the "
         "hard negatives (wrong one), “None” or anything else (unclear)."),
        (PICK, {"rule": "at_least", "of": "positive", "m": 3, "keep": ["none"], "drop": {**WRONG, "else": "unclear"}},
         "Kept if all 3 people pick the caption, or if the most common answer is “None”. Otherwise dropped by "
         "the most common answer: one of the hard negatives (wrong one) or anything else (unclear)."),
        (PICK, {"rule": "unanimous", "keep": ["positive"], "drop": DROPS},
         "Kept if all 3 people give the same answer, otherwise dropped (unclear). Dropped if it is one of the hard "
         "negatives (wrong one) or “None”."),
        (SCALE, {"rule": "mean", "at_least": 3.5},
         "Kept if the mean of the answers of 3 people is at least 3.5. Dropped if it is less (below), or if half of "
         "them or more give no number (not applicable)."),
        (SCALE, {"rule": "median"}, "The median of the answers of 3 people counts. Dropped if half of them or more "
         "give no number (not applicable)."),
        (SCALE, {"rule": "at_least", "of": 5, "m": 2, "drop": POOR},
         "Kept if at least 2 of 3 people answer “5 (Very good)”. Otherwise dropped by the most common answer: “1” "
         "(bad), “2” (bad), “3” (so so), “4” (so so), “No idea” or anything else (unclear)."),
        ({"kind": "points", "of": "scene", "least": 0, "most": 3}, {"rule": "agreement", "at_least": 0.5},
         "Kept if the marks of 3 people have a mean agreement of at least 0.5, otherwise dropped (below)."),
        ({"kind": "check", "statements": {"same": "Is it the same?"}},
         {"answer": "a.same", "rule": "majority", "keep": ["yes"], "drop": {"no": "differs"}},
         "“Is it the same?” The most common answer of 3 people decides; a tie drops the item. Dropped if it is “No” "
         "(differs) or “Cannot judge”."),
    ],
)  # fmt: skip
def test_each_rule_of_a_file(answer, rule, says):
    data = {**FILE, "answers": [{"name": "a", **answer}], "decide": [{"answer": "a", **rule}]}
    assert problems(data) == []
    assert each_rule(read(data), Asked(3)) == [says]


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({"rule": "majority"}, "An option counts if more than half of 3 people choose it; a tie drops the item."),
        ({"rule": "at_least", "m": 2}, "An option counts if at least 2 of 3 people choose it."),
        ({"rule": "unanimous"}, "All 3 people must choose the same options."),
    ],
)
def test_rules_of_sets_of_options(rule, says):
    drop = {"other": "other_fits", "else": "unclear"}
    file = cue(decide=[{"answer": "a", "keep": "fit", "drop": drop, **rule}])
    assert each_rule(file, Asked(3)) == [
        f"{says} Dropped if it has one of the other images (other fits) or no option counts, or those that do exclude "
        "one another (unclear)."
    ]


def test_without_a_number_of_people_none_is_told():
    file = library.shipped("image-caption-foil")
    assert each_rule(file)[0].startswith("Kept if at least 2 people pick the caption.")
    assert each_rule(library.shipped("true-or-false"))[0].startswith("Kept if at least 2/3 of the people give")
