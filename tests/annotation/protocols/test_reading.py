"""Protocol files are read strictly: what is wrong is named with its line and what to do."""

import json
import time
import tracemalloc
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path

import jsonschema
import pytest
import yaml
from django.conf import settings
from django.core.management import call_command

from annotation.protocols import library
from annotation.protocols.reading import read_protocol
from annotation.protocols.schema import ProtocolFile, json_schema
from benchmarks.formats.base import ProblemLog
from tests.annotation.protocols.files import PICK, changed, problems

EACH = {"each": {"sentence": "captions.more"}}
PAIRS = {"pairs": "captions.more", "design": "all"}
SECOND = {"name": "why", "ask": "Why?", "kind": "text"}
STRENGTHS = {"answer": "fit", "rule": "bradley_terry", "over": "model"}
TWO_DROPS = {"negative": "a", "both": "b"}
ESTIMATES = [{**PICK["decide"][0], "rule": "dawid_skene"}, {"answer": "sure", "rule": "dawid_skene", "keep": [1, 2, 3]}]
MANY_STATEMENTS = {f"s{place}": f"Statement {place}." for place in range(72)}
BOUND = {"answer": "sure", "rule": "mean", "at_least": 2, "below": "too_low"}

MISTAKES = [  # change, code, path, a word of the advice
    (("scren", []), "UNKNOWN_KEY", "scren", "“screen”"),
    (("answers.0.fixd", {}), "UNKNOWN_KEY", "answers.0.fixd", "“fixed”"),
    (("title", None), "MISSING_KEY", "title", "Add"),
    (("answers.0.name", None), "MISSING_KEY", "answers.0.name", "name: fit"),
    (("answers.1.points", None), "MISSING_KEY", "answers.1.points", "points: 5"),
    (("answers.0.kind", None), "MISSING_KEY", "answers.0", "kind"),
    (("answers.0.kind", "pik"), "WRONG_VALUE", "answers.0.kind", "pick, scale"),
    (("screen.0", {"picure": "scene"}), "MISSING_KEY", "screen.0", "picture, pictures"),
    (("screen.0", {"pictures": ["left", "right"]}), "WRONG_VALUE", "screen.0.pictures",
     "- picture: left and - picture: right"),
    (("screen.0", {"sentence": ["a", "b"]}), "WRONG_VALUE", "screen.0.sentence", "- sentence: a and - sentence: b"),
    (("title", ["a"]), "WRONG_VALUE", "title", "not a list"),
    (("scores", {"total": {"average": ["sure"]}}), "UNKNOWN_KEY", "scores.total.average",
     "Use mean, sum, min, product, geometric_mean."),
    (("scores", {"total": {}}), "WRONG_VALUE", "scores.total", "one of the keys mean, sum, min"),
    (("scores", {"total": {"mean": ["sure", "fit"], "sum": ["sure", "fit"]}}), "WRONG_VALUE", "scores.total", "one"),
    (("scores", {"total": {"sum": ["sure", "sure"]}}), "VALUE_TWICE", "scores.total.sum", "{fit: 2"),
    (("scores", {"total": {"mean": {"sure": 1, "fit": -1}}}), "WRONG_VALUE", "scores.total.mean", "Use sum"),
    (("scores", {"total": {"sum": {"sure": 1, "fits": 1}}}), "UNKNOWN_ANSWER", "scores.total.sum.fits", "fit"),
    (("scores", {"total": {"product": {"sure": 1, "fit": 1}}}), "WRONG_VALUE", "scores.total.product", "a list"),
    (("answers.1.required", "sometimes"), "WRONG_VALUE", "answers.1.required", "true or false here, or yes or no"),
    (("answers.2", {**SECOND, "kind": "check", "statements": {"a": "A"}, "unsure": "Cannot tell"}), "WRONG_VALUE",
     "answers.2.unsure", "belong to tie, both_bad"),
    (("decide.0.keep", [True]), "WRONG_VALUE", "decide.0.keep.0", "in quotes"),
    (("judgments", "three"), "WRONG_VALUE", "judgments", "whole number"),
    (("name", "Fits!"), "WRONG_VALUE", "name", "lower-case letters"),
    (("title", "x" * 61), "TOO_LONG", "title", "60 characters"),
    (("ask", "Two\nlines"), "WRONG_VALUE", "ask", "one line"),
    (("winnow", "protocol/2"), "WRONG_VERSION", "winnow", "protocol/1"),
    (("item", {}), "NO_ROLE", "item", "images"),
    (("item.captions.more", "1..first"), "WRONG_VALUE", "item.captions.more", "or first for the first of them"),
    (("item.captions.more", "3..2"), "WRONG_COUNT", "item.captions.more", "larger"),
    (("item.captions.more", "1..201"), "WRONG_COUNT", "item.captions.more", "at most 200"),
    (("item.images.scene", 51), "WRONG_COUNT", "item.images.scene", "at most 50"),
    (("item.captions.more", "9" * 5000), "TOO_LONG", "item.captions.more", "8 characters"),
    (("item.texts", {"positive": 1}), "ROLE_TWICE", "item.texts.positive", "captions"),
    (("screen.0.picture", "secne"), "UNKNOWN_ROLE", "screen.0.picture", "scene"),
    (("screen.0.picture", "positive"), "UNKNOWN_ROLE", "screen.0.picture", "scene"),
    (("screen.1", {"sentence": "more"}), "SEVERAL", "screen.1.sentence", "list"),
    (("screen.1", {"picture": "scene"}), "SHOWN_TWICE", "screen.1.picture", "already"),
    (("screen.1", {"sentence": "positive"}), "SHOWN_TWICE", "screen.1.sentence", "options"),
    (("tasks", EACH), "NOT_SHOWN", "tasks", "sentence"),
    (("tasks", {"each": {"x": ["images.scene", "captions.more"]}}), "MIXED_ROLES", "tasks", "x"),
    (("tasks", {"each": dict.fromkeys("abcdef", "images.scene")}), "TOO_LONG", "tasks.each", "at most 5"),
    (("tasks", {"each": {"x": ["captions.more", "captions.more"]}}), "VALUE_TWICE", "tasks.each.x", "twice"),
    (("tasks", PAIRS), "PAIR_NOT_ASKED", "tasks.pairs", "of: pair"),
    (("tasks", {"pairs": "images.scene"}), "PAIR_OF_ONE", "tasks.pairs", "two"),
    (("tasks", {**PAIRS, "design": "balanced"}), "WRONG_DESIGN", "tasks.design", "per_item"),
    (("answers.0.of", ["captions.positive", "captions.foil"]), "UNKNOWN_ROLE", "answers.0.of", "captions.negative"),
    (("answers.0.of", ["captions.positive", "images.scene"]), "MIXED_ROLES", "answers.0.of", "all pictures"),
    (("answers.0.of", ["captions.more"]), "TOO_MANY_OPTIONS", "answers.0.of", "at most 200"),
    (("answers.1", {"name": "o", "ask": "?", "kind": "rank", "of": "captions.more"}),
     "TOO_MANY_OPTIONS", "answers.1.of", "at most 9"),
    (("answers.1.name", "fit"), "ANSWER_TWICE", "answers.1.name", "fit"),
    (("answers.1.ask", None), "NOT_ASKED", "answers.1", "ask"),
    (("answers.0.fixed", {"positive": "Yes"}), "VALUE_TWICE", "answers.0.fixed.positive", "role"),
    (("answers.0.fixed", {"both": "Both", "all": "both"}), "VALUE_TWICE", "answers.0.fixed", "same label"),
    (("answers.0.fixed", {"both": "Both", "else": "Other"}), "VALUE_TWICE", "answers.0.fixed.else", "another name"),
    (("answers.0.fixed", {"both": {"label": "Both", "keys": ["1"]}}), "SAME_KEY", "answers.0", "key 1"),
    (("answers.0.fixed", {"both": {"label": "Both", "keys": ["u"]}}), "SAME_KEY", "answers.0", "key u"),
    (
        ("answers.0.fixed", {"both": {"label": "Both", "keys": ["b"]}, "blur": {"label": "Blurred", "keys": ["b"]}}),
        "SAME_KEY", "answers.0", "key b",
    ),
    (("answers.1.points", 1002), "WRONG_VALUE", "answers.1.points", "at most 1,001"),
    (("judgments", 0), "WRONG_VALUE", "judgments", "at least 1"),
    (("answers", []), "WRONG_VALUE", "answers", "at least 1"),
    (
        ("answers.2", {"name": "ok", "ask": "?", "kind": "check", "statements": MANY_STATEMENTS}),
        "TOO_LONG", "answers", "500",
    ),
    (("decide", ESTIMATES), "TWO_ESTIMATES", "decide.1.rule", "one answer"),
    (("answers.1.anchors", {"4": "Very"}), "UNKNOWN_VALUE", "answers.1.anchors.4", "1, 2, 3"),
    (("answers.1.points", [1, 3, 2]), "WRONG_COUNT", "answers.1.points", "low to high"),
    (("answers.2", {"name": "ok", "ask": "?", "kind": "check"}), "NO_STATEMENTS", "answers.2", "statements"),
    (("answers.2", {**SECOND, "kind": "edit", "of": "captions.more"}), "SEVERAL", "answers.2.of", "several"),
    (("answers.2", {**SECOND, "shortest": 90, "longest": 9}), "WRONG_COUNT", "answers.2.shortest", "longest"),
    (("answers.1.when", {"fitt": ["both"]}), "UNKNOWN_ANSWER", "answers.1.when.all.fitt", "fit"),
    (("answers.1.when", {"fit": ["bth"]}), "UNKNOWN_VALUE", "answers.1.when.all.fit", "both"),
    (("answers.1.when", {"sure": ["1"]}), "CYCLE", "answers.1.when.all.sure", "later"),
    (("answers.0.when", {"sure": ["1"]}), "CYCLE", "answers.0.when.all.sure", "later"),
    (("answers.1.when", {"fit": ["positive"]}), "NOT_BLIND", "answers.1.when.all.fit", "positive, negative"),
    (("answers.1.name", "reason"), "NAME_TAKEN", "answers.1.name", "page"),
    (("answers.1.when", {"all": {}}), "UNREACHABLE_ANSWER", "answers.1.when", "which answers"),
    (("answers.1.when", {"item": {"images.scen": 1}}), "UNKNOWN_ROLE", "answers.1.when.item.images.scen", "It has"),
    (("answers.1.when", {"item": {"scene.a.b": 1}}), "WRONG_VALUE", "answers.1.when.item.scene.a.b", "images.second"),
    (("answers.1.when", {"item": {"images.scene": "many"}}), "WRONG_COUNT", "answers.1.when.item.images.scene", "2..9"),
    (("answers.1.when", {"item": {"images.scene": "2.."}}), "UNREACHABLE_ANSWER", "answers.1.when.item.images.scene",
     "always has 1"),
    (("answers.1.when", {"item": {"images.scene.style": "x"}}), "UNKNOWN_ATTRIBUTE",
     "answers.1.when.item.images.scene.style", "model"),
    (("decide.0.answer", "fitt"), "UNKNOWN_ANSWER", "decide.0.answer", "fit, sure"),
    (("decide.0.drop", {"negative": "foil"}), "DROP_NOT_TOTAL", "decide.0.drop", "both"),
    (("decide.0.drop.positive", "why"), "KEPT_AND_DROPPED", "decide.0.drop.positive", "Choose"),
    (("decide.0.drop.nought", "why"), "UNKNOWN_VALUE", "decide.0.drop", "nought"),
    (("decide.1", {**BOUND, "answer": "fit"}), "BOUND_ON_NOMINAL", "decide.1.rule", "scale"),
    (("decide.1", {"answer": "sure", "rule": "mean_rank"}), "RULE_DOES_NOT_FIT", "decide.1.rule", "rank"),
    (("decide.1", STRENGTHS), "RULE_DOES_NOT_FIT", "decide.1.rule", "pair"),
    (("decide.1", PICK["decide"][0]), "DECIDED_TWICE", "decide.1.answer", "already"),
    (
        ("decide.0", {"answer": "fit", "rule": "at_least", "of": "positive", "m": 4,
                      "drop": TWO_DROPS | {"else": "c"}}),
        "M_OUT_OF_K", "decide.0.m", "3 judgments",
    ),
    *(
        (
            ("decide.0", {"answer": "fit", "rule": "at_least", "of": "positive", "m": m,
                          "drop": TWO_DROPS | {"else": "c"}}),
            code, "decide.0.m", "2/3",
        )
        for m, code in (("3/2", "M_OUT_OF_K"), (0.67, "WRONG_VALUE"), ("67%", "WRONG_VALUE"))
    ),
    (
        ("decide.0", {"answer": "fit", "rule": "unanimous", "keep": ["positive"], "drop": TWO_DROPS}),
        "DROP_NOT_TOTAL", "decide.0.drop", "else",
    ),
    (
        ("decide.0", {"answer": "fit", "rule": "at_least", "of": "right", "m": 2, "drop": {"else": "c"}}),
        "NO_RIGHT_ANSWER", "decide.0.of", "from: label",
    ),
    (("group", {"pair": {"over": []}}), "WRONG_VALUE", "group.pair.over", "at least 1"),
    *(
        (("right", {"fit": {"from": place}}), "NOT_BLIND", "right.fit.from", "shown to annotators")
        for place in ("scene", "scene.first", "{scene[:1]}")
    ),
    (("right", {"fit": {"from": "label", "values": {"0": "nought"}}}), "UNKNOWN_VALUE", "right.fit.values", "nought"),
    (("right", {"from": "label"}), "UNKNOWN_ANSWER", "right.from", "right: {fit: {from: label}}"),
    (("right", {"fit": {"from": "label", "value": {}}}), "UNKNOWN_KEY", "right.fit.value", "values"),
    (("measure", {"fit": {"agreement": "ordinal"}}), "AGREEMENT_DOES_NOT_FIT", "measure.fit.agreement", "nominal"),
    (("measure", {"fit": {"views": {"v": {"both": "x"}}}}), "VIEW_NOT_TOTAL", "measure.fit.views.v", "negative"),
    (("measure", {"fit": {"score": "mean"}}), "BOUND_ON_NOMINAL", "measure.fit.score", "mean"),
    (("measure", {"fits": {}}), "UNKNOWN_ANSWER", "measure.fits", "fit"),
    (("right", {"fit": "postive"}), "UNKNOWN_VALUE", "right.fit", "positive"),
    (("right", {"fit": {"x": "positive"}}), "UNKNOWN_TASK", "right.fit.x", "none"),
    (("group", {"all": ["picture"]}), "NO_RIGHT_ANSWER", "group", "right"),
    (("group", {"text": {"compare": "both", "within": ["scene"]}}), "WRONG_DESIGN", "group.text", "each"),
    (("scores", {"all": {"geometric_mean": ["sure", "fit"]}}), "BOUND_ON_NOMINAL", "scores.all.geometric_mean.1",
     "have a number"),
    (("scores", {"sure": {"geometric_mean": ["sure", "sure"]}}), "VALUE_TWICE", "scores.sure", "another name"),
    (("carry", {"images.scene": "fitt"}), "UNKNOWN_ANSWER", "carry.images.scene", "fit"),
    (("carry", {"images.scene": "fit"}), "CARRY_DOES_NOT_FIT", "carry.images.scene", "doesn't choose an image"),
    (("carry", {"texts.told": "fit"}), "CARRY_DOES_NOT_FIT", "carry.texts.told", "text or edit"),
]  # fmt: skip


