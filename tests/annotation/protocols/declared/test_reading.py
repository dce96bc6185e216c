"""Protocol files are read strictly: what is wrong is named with its line and what to do."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import jsonschema
import pytest
import yaml
from django.conf import settings
from django.core.management import call_command

from annotation.protocols.declared import library
from annotation.protocols.declared.reading import canonical
from annotation.protocols.declared.schema import json_schema
from tests.annotation.protocols.declared.files import PICK, changed, problems, read

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
    (("judgments", "three"), "WRONG_VALUE", "judgments", "whole number"),
    (("name", "Fits!"), "WRONG_VALUE", "name", "lower-case letters"),
    (("title", "x" * 61), "TOO_LONG", "title", "60 characters"),
    (("ask", "Two\nlines"), "WRONG_VALUE", "ask", "one line"),
    (("winnow", "protocol/2"), "WRONG_VERSION", "winnow", "protocol/1"),
    (("item", {}), "NO_ROLE", "item", "images"),
    (("item.captions.more", "3..2"), "WRONG_COUNT", "item.captions.more", "larger"),
    (("item.texts", {"positive": 1}), "ROLE_TWICE", "item.texts.positive", "captions"),
    (("screen.0.picture", "secne"), "UNKNOWN_ROLE", "screen.0.picture", "scene"),
    (("screen.0.picture", "positive"), "UNKNOWN_ROLE", "screen.0.picture", "scene"),
    (("screen.1", {"sentence": "more"}), "SEVERAL", "screen.1.sentence", "list"),
    (("screen.1", {"picture": "scene"}), "SHOWN_TWICE", "screen.1.picture", "already"),
    (("screen.1", {"sentence": "positive"}), "SHOWN_TWICE", "screen.1.sentence", "options"),
    (("tasks", EACH), "NOT_SHOWN", "tasks", "sentence"),
    (("tasks", {"each": {"x": ["images.scene", "captions.more"]}}), "MIXED_ROLES", "tasks", "x"),
    (("tasks", {"each": dict.fromkeys("abcdef", "images.scene")}), "TOO_LONG", "tasks.each", "at most 5"),
    (("tasks", PAIRS), "PAIR_NOT_ASKED", "tasks.pairs", "of: pair"),
    (("tasks", {"pairs": "images.scene"}), "PAIR_OF_ONE", "tasks.pairs", "two"),
    (("tasks", {**PAIRS, "design": "balanced"}), "WRONG_DESIGN", "tasks.design", "per_item"),
    (("answers.0.of", ["captions.positive", "captions.foil"]), "UNKNOWN_ROLE", "answers.0.of", "captions.negative"),
    (("answers.0.of", ["captions.positive", "images.scene"]), "MIXED_ROLES", "answers.0.of", "all pictures"),
    (("answers.0.of", ["captions.more"]), "TOO_MANY_OPTIONS", "answers.0.of", "at most 9"),
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
    (("answers.1.points", 11), "WRONG_VALUE", "answers.1.points", "at most 10"),
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
    (
        ("decide.0", {"answer": "fit", "rule": "unanimous", "keep": ["positive"], "drop": TWO_DROPS}),
        "DROP_NOT_TOTAL", "decide.0.drop", "else",
    ),
    (("measure", {"fit": {"agreement": "ordinal"}}), "AGREEMENT_DOES_NOT_FIT", "measure.fit.agreement", "nominal"),
    (("measure", {"fit": {"views": {"v": {"both": "x"}}}}), "VIEW_NOT_TOTAL", "measure.fit.views.v", "negative"),
    (("measure", {"fit": {"score": "mean"}}), "BOUND_ON_NOMINAL", "measure.fit.score", "mean"),
    (("measure", {"fits": {}}), "UNKNOWN_ANSWER", "measure.fits", "fit"),
    (("right", {"fit": "postive"}), "UNKNOWN_VALUE", "right.fit", "positive"),
    (("right", {"fit": {"x": "positive"}}), "UNKNOWN_TASK", "right.fit.x", "none"),
    (("group", {"all": ["picture"]}), "NO_RIGHT_ANSWER", "group", "right"),
    (("group", {"text": {"compare": "both", "within": ["scene"]}}), "WRONG_DESIGN", "group.text", "each"),
    (("scores", {"all": {"geometric_mean": ["sure", "fit"]}}), "BOUND_ON_NOMINAL", "scores.all.geometric_mean.1",
     "no number"),
    (("scores", {"sure": {"geometric_mean": ["sure", "sure"]}}), "VALUE_TWICE", "scores.sure", "another name"),
    (("carry", {"images.scene": "fitt"}), "UNKNOWN_ANSWER", "carry.images.scene", "fit"),
    (("carry", {"images.scene": "fit"}), "CARRY_DOES_NOT_FIT", "carry.images.scene", "chooses no image"),
    (("carry", {"texts.told": "fit"}), "CARRY_DOES_NOT_FIT", "carry.texts.told", "text or edit"),
]  # fmt: skip


def keys_to(path: str) -> list[str]:
    return (
        [path.removeprefix("carry.")]
        if path.startswith("carry.")
        else [step for step in path.split(".") if step != "all"]
    )


def test_mean_ranks_go_over_an_attribute_of_the_item():
    order = {"name": "order", "kind": "rank", "of": ["captions.positive", "captions.negative"]}
    rule = {"answer": "order", "rule": "mean_rank", "over": "maker"}
    (found,) = problems(changed(("answers", [order]), ("decide", [rule])))
    assert (found.code, found.column) == ("UNKNOWN_ATTRIBUTE", "decide.0.over") and "model" in found.advice


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
        ("winnow: protocol/1\nitem: &a {b: *a}\n", "NOT_YAML", None),
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
    ],
)
def test_yaml_that_cannot_be_read_gets_advice_in_words(before, after, advice):
    text = yaml.safe_dump(PICK, sort_keys=False)
    assert before in text
    [found] = problems(text.replace(before, after, 1))
    assert found.code == "NOT_YAML" and advice in found.advice and found.row


def test_yes_and_no_are_words_and_numbers_may_be_values():
    yes_or_no = {"yes": "Yes", "no": "No"}
    text = yaml.safe_dump(changed(("answers.0", {**PICK["answers"][0], "of": [], "fixed": yes_or_no}), ("decide", []),
                                  ("answers.1.when", {"fit": ["no"]}), ("answers.1.anchors", {3: "Very"})))  # fmt: skip
    assert problems(text.replace("'yes'", "yes").replace("'no'", "no")) == []


def test_the_same_protocol_has_the_same_bytes_however_it_is_written():
    backwards = dict(reversed(PICK.items()))
    assert canonical(read(PICK)) == canonical(read(backwards)) == canonical(read(json.loads(canonical(read(PICK)))))
    assert canonical(read(PICK)) != canonical(read(changed(("judgments", 2))))


def objects(schema: object) -> Iterator[dict]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_the_json_schema_takes_what_we_take_and_allows_no_further_keys():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    free = [one for one in objects(schema) if one.get("additionalProperties") is not False]
    assert all("properties" not in one and "patternProperties" not in one for one in free)
    check = jsonschema.Draft202012Validator(schema).is_valid
    assert check(PICK) and not check(changed(("scren", []))) and not check(changed(("answers.0.fixd", {})))
    assert all(check(json.loads(canonical(library.shipped(name)))) for name in library.names())


def test_the_published_schema_is_that_of_the_types():
    published = Path(settings.BASE_DIR, "docs/reference/protocol.schema.json").read_text()
    out = StringIO()
    call_command("protocol_schema", stdout=out)
    assert out.getvalue() == published, "manage.py protocol_schema > docs/reference/protocol.schema.json"
