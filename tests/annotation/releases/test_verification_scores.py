"""What rests on the attributes of a release's items, its scores and its decisions, is computed again from them."""

import json
from functools import partial
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.adjudication import decisions
from annotation.checks import gold_items
from annotation.checks.parsing import Known
from annotation.models import Kind
from annotation.releases.schema import JUDGMENTS
from annotation.releases.verification.verifying import verify
from annotation.simulation import crowd
from tests.annotation.releases.released import ONE, change_table, copied, exported, lines, mend, release
from tests.builders import declared
from tests.builders.pipelines import with_originals

pytestmark = pytest.mark.django_db(transaction=True)


def said(task, who) -> str:
    first, second = task.question.split("/")
    return "tie" if task.pk % 5 == 0 else first if task.pk % 3 else second


def test_strengths_are_those_of_the_models_that_the_items_name(tmp_path):
    stage = declared.judge(declared.study("preference", 8).stages.get(), 1, said)
    made = release(exported(with_originals(stage.study), tmp_path), tmp_path / "release", splits=ONE)
    assert verify(made).problems == []
    figures = json.loads((made / "figures.json").read_text())
    figures["stages"][0]["scores"]["strengths"][0]["rows"][0]["value"] += 0.01
    (made / "figures.json").write_text(json.dumps(figures))
    assert any("strengths/0/rows/0/value" in str(one) for one in verify(made).problems)


CHECKED = {
    "winnow": "protocol/1", "name": "checked", "title": "Questions", "ask": "What holds?", "instructions": "Look.",
    "item": {"images": {"picture": 2}, "lists": {"question": 3}, "attributes": ["parents"]},
    "tasks": {"each": {"shown": "images.picture"}}, "screen": [{"picture": "shown"}], "judgments": 1,
    "answers": [{"name": "ok", "kind": "check", "of": "lists.question", "parents": "parents"}],
    "decide": [{"answer": "ok", "rule": "mean", "at_least": 0.3, "below": "few"}],
    "measure": {"ok": {"score": "mean"}},
}  # fmt: skip
NO_YES = "no,yes,yes"


def test_decisions_by_a_check_know_what_its_questions_rest_on(tmp_path):
    """Of an item that is kept, one dropped by its parents alone, one adjudicated and one whose second task is open."""
    stage = declared.of_file(CHECKED, 4)
    for item in stage.study.benchmark.items.filter(position__gt=0):
        item.captions.filter(position__gt=1 if item.position == 3 else 0).update(attributes={"parents": [1]})
    declared.judge(stage, 1, lambda task, who: "" if task.item.position == 3 and task.question[-1] == "1" else NO_YES)
    task = stage.tasks.filter(item__position=2).first()
    decisions.decide(task=task, by="user:1", seen=decisions.seen(task), note="So it is.", answer=NO_YES)
    folder = exported(with_originals(stage.study), tmp_path)
    told = lines(folder / "tasks.jsonl")
    assert [one["state"] for one in told] == ["kept"] * 2 + ["dropped"] * 4 + ["kept", None]
    assert [rule["state"] for one in told for rule in one["rules"]] == ["kept"] * 2 + ["dropped"] * 4 + ["kept"]
    assert told[6]["outcome"] == "0.333333"
    made = release(folder, tmp_path / "release", splits=ONE)
    assert verify(made).problems == []
    for place in (folder, made):
        call_command("decide", export=place, items=True, json=True, stdout=(out := StringIO()))
        (found,) = json.loads(out.getvalue())["stages"].values()
        states = [one["state"] for name, one in found["decisions"].items() if not name.startswith("item-3")]
        assert states == ["kept"] * 2 + ["dropped"] * 4


BY_ITEM = {
    "winnow": "protocol/1", "name": "by-item", "title": "True of the picture", "ask": "Is it true?",
    "instructions": "Look.", "item": {"images": {"picture": 1}, "captions": {"caption": 1}},
    "screen": [{"picture": "picture"}, {"sentence": "caption"}], "judgments": 3,
    "answers": [{"name": "holds", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}],
    "decide": [{"answer": "holds", "rule": "at_least", "of": "right", "m": "2/3", "drop": {"else": "label_doubted"}}],
    "right": {"from": "label", "values": {"sí": "yes", "nò": "no"}}, "group": {"pairs": {"every": 2, "over": "type"}},
}  # fmt: skip