def keys_to(path: str) -> list[str]:
    dotted = path.partition("when.item.")[2]
    if dotted or path.startswith("carry."):
        return [dotted or path.removeprefix("carry.")]
    return [step for step in path.split(".") if step != "all"]


def test_mean_ranks_go_over_an_attribute_of_the_item():
    order = {"name": "order", "kind": "rank", "of": ["captions.positive", "captions.negative"]}
    rule = {"answer": "order", "rule": "mean_rank", "over": "maker"}
    (found,) = problems(changed(("answers", [order]), ("decide", [rule])))
    assert (found.code, found.column) == ("UNKNOWN_ATTRIBUTE", "decide.0.over") and "model" in found.advice


@pytest.mark.parametrize(
    ("count", "layout", "told"), [("2..4", "row", 0), ("2..5", "row", 1), ("1..", "row", 1), ("1..", "grid", 0)]
)
def test_a_row_that_no_phone_can_keep_side_by_side_is_refused(count, layout, told):
    changes = ("item.images.scene", count), ("screen.0", {"pictures": "scene", "layout": layout})
    assert [(one.code, one.column) for one in problems(changed(*changes))] == [
        ("ROW_TOO_LONG", "screen.0.layout")
    ] * told


@pytest.mark.parametrize(
    ("screen", "of", "blank"),
    [
        ([{"picture": "scene"}], [], True),
        ([{"picture": "scene"}, {"sentence": "told"}], [], False),
        ([{"picture": "scene"}], ["captions.told", "captions.other"], False),
        ([{"picture": "scene"}, {"sentence": "other"}], [], True),
    ],
)
def test_a_screen_always_shows_something(screen, of, blank):
    pick = {"name": "fit", "kind": "pick", "of": of, "fixed": {"yes": "Yes", "no": "No"}}
    item = {"images": {"scene": "0..1"}, "captions": {"told": 1, "other": "0..1"}}
    found = problems(changed(("item", item), ("screen", screen), ("answers", [pick]), ("decide", [])))
    assert [(one.code, one.column) for one in found] == [("NOTHING_SHOWN", "screen")] * blank


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [
        ({"rule": "majority", "keep": ["scene"], "drop": {"none": "nothing_fits"}}, None),
        ({"rule": "majority", "keep": ["scene", "none"]}, "would carry no image"),
        ({"rule": "at_least", "of": "none", "m": 2, "keep": ["scene"], "drop": {"else": "x"}}, "would carry no image"),
        (None, "No rule chooses the image"),
    ],
)
def test_a_carried_image_is_always_chosen(rule, wanted):
    pick = {"name": "image", "kind": "pick", "of": ["images.scene"], "fixed": {"none": "None"}}
    decide = [{"answer": "image", **rule}] if rule else []
    item = {"images": {"scene": "2..4"}, "captions": {"positive": 1}}
    data = changed(("answers", [pick]), ("decide", decide), ("carry", {"images.chosen": "image"}), ("item", item))
    found = problems(data | {"screen": [{"sentence": "positive"}]})
    assert [one.code for one in found] == ["CARRY_DOES_NOT_FIT"] * bool(wanted)
    assert not wanted or wanted in found[0].advice


