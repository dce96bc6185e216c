"""`try_protocol` says what a file would do, so that a person or a program can mend it; it stores nothing."""

import json
import time
from io import StringIO

import pytest
import yaml
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.management.commands import try_protocol
from annotation.protocol_files import rehearsal
from annotation.protocols import answers, library
from benchmarks.models import Caption, ItemImage
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db
FOIL = library.text_of("image-caption-foil")


def tried(given, *options) -> tuple[dict, str]:
    """The JSON, and how the command ends: "" or the error."""
    out = StringIO()
    try:
        call_command("try_protocol", str(given), "--json", *options, stdout=out)
    except CommandError as error:
        return json.loads(out.getvalue()), str(error)
    return json.loads(out.getvalue()), ""


@pytest.mark.parametrize("name", declared.SAMPLED)
def test_every_protocol_of_the_library_passes_on_made_up_items(name):
    found, ended = tried(name, "--items", "2")
    assert (ended, found["problems"], found["unreachable"], found["unsuitable"]["items"]) == ("", [], [], 0)
    assert found["items"] == 2 and found["screens_rendered"] == found["tasks"] > 0 and found["answers_walked"] > 0
    crowd = found["crowd"]
    assert crowd["kept"] + sum(crowd["dropped"].values()) + crowd["open"] == found["tasks"]
    assert crowd["judgments"] == found["tasks"] * library.shipped(name).judgments


def test_real_items_are_rendered_and_nothing_is_written():
    benchmark = declared.benchmark(library.shipped("image-caption-foil"), items=3)
    with CaptureQueriesContext(connection) as asked:
        found, ended = tried("image-caption-foil", "--benchmark", benchmark.name)
    assert [query["sql"] for query in asked if not query["sql"].lstrip().startswith("SELECT")] == []
    assert ended == "" and (found["benchmark"], found["items"], found["screens_rendered"]) == (benchmark.name, 3, 3)
    assert found["answers_walked"] == 12 and found["all_answers_walked"] and found["agreement"]["fit"]["n_items"] == 3
    assert tried("image-caption-foil", "--benchmark", benchmark.name) == (found, ended), "it is the same every time"


def test_a_mistake_ends_it_with_line_key_and_advice(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(FOIL.replace("kind: pick", "kind: pik").replace("m: 2", "m: two"))
    found, ended = tried(path)
    assert ended == "2 problems." and found["protocol"] is None
    assert [(one["code"], one["line"], one["key"]) for one in found["problems"]] == [
        ("WRONG_VALUE", 24, "answers.0.kind"),
        ("WRONG_VALUE", 34, "decide.0.m"),
    ]
    assert "pick, scale" in found["problems"][0]["advice"]


def test_items_that_do_not_suit_are_a_problem(tmp_path):
    mixed = declared.benchmark(library.shipped("image-caption-foil"), items=1)
    for item in studies.benchmark(items=2, candidates=0).items.all():
        item.benchmark, item.key, item.position = mixed, f"more-{item.pk}", item.pk
        item.captions.filter(role="negative").delete()
        item.save()
    found, ended = tried("image-caption-foil", "--benchmark", mixed.name)
    assert ended == "1 problem." and found["problems"][0]["code"] == "UNSUITABLE_ITEMS" and found["items"] == 1
    [reason] = found["unsuitable"]["reasons"]
    assert (reason["needs"], reason["items"]) == ("1 hard negative per item; it has none", 2)
    assert "more-" in reason["example"]


def test_a_screen_that_no_browser_can_paint_is_a_problem(monkeypatch):
    monkeypatch.setattr(rehearsal, "_rendered", lambda *_: '<fieldset class="screen" data-lease="1"></fieldset>')
    [problem] = tried("image-caption-foil")[0]["problems"]
    assert problem["code"] == "NOT_PAINTED" and "item made-up-0: it has no heading" in problem["advice"]


def test_a_check_of_an_empty_list_asks_nothing(tmp_path):
    path = tmp_path / "mine.yaml"
    data = yaml.safe_load(FOIL)
    data["item"]["lists"] = {"fact": "0.."}
    data["answers"][0]["ask"] = "Which?"
    data["answers"].append({"name": "facts", "ask": "Which hold?", "kind": "check", "of": "lists.fact"})
    path.write_text(yaml.safe_dump(data))
    assert tried(path)[0]["problems"] == []
    data["answers"], data["decide"], data["measure"], data["right"] = data["answers"][1:], [], {}, {}
    path.write_text(yaml.safe_dump(data))
    assert [one["code"] for one in tried(path)[0]["problems"]] == ["NOTHING_ASKED"]


def test_an_attribute_that_no_item_has_is_a_problem():
    benchmark = declared.benchmark(library.shipped("preference"), items=2)
    for parts in (Caption, ItemImage):
        parts.objects.update(attributes={})
    found, ended = tried("preference", "--benchmark", benchmark.name, "--items", "2")
    assert ended == "1 problem." and found["problems"][0]["code"] == "NO_ATTRIBUTE"
    assert "model" in found["problems"][0]["advice"]


def test_an_attribute_that_no_rule_needs_is_a_note_and_roles_can_be_mapped():
    benchmark = declared.benchmark(library.shipped("prompt-fit"), items=2)
    ItemImage.objects.update(attributes={}, role="scene")
    found, ended = tried("prompt-fit", "--benchmark", benchmark.name, "--roles", "picture=scene")
    assert not ended and not found["problems"] and found["notes"][0]["attribute"] == "model"
    assert found["tasks"] == found["screens_rendered"] == 2


SECOND = """
  - answer: fit
    rule: unanimous
    drop: {positive: never, negative: x, both: y, neither: z, else: w}
""".strip("\n")
ALL_DROPPED = FOIL[: FOIL.index("decide:")] + "decide:\n" + SECOND + FOIL[FOIL.index("\nmeasure:") :]


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        (FOIL, {}),
        (FOIL.replace("judgments: 3", "judgments: 1").replace("m: 2", "m: 1"), {"no_agreement": "else: no_agreement"}),
        (ALL_DROPPED, {"kept": "- answer: fit"}),
    ],
)
def test_outcomes_that_no_answers_lead_to_are_named(tmp_path, text, outcomes):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    found, ended = tried(path)
    lines = text.splitlines()
    assert ended == "" and {one["outcome"]: lines[one["line"] - 1].strip() for one in found["unreachable"]} == outcomes