def test_right_answers_of_items_decide_and_are_counted_and_known_to_checks(tmp_path):
    """Of items labelled yes and no in turn. Everybody says yes; somebody says no to the first; the last stays open."""
    stage = declared.of_file(BY_ITEM, 6)
    assert [item.meta["label"] for item in stage.study.benchmark.items.order_by("position")][:3] == ["sí", "nò", "yes"]

    def given(task, who):
        return "" if task.item.position == 5 and who else "no" if (task.item.position, who) == (0, 2) else "yes"

    declared.judge(stage, 3, given)
    known = {item: Known() for item in declared.of_file(BY_ITEM, 2).study.benchmark.items.order_by("position")}
    checks = gold_items.set_known(stage=stage, kind=Kind.PRACTICE, known=known, by="test")
    assert [one.gold for one in checks] == [["yes"], ["no"]]
    tasks = [item.tasks.get() for item in stage.study.benchmark.items.order_by("position")[:2]]
    assert [crowd.truth_of(task, stage.protocol) for task in tasks] == [["yes"], ["no"]]
    folder = exported(with_originals(stage.study), tmp_path)
    made = release(folder, tmp_path / "release", splits=ONE)
    told = [(one["state"], one["reason"]) for one in lines(made / "tasks.jsonl") if one["kind"] == "judge"]
    assert told == [("kept", ""), ("dropped", "label_doubted")] * 2 + [("kept", ""), (None, None)]
    (figures,) = json.loads((made / "figures.json").read_text())["stages"]
    (one,) = figures["scores"]["answers"]
    assert (one["right"]["whole"]["value"], one["right"]["whole"]["n_judgments"]) == (8 / 16, 16)
    assert verify(made).problems == []
    for place in (folder, made):
        call_command("decide", export=place, items=True, json=True, stdout=(out := StringIO()))
        (found,) = json.loads(out.getvalue())["stages"].values()
        assert (found["kept"], found["dropped"], found["open"]) == (3, {"label_doubted": 2}, 1)


ASKED = {
    **BY_ITEM, "name": "asked", "judgments": 2, "group": {}, "right": {},
    "decide": [{"answer": "holds", "rule": "majority", "keep": ["yes"], "drop": {"no": "not_true"}, "tie": "drop"}],
    "answers": [{**BY_ITEM["answers"][0], "ask": "Is it true?"},
                {"name": "count", "ask": "How many?", "kind": "number", "most": 9,
                                      "when": {"item": {"level": ["1"]}}}],
}  # fmt: skip


def test_which_questions_an_item_is_asked_is_computed_again_whether_it_is_open_or_not(tmp_path):
    """Every other item is asked the second one; the last two lack a judgment."""
    stage = declared.of_file(ASKED, 4)
    for item in stage.study.benchmark.items.all():
        item.meta = {"level": item.position % 2}
        item.save()

    def given(task, who):
        return "" if who and task.item.position > 1 else "yes/2" if task.item.position % 2 else "yes/"

    declared.judge(stage, 2, given)
    made = release(exported(with_originals(stage.study), tmp_path), tmp_path / "release", splits=ONE)
    assert ["of_item" in task for task in lines(made / "tasks.jsonl")] == [False, False, True, True]
    assert verify(made).problems == []
    for position in (0, 2):
        folder = copied(made, tmp_path / str(position))
        change_table(folder / JUDGMENTS, partial(_say_more, position))
        mend(folder)
        assert any("'yes/2', which asked does not allow here" in problem for problem in verify(folder).problems)


def _say_more(position: int, rows: list[dict]) -> None:
    for row in rows:
        if row["position"] == position:
            row |= {"answer": "yes/2", "answers": '{"count": "2", "holds": "yes"}'}


def test_right_answers_and_groups_over_items_are_computed_again(tmp_path):
    stage = declared.judge(
        declared.of_file(BY_ITEM, 4), 3, lambda task, who: "no" if task.item.position == 1 else "yes"
    )
    made = release(exported(with_originals(stage.study), tmp_path), tmp_path / "release", splits=ONE)
    text = (made / "figures.json").read_text()
    (group,) = json.loads(text)["stages"][0]["scores"]["groups"]
    assert (group["whole"]["value"], group["whole"]["n_judgments"], group["chance"]) == (0.5, 2, 0.25)
    assert verify(made).problems == []
    for part, path in (("groups", "groups/0/whole/value"), ("answers", "answers/0/right/whole/value")):
        figures = json.loads(text)
        (one,) = figures["stages"][0]["scores"][part]
        one.get("right", one)["whole"]["value"] += 0.01
        (made / "figures.json").write_text(json.dumps(figures))
        assert any(path in str(problem) for problem in verify(made).problems)