def test_the_file_itself_is_right():
    assert problems(PICK) == []


@pytest.mark.parametrize(("change", "code", "path", "word"), MISTAKES)
def test_a_mistake_is_named_at_its_line(change, code, path, word):
    text = json.dumps(changed(change), indent=1)
    found = {(one.code, one.column): one for one in problems(text)}
    assert (code, path) in found, [str(one) for one in found.values()]
    one = found[code, path]
    assert word in one.advice and one.file == "p.yaml"
    keys = [key for key in keys_to(path) if f'"{key}":' in text]
    assert (
        not keys
        or code == "MISSING_KEY"
        or path.endswith((".0", ".1", ".2"))
        or f'"{keys[-1]}":' in text.splitlines()[one.row - 1]
    ), one.row


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "NOT_A_PROTOCOL", 1),
        ("- a\n- b\n", "NOT_A_PROTOCOL", 1),
        ("winnow: protocol/1\nname: [\n", "NOT_YAML", 3),
        ("winnow: protocol/1\n  name: x\n", "NOT_YAML", 2),
        ("winnow: protocol/1\nname: a\nname: b\n", "KEY_TWICE", 3),
        ("winnow: protocol/1\nitem: &a {b: *a}\n", "NOT_YAML", 2),
        ("winnow: protocol/1\nname: !!int ''\n", "NOT_YAML", 2),
        ("winnow: protocol/1\nname: !!bool x\n", "NOT_YAML", 2),
        ("winnow: protocol/1\nname: !!timestamp x\n", "NOT_YAML", 2),
        ("[" * 600, "NOT_YAML", None),
        ("winnow: protocol/1\nname: !!python/object:os.system x\n", "NOT_YAML", 2),
        ("x" * 100_001, "TOO_LONG", None),
        ("name: x\n", "WRONG_VERSION", 1),
    ],
)
def test_what_is_no_protocol_is_refused(text, code, line):
    assert [(one.code, one.row) for one in problems(text)] == [(code, line)]