def test_a_question_that_no_item_is_asked_is_named(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        FOIL.replace(
            "judgments: 3",
            """\
  - {name: more, ask: What else, kind: scale, points: 3, when: {item: {type: [counting]}}}
judgments: 3""",
        ).replace("  - name: fit\n", "  - name: fit\n    ask: Which?\n")
    )
    assert tried(path)[0]["unreachable"] == [], "every second made-up item is one"
    found, ended = tried(path, "--benchmark", declared.benchmark(library.shipped("image-caption-foil")).name)
    assert ended == "" and [(one["outcome"], one["key"]) for one in found["unreachable"]] == [
        ("more", "answers.1.when")
    ]


SENTENCES = {"winnow": "protocol/1", "name": "much", "title": "Much", "instructions": "Answer.", "ask": "How much?"}
SCALE = {"name": "fit", "kind": "scale", "points": 5}


def of_roles(count: str, names: str, answers: list[dict], judgments: int = 1, roles: int = 3) -> dict:
    """A task for each combination of members: of as many roles as there are names."""
    captions = {f"r{place}": count for place in range(roles)}
    each = {name: [f"captions.{role}" for role in captions] for name in names}
    return {**SENTENCES, "item": {"captions": captions}, "tasks": {"each": each}, "judgments": judgments,
            "screen": [{"sentence": name} for name in names], "answers": answers}  # fmt: skip


TWELVE = [{**SCALE, "name": f"fit{place}", "ask": "How much?"} for place in range(12)]
BETTER = [{"name": "better", "kind": "pair", "of": "pair"}]
PAIRED = {"item": {"captions": {"one": 200}}, "answers": BETTER, "judgments": 99}
MARKS = {"name": "words", "kind": "words", "of": "text", "marks": {"wrong": "Wrong"}}
ROWS = {f"row{place}": {"text": "captions.one"} for place in range(100)}
LARGE = {
    "names": of_roles("1", "abcde", TWELVE, 99),
    "pairs": {**SENTENCES, **PAIRED, "tasks": {"pairs": "captions.one", "design": "balanced", "per_item": 200}},
    "rows": {**SENTENCES, "item": {"captions": {"one": 1}}, "tasks": {"rows": ROWS}, "answers": [MARKS],
             "judgments": 99},
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_a_small_file_makes_no_more_work_than_some_seconds(tmp_path, name):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(LARGE[name]))
    started = time.process_time()
    found, ended = tried(path, "--items", "3")
    assert ended == "" and found["tasks_left_out"] > found["tasks"] > 0
    assert found["crowd"]["judgments"] == found["tasks"] * 99
    assert time.process_time() - started < 8  # 1 s to 3 s where this was written; all tasks take up to 3 minutes
    assert f"of which {found['tasks']} are tried" in try_protocol.written(found)


@pytest.mark.parametrize("count", ["1..", "0..", "0..1"])
def test_items_are_made_up_that_suit(tmp_path, count):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(of_roles(count, "abc", [SCALE])))
    found, ended = tried(path, "--items", "2")
    assert (ended, found["items"], found["unsuitable"]["items"]) == ("", 2, 0)


def test_that_no_made_up_item_suits_is_said(tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(of_roles("0..1", "abcde", [SCALE], roles=9)))
    found, ended = tried(path, "--items", "2")
    assert ended and {one["code"] for one in found["problems"]} == {"UNSUITABLE_ITEMS"}


def test_an_answer_that_does_not_come_back_is_a_problem(monkeypatch):
    fill = answers.fill
    swapped = {"positive": "negative", "negative": "positive"}

    def wrong(protocol, answer, shown):
        return fill(protocol, type(answer)(swapped.get(answer.label, answer.label)), shown)

    monkeypatch.setattr(rehearsal.answers, "fill", wrong)
    found, ended = tried("image-caption-foil", "--items", "1")
    assert {one["code"] for one in found["problems"]} == {"ANSWER_LOST"} and ended


def test_it_reads_versions_and_says_all_in_words(capsys):
    declared.published("verify")
    call_command("try_protocol", "verify@1", "--items", "2")
    said = capsys.readouterr().out
    assert "2 items make 3 tasks; 3 screens rendered" in said and "9 answers walked through (all)" in said
    assert tried("verify@2")[0]["problems"][0]["code"] == "NO_SUCH_PROTOCOL"
    assert tried("nothing")[0]["problems"][0]["code"] == "NO_SUCH_PROTOCOL"
    with pytest.raises(CommandError, match="at least 1"):
        call_command("try_protocol", "verify", "--items", "0")
    with pytest.raises(CommandError, match="no benchmark"):
        call_command("try_protocol", "verify", "--benchmark", "x")
