"""Two versions of a study that went on between them: what differs is told by name and version, and goes to a hub."""

import json

import pytest
from django.core.management import CommandError, call_command
from huggingface_hub import constants

from annotation.models import Study, Task
from annotation.participants import lifecycle as participant_lifecycle
from annotation.releases.verification.differences import differences
from annotation.releases.verification.verifying import verify
from tests.annotation.releases.hub_stand_in import TOKEN, StandIn
from tests.builders import crowds, pipelines, studies
from tests.independent.recomputed import figures, recompute

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def small() -> Study:
    return pipelines.with_originals(crowds.stage(items=6).study)


def released(study: Study, version: str) -> None:
    call_command("create_release", study.name, f"cats@{version}")


def test_items_that_a_sample_left_out_are_told_from_those_that_people_dropped(capsys, tmp_path):
    stage = studies.stage(benchmark=studies.benchmark(6, candidates=2), overlap=1, sample=2)
    for answer in ("candidate-0", "none"):
        studies.judgment(studies.annotator(stage.study), stage, answer)
    call_command("create_release", pipelines.with_originals(stage.study).name, "cats@1.0", out=tmp_path / "cats")
    assert "1 kept + 1 dropped + 4 not asked about + 0 open = 6 imported" in capsys.readouterr().out
    rows = {name: (tmp_path / "cats" / f"{name}.jsonl").read_text().splitlines() for name in ("dropped", "not_asked")}
    assert [len(rows["dropped"]), len(rows["not_asked"])] == [1, 4]
    assert {json.loads(row)["reason"] for row in rows["not_asked"]} == {"not_sampled"}
    for name in ("README.md", "data_statement.md"):
        assert "Nobody was asked about 4 more." in (tmp_path / "cats" / name).read_text()
    assert verify(tmp_path / "cats").problems == []
    assert differences(recompute(tmp_path / "cats"), figures(tmp_path / "cats")) == []


def test_what_happened_between_two_versions_is_told(capsys):
    study = pipelines.pipeline()
    fits, first = study.stages.get(name="fits"), study.annotators.get(number=1)
    released(study, "1.0")
    slots = first.slots.filter(judgment__isnull=False, task__kind="judge").select_related("task__item", "stage")
    judged = {slot.task.item.key for slot in slots}
    chose = [slot.task.item_id for slot in slots if slot.stage.name == "choose"]
    adjudicated = Task.objects.filter(stage=fits, live=True, decided__state="dropped").exclude(item__in=chose).first()
    pipelines.adjudicate(adjudicated, fits, "positive-0")
    participant_lifecycle.exclude(annotator=first, reason="Clicked at random", by="test")
    released(study, "1.1")
    capsys.readouterr()
    call_command("diff_release", "cats@1.0", "cats@1.1", "--json")
    found = json.loads(capsys.readouterr().out)
    told = {one["id"]: one for group in found["items"].values() for one in group}
    (added,) = found["items"]["added"]
    assert (added["id"], added["reasons"][0]["code"]) == (adjudicated.item.key, "adjudication")
    excluded = {key for key, one in told.items() if one["reasons"][0]["code"] == "exclusion"}
    assert excluded and excluded <= judged and found["items"]["dropped"]
    assert [one["annotator"] for one in found["setup"]["exclusions"]["added"]] == ["A-01"]
    codes = {row["code"] for rows in found["reasons"].values() for row in rows}
    assert codes <= {"exclusion", "adjudication"}, codes


def test_the_same_state_twice_differs_in_nothing_but_the_version_and_goes_to_the_hub(small, capsys, monkeypatch):
    released(small, "1.0")
    released(small, "1.1")
    capsys.readouterr()
    call_command("diff_release", "cats@1.0", "cats@1.1")
    assert "Identical except for name and version" in capsys.readouterr().out
    call_command("diff_release", "cats@1.0", "cats@1.0")
    assert capsys.readouterr().out == "cats 1.0 → cats 1.0\nNothing differs.\n"
    with pytest.raises(CommandError, match=r"The releases are cats@1\.1, cats@1\.0"):
        call_command("diff_release", "cats@1.0", "cats@2.0")
    stand_in = StandIn()
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_ENDPOINT", stand_in.address)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    call_command("push_release", "cats@1.0", "--to", "lab/cats", "--yes")
    files = stand_in.repos["lab/cats"].files("1.0")
    assert json.loads(files["manifest.json"])["content"] == small.releases.get(version="1.0").content
    stand_in.close()