@pytest.mark.parametrize(
    ("before", "after", "advice"),
    [
        ("- picture: scene", "\t- picture: scene", "Replace the tab"),
        ("title: Which fits", "title: Choose: which fits", "in quotes if it has a colon"),
        ("judgments: 3", "judgments 3", "a colon and a space after the key, in this line or the one before"),
        ("  kind: pick", "   kind: pick", "correct the indentation"),
        ("- picture: scene", "- {picture: scene", "Close the bracket or brace"),
        ("title: Which fits", "title: *Which* fits", "Put the text in quotes"),
        ("title: Which fits", "title: *which", "Put the text in quotes"),
        ("title: Which fits", 'title: "Which fits', "Close the quotes"),
        ("title: Which fits", "title: @Which", "Put the text in quotes"),
        ("- picture: scene", "- {picture: scene, label: ?x}", "in quotes: its first character"),
        ("- picture: scene", "- {picture: scene, label: Which?}", "in quotes: between brackets or braces, ? ends it"),
        ("- picture: scene", "- {picture: scene,\n   label: A?, x: y}", "braces, ? ends it"),
        ("- picture: scene", "- {picture: scene, label: A [b]}", "braces, [ ends it"),
        ("- picture: scene", "- {picture: scene, label: A: b}", "braces, : ends it"),
        ("- picture: scene", '- {picture: scene, label: "A" b}', "Put the whole text in quotes"),
    ],
)
def test_yaml_that_cannot_be_read_gets_advice_in_words(before, after, advice):
    text = yaml.safe_dump(PICK, sort_keys=False)
    assert before in text
    [found] = problems(text.replace(before, after, 1))
    assert found.code == "NOT_YAML" and advice in found.advice and found.row


