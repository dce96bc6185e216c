"""A corrected and a withdrawn item in the middle of a study of three stages: its release, the next one, the diff."""

import json
from pathlib import Path

import pytest
from django.test import override_settings

from annotation.designs.plan import StagePlan
from annotation.exports.export import export_split
from annotation.models import Judgment, Task
from annotation.releases import build, splitting
from annotation.releases.archive_reader import ReleaseFiles
from annotation.releases.compare import compare
from annotation.releases.compare_wording import sentences
from annotation.releases.plan import PUBLIC, Plan
from annotation.releases.verification.verifying import verify
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Action
from tests.annotation.pipeline.test_new_rounds import answer, keys, labels, sit, stages
from tests.annotation.releases.released import copied
from tests.builders import studies
from tests.builders.pipelines import with_originals
from tests.made_once import made_once

pytestmark = pytest.mark.django_db(transaction=True)
NEGATIVE = "caption-negative-0"
STAGES = [
    StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
    StagePlan("bivlc-disambiguate", name="fits", source="choose"),
    StagePlan("verify", name="true", source="fits", settings={"overlap": 1}),
]


def judge(study, **said: str) -> None:
    choose, fits, true = stages(study)
    answer(studies.annotator(study), choose, dict.fromkeys(keys(study), "candidate-1") | said)
    answer(sit(studies.annotator(study), fits), fits, dict.fromkeys(keys(study), "positive-0"))
    answer(sit(studies.annotator(study), true), true, dict.fromkeys(keys(study), "yes"))


def released(study, folder: Path, version: str) -> Path:
    export_split(study=study, out=folder / f"export-{version}", by="test")
    out = folder / version
    out.mkdir()
    build.build(folder / f"export-{version}", Plan("cups", version, public=PUBLIC), out, splitting.Earlier())
    report = verify(out)
    assert report.good, report.problems[:5]
    return out


def change(study, item: int, action: Action, place: str = "", new: str = "", reason: str = "A wrong word.") -> None:
    asked = Change(item=keys(study)[item], action=action, place=place, new=new, reason=reason)
    correct(benchmark=study.benchmark, changes=[asked], by="test")


def lines(folder: Path, name: str) -> list[dict]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def test_the_next_version_tells_what_was_corrected_and_withdrawn(tmp_path):
    study = with_originals(studies.study(items=4, stages=STAGES))
    judge(study)
    first = released(study, tmp_path, "1.0")
    before = {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}
    given = list(Judgment.objects.order_by("pk").values())
    change(study, 0, Action.CAPTION, NEGATIVE, "A blue cup and a red bowl.")
    change(study, 1, Action.WITHDRAW, reason="It shows a person.")
    change(study, 2, Action.CAPTION, NEGATIVE, "A blue cup and a red saucer.", "Not a plate.")
    judge(study, **{keys(study)[2]: ""})
    assert labels(study) == [["kept", "", "open", "kept"], ["kept", "", "", "kept"], ["kept", "", "", "kept"]]
    second = released(study, tmp_path, "1.1")
    assert before == {path: path.read_bytes() for path in first.rglob("*") if path.is_file()}

    items = {line["id"]: line for line in lines(second, "items.jsonl")}
    assert list(items) == [keys(study)[0], keys(study)[3]]
    [words] = [one["text"] for one in items[keys(study)[0]]["captions"] if one["role"] == "negative"]
    assert words == "A blue cup and a red bowl."
    [gone] = lines(second, "dropped.jsonl")
    assert (gone["id"], gone["reason"], gone["captions"], gone["images"]) == (keys(study)[1], "withdrawn", [], [])
    listed = [(line["item"], line["action"], line["reason"]) for line in lines(second, "corrections.jsonl")]
    assert listed == [
        (keys(study)[0], "caption", "A wrong word."),
        (keys(study)[1], "withdraw", "It shows a person."),
        (keys(study)[2], "caption", "Not a plate."),
    ]
    old = [task for task in lines(second, "tasks.jsonl") if task["corrected"]]
    assert {task["texts"][NEGATIVE] for task in old if NEGATIVE in task["texts"]} == {
        "A blue cup and a red plate, 0.",
        "A blue cup and a red plate, 2.",
    }
    assert list(Judgment.objects.order_by("pk").values())[: len(given)] == given
    assert not any(task["live"] for task in old)
    assert Task.objects.filter(corrected__isnull=False).count() == len(old)

    found = compare(ReleaseFiles(first), ReleaseFiles(second))
    reasons = {
        one["id"]: (group, one["reasons"][0]["code"], one["reasons"][0]["why"])
        for group, listed in found["items"].items()
        for one in listed
    }
    assert reasons == {
        keys(study)[0]: ("changed", "corrected", "A wrong word."),
        keys(study)[1]: ("dropped", "withdrawn", "It shows a person."),
        keys(study)[2]: ("dropped", "corrected", "Not a plate."),
    }
    text = "\n".join(sentences(found))
    assert "withdrawn (It shows a person.)" in text and "→ “A blue cup and a red bowl.”: A wrong word." in text


@pytest.mark.parametrize(
    "file, old, new",
    [
        ("corrections.jsonl", '"A blue cup and a red bowl."', '"Something else."'),
        ("corrections.jsonl", '"withdraw"', '"restore"'),
        ("tasks.jsonl", '"corrected": null', '"corrected": 1'),
        ("dropped.jsonl", '"withdrawn"', '"no_image_fits"'),
    ],
)
def test_a_release_that_says_otherwise_is_not_verified(corrected, tmp_path, file, old, new):
    made = copied(corrected, tmp_path / "release")
    text = (made / file).read_text()
    assert old in text
    (made / file).write_text(text.replace(old, new, 1))
    assert not verify(made).good


@pytest.fixture
def corrected() -> Path:
    """One with a corrected and a withdrawn item, made once."""

    def make(folder: Path) -> None:
        with override_settings(VAR=folder, MEDIA_ROOT=folder / "media"):
            study = with_originals(studies.study(items=3, stages=STAGES))
            judge(study)
            change(study, 0, Action.CAPTION, NEGATIVE, "A blue cup and a red bowl.")
            change(study, 1, Action.WITHDRAW)
            judge(study)
            released(study, folder, "1.0")

    return made_once("corrected", make) / "1.0"