@pytest.mark.parametrize(
    "scalar",
    [f"!!float '1{':0' * 200}'", "!!float 1:30", "!!int 0b11", "!!int 3_", "!!int 0x", "!!float _", "!!bool yes",
     "!!null 1", "!!int ٣", "!!seq x", "!!map x", "!!binary x"],
)  # fmt: skip
@pytest.mark.parametrize("place", ["judgments: {}", "answers: [{{points: [1, {}]}}]", "title: {}"])
def test_a_tag_makes_nothing_else_of_a_text(place, scalar):
    [found] = problems(f"winnow: protocol/1\n{place.format(scalar)}\n")
    assert (found.code, found.row) == ("NOT_YAML", 2) and "tag" in found.advice


@pytest.mark.parametrize("written", ["\\0", "\\x01", "\\e", "\\x7f", "\\N", "\\ud800", "\\udc00 x"])
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('title: "A{}"', "title"), ('ask: "{}"', "ask"), ('instructions: "{}"', "instructions"), ('"{}": 1', ""),
        ('answers: [{{not_applicable: "{}"}}]', "answers.0.not_applicable"), ('item: {{"a{}": 1}}', "item"),
        ('answers: [{{anchors: {{1: "{}"}}}}]', "answers.0.anchors.1"),
    ],
)  # fmt: skip
def test_characters_that_cannot_be_stored_or_shown_are_refused(text, path, written):
    [found] = problems(f"winnow: protocol/1\n{text.format(written)}\n")
    assert (found.code, found.row, found.column) == ("BAD_CHARACTER", 2, path) and "U+" in found.advice


@pytest.mark.parametrize("number", ["!!float .nan", "!!float -.inf", "1e999", "-1e999", "1e16", "9" * 17, "9" * 5000])
@pytest.mark.parametrize("place", ["points: [0, {}]", "points: {}", "at_least: {}", "judgments: {}"])
def test_a_number_is_finite_and_one_that_floating_point_knows(place, number):
    text = f"winnow: protocol/1\n{place.format(number)}\n"
    [found] = problems(text)
    assert (found.code, found.row) in {("WRONG_VALUE", 2), ("NOT_YAML", 2)} and found.advice
    assert found.column.startswith(place.partition(":")[0])


LARGE = {  # as long as a file may be, or as much work as one could make
    "a list": "screen: [" + "a," * 49_000 + "]",
    "keys": "".join(f"k{place}: 1\n" for place in range(2_400)),
    "answers": "answers:\n" + "- {kind: pick, nam: x}\n" * 1_000,
    "roles": "item: {captions: {" + ", ".join(f"a{place}: b" for place in range(2_400)) + "}}",
    "aliases": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{after}: &{after} [{','.join([f'*{before}'] * 9)}]\n" for before, after in pairwise("abcdefgh")),
    "depth": "x: " + "[" * 90_000,
}


@pytest.mark.parametrize("text", [pytest.param(f"winnow: protocol/1\n{text}", id=name) for name, text in LARGE.items()])
def test_a_file_is_refused_within_a_bound_of_time(text):
    problems(PICK)
    started = time.process_time()
    assert problems(text)
    assert time.process_time() - started < 1  # 0.1 s where this was written; 9,000 keys took minutes


@pytest.mark.parametrize("name", ["a list", "aliases"])
def test_a_file_is_refused_within_a_bound_of_memory(name):
    assert most_memory(f"winnow: protocol/1\n{LARGE[name]}") < 25e6


def most_memory(text: str | dict) -> int:
    tracemalloc.start()
    problems(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


BOMBS = {  # tasks that an item would make, of files of 500 bytes
    "names": ({"r0": "1..", "r1": "1..", "r2": "1.."}, ["r0", "r1", "r2"], "UNKNOWN_TASK"),
    "tasks": ({f"r{place}": "1.." for place in range(6)}, [f"r{place}" for place in range(6)], "TOO_MANY_TASKS"),
    "members": ({"r0": 9}, ["r0"], "TOO_MANY_TASKS"),
    "a role again": ({"r0": 1}, ["r0"] * 16, "VALUE_TWICE"),
}


@pytest.mark.parametrize(("roles", "through", "code"), BOMBS.values(), ids=BOMBS)
def test_the_tasks_of_an_item_have_a_limit(roles, through, code):
    references = [f"captions.{role}" for role in through]
    data = changed(
        ("item", {"captions": roles}), ("tasks", {"each": dict.fromkeys("abcde", references)}),
        ("screen", [{"sentence": name} for name in "abcde"]), ("decide", []), ("right", {"fit": {"x": "ok"}}),
        ("answers", [{"name": "fit", "kind": "pick", "fixed": {"ok": "OK", "bad": "Bad"}}]),
    )  # fmt: skip
    started = time.process_time()
    assert code in {one.code for one in problems(data)}
    assert time.process_time() - started < 0.2 and most_memory(data) < 5e6


def test_yes_and_no_are_words_and_numbers_may_be_values():
    yes_or_no = {"yes": "Yes", "no": "No"}
    text = yaml.safe_dump(changed(("answers.0", {**PICK["answers"][0], "of": [], "fixed": yes_or_no}), ("decide", []),
                                  ("answers.1.when", {"fit": ["no"]}), ("answers.1.anchors", {3: "Very"})))  # fmt: skip
    assert problems(text.replace("'yes'", "yes").replace("'no'", "no")) == []


@pytest.mark.parametrize(("written", "value"), [("yes", True), ("no", False), ("true", True), ("false", False)])
@pytest.mark.parametrize(
    ("kind", "setting"),
    [("pick", "required"), ("pick", "many"), ("pick", "alike"), ("rank", "ties"), ("check", "unsure")],
)
def test_a_setting_takes_yes_and_no_too(kind, setting, written, value):
    one = {"name": "fit", "kind": kind, "of": ["captions.positive", "captions.negative"], setting: "SET"}
    if kind == "check":
        one |= {"of": None, "statements": {"a": "A"}}
    text = json.dumps(changed(("answers", [one]), ("decide", []))).replace('"SET"', written)
    assert getattr(read_protocol(text, "p.yaml", ProblemLog()).answers[0], setting) is value


def objects(schema: object) -> Iterator[dict]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


@pytest.mark.parametrize("name", library.names())
def test_a_file_is_dumped_as_it_is_read(name):
    """With the keys of the file: `from`, which is no name in Python."""
    data = library.shipped(name).model_dump(exclude_unset=True)
    assert ProtocolFile.model_validate(data) == library.shipped(name)


def test_the_json_schema_takes_what_we_take_and_allows_no_further_keys():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    free = [one for one in objects(schema) if one.get("additionalProperties") is not False]
    assert all("properties" not in one and "patternProperties" not in one for one in free)
    check = jsonschema.Draft202012Validator(schema).is_valid
    assert check(PICK) and not check(changed(("scren", []))) and not check(changed(("answers.0.fixd", {})))
    files = [library.shipped(name).model_dump(mode="json", exclude_defaults=True) for name in library.names()]
    assert all(map(check, files))


def without_bound(schema: object, path: str = "") -> Iterator[str]:
    """Where a list, an object of free keys or a text can be as long as it likes."""
    if isinstance(schema, list):
        for place, value in enumerate(schema):
            yield from without_bound(value, f"{path}/{place}")
    if not isinstance(schema, dict):
        return
    free = "patternProperties" in schema or isinstance(schema.get("additionalProperties"), dict)
    bound = {"array": "maxItems", "string": "maxLength", "object": "maxProperties" if free else "type"}
    if (kind := schema.get("type")) in bound and not {bound[kind], "const", "enum"} & schema.keys():
        yield path
    for key, value in schema.items():
        if key != "propertyNames":
            yield from without_bound(value, f"{path}/{key}")


def test_nothing_in_a_file_is_without_a_bound():
    assert list(without_bound(json_schema())) == []


def test_the_published_schema_is_that_of_the_types():
    published = Path(settings.BASE_DIR, "docs/reference/protocol.schema.json").read_text()
    out = StringIO()
    call_command("protocol_schema", stdout=out)
    assert out.getvalue() == published, "manage.py protocol_schema > docs/reference/protocol.schema.json"
