"""A release is made by its job, frozen when all of it is there, and never before; commands say what they did."""

import errno
import json
import subprocess
import zipfile
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from annotation import tasks
from annotation.designs.plan import StagePlan
from annotation.exports import export as exports_export
from annotation.exports.files import content_hash, files_below
from annotation.models import Judgment, Outcome, Release, Study
from annotation.participants import lifecycle as participant_lifecycle
from annotation.releases import lifecycle as release_lifecycle
from annotation.releases.lifecycle import CannotFreeze
from annotation.releases.plan import FORMS, Plan
from benchmarks.models import Event, Job
from benchmarks.storage.files import Unavailable
from tests.annotation.participants.test_races import together
from tests.builders import crowds, pipelines, releases, studies

pytestmark = pytest.mark.django_db(transaction=True)
WORDS = {"summary": "Cups: “red” & <blue>.", "licence": "CC-BY-4.0", "demographics": ""}


@pytest.fixture
def study() -> Study:
    """Whose items share no image."""
    return pipelines.with_originals(crowds.stage(benchmark=studies.benchmark(12), people=4, overlap=3).study)


def freeze(study: Study, version: str = "1.0", **plan) -> Release:
    release = release_lifecycle.freeze(study=study, plan=Plan("cups", version, **plan), by="test")
    tasks.run_release.delay(release.job_id)
    release.refresh_from_db()
    return release


def test_it_is_frozen_whole(study, eager_tasks, tmp_path):
    release = freeze(study, forms=FORMS, words=WORDS)
    assert release.frozen_at and release.job.state == "done"
    with default_storage.open(release.file) as file, zipfile.ZipFile(file) as archive:
        names = [name.removeprefix("cups-1.0/") for name in archive.namelist()]
    with release_lifecycle.open_release(release) as files:
        manifest = files.manifest
        assert sorted(names) == files.names() and set(manifest["files"]) == set(names) - {"manifest.json"}
        assert release.content == manifest["content"] == content_hash(manifest["files"])
        assert manifest["release"]["words"] == {"summary": "Cups: “red” & <blue>.", "licence": "CC-BY-4.0"}
        assert release.summary["counts"] == manifest["counts"]
        assert sum(split["items"] for split in release.summary["splits"].values()) == manifest["counts"]["kept"]
        assert len(list(files.lines("items.jsonl"))) == manifest["counts"]["kept"]
        with files.open("judgments.parquet") as file:
            columns = pq.read_schema(file).names
        sets = {one["name"]: one for one in json.loads(files.read("croissant.json"))["recordSet"]}
        assert {field["name"] for field in sets["judgments"]["field"]} == set(columns)
    assert release.summary["files"] == len(names)
    assert [event.verb for event in Event.objects.filter(subject=f"release:{release.pk}").order_by("pk")] == [
        "asked for",
        "froze",
    ]
    sha256sum_makes_the_content_hash_which_stands_for_the_settings(release, tmp_path / "out")


def test_who_ordered_a_release_has_frozen_it(study, eager_tasks, django_user_model):
    user = django_user_model.objects.create_user("ana")
    plan = Plan("cups", "1.0")
    release = release_lifecycle.freeze(study=study, plan=plan, by=f"user:{user.pk}", created_by=user)
    tasks.run_release.delay(release.job_id)
    assert Event.objects.get(verb="froze").by == f"user:{user.pk}"


def sha256sum_makes_the_content_hash_which_stands_for_the_settings(release: Release, folder: Path) -> None:
    release_lifecycle.unpack(release, folder)
    line = "find . -type f ! -name manifest.json -printf '%P\\n' | LC_ALL=C sort | xargs -d '\\n' sha256sum | sha256sum"
    assert line in (settings.BASE_DIR / "docs/guide/releases.md").read_text()
    printed = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, check=True)
    assert printed.stdout.split()[0] == release.content
    manifest, written = (json.loads((folder / name).read_text()) for name in ("manifest.json", "release.json"))
    assert written == {name: part for name, part in manifest.items() if name not in ("files", "content")}
    assert "release.json" in manifest["files"] and written["stages"][0]["instructions"]


def test_what_a_reader_must_know_is_in_the_manifest_and_on_the_card(study, eager_tasks, monkeypatch):
    warned = SimpleNamespace(warnings=["A blind model answers it."])
    monkeypatch.setattr(exports_export.warning, "blindness_of", lambda benchmark, whole: warned)
    out = study.annotators.first()
    participant_lifecycle.exclude(annotator=out, reason="Answered at random", by="test")
    with release_lifecycle.open_release(freeze(study, forms=["source"])) as files:
        card = files.read("README.md").decode()
        assert files.manifest["warnings"] == warned.warnings and "A blind model answers it." in card
        assert "jsonl, which Winnow cannot write" in files.manifest["no_source"] and "There is no `source/`" in card
        (excluded,) = files.manifest["exclusions"]
        given = Judgment.objects.filter(lease__annotator=out).count()
        assert excluded == {"annotator": "A-01", "reason": "Answered at random", "judgments": given}


def test_the_plan_is_checked_before_anything_is_made():
    study = studies.study(items=1)
    with pytest.raises(CannotFreeze) as refused:
        release_lifecycle.freeze(
            study=study, plan=Plan("my cups", "١.٠", splits={"train": 99}, forms=["paper"]), by="test"
        )
    assert set(refused.value.problems) == {"name", "version", "splits", "forms"}
    with pytest.raises(CannotFreeze, match="no stage 7"):
        release_lifecycle.freeze(study=study, plan=Plan("cups", "1.0", stages=[1, 7]), by="test")
    assert not Release.objects.exists() and not Job.objects.exists()


def test_a_version_is_given_once_and_a_name_to_one_study():
    study = studies.study(items=1)
    release_lifecycle.freeze(study=study, plan=Plan("cups", "1.0"), by="test")
    with pytest.raises(CannotFreeze, match=r"already a cups 1\.0"):
        release_lifecycle.freeze(study=study, plan=Plan("cups", "1.0"), by="test")
    for name in ("cups", "Cups"):
        with pytest.raises(CannotFreeze, match="Another study has releases with this name"):
            release_lifecycle.freeze(study=studies.study(), plan=Plan(name, "2.0"), by="test")
    with pytest.raises(CannotFreeze, match=r"^cups 1\.0 differs only in capitals"):
        release_lifecycle.freeze(study=study, plan=Plan("CUPS", "2.0"), by="test")
    assert Release.objects.count() == 1


def test_what_failed_says_why_and_can_be_tried_again(study, eager_tasks, monkeypatch):
    full, down = OSError(errno.ENOSPC, "No space left on device"), Unavailable("The object storage does not answer.")
    with storage_fails(monkeypatch, full):
        release = freeze(study)
    assert release.frozen_at is None and not release.file
    assert (release.job.state, release.job.problems[0]["code"]) == ("failed", "STORAGE_FULL")
    job = release_lifecycle.try_again(release=release, by="test")
    with pytest.raises(CannotFreeze, match="being built"):
        release_lifecycle.discard(release=release, by="test")
    with storage_fails(monkeypatch, down):
        tasks.run_release.delay(job.pk)
    job.refresh_from_db()
    assert job.problems[0]["code"] == "STORAGE_UNAVAILABLE"
    tasks.run_release.delay(release_lifecycle.try_again(release=release, by="test").pk)
    release.refresh_from_db()
    assert release.frozen_at and default_storage.exists(release.file)
    for verb in (release_lifecycle.try_again, release_lifecycle.discard):
        with pytest.raises(CannotFreeze, match="is frozen and cannot change"):
            verb(release=release, by="test")


@contextmanager
def storage_fails(monkeypatch, error: Exception):
    def fail(*more):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(default_storage, "save", fail)
        yield


def test_there_is_no_release_with_an_empty_split(eager_tasks):
    release = freeze(studies.study(items=2), splits={"train": 50, "test": 50})
    assert release.job.problems[0]["code"] == "CANNOT_RELEASE"
    assert release.job.problems[0]["advice"].startswith("train and test would be empty: there are 0 kept items")


def test_some_stages_alone_are_a_release_of_what_they_kept(eager_tasks):
    stages = [
        StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
        StagePlan("bivlc-disambiguate", name="fits", source="choose", apart_from=[]),
    ]
    study = studies.study(benchmark=crowds.benchmark(10), stages=stages)
    crowds.work(pipelines.with_originals(study), people=3, undone=0, close=True)
    whole, part = freeze(study), freeze(study, "1.1", stages=[1])
    assert part.summary["counts"]["kept"] > whole.summary["counts"]["kept"]
    with release_lifecycle.open_release(part) as files:
        assert [stage["name"] for stage in files.manifest["stages"]] == ["choose"]
        assert {line["stage"] for line in files.lines("tasks.jsonl")} == {"choose"}
        assert {one["stage"] for line in files.lines("items.jsonl") for one in line["decisions"]} == {"choose"}
    with pytest.raises(CannotFreeze, match="fits depends on choose"):
        freeze(study, "1.2", stages=[2])


def test_a_later_version_keeps_items_in_their_splits(study, eager_tasks):
    """Also those that a version between did not have."""
    shares = {"train": 50, "test": 50}
    before = splits_of(freeze(study, splits=shares, seed=1))
    away = {key for split in shares for key in sorted(key for key in before if before[key] == split)[1:]}
    outcomes = list(Outcome.objects.filter(task__item__key__in=away, task__stage__study=study))
    Outcome.objects.filter(task__in=[outcome.task_id for outcome in outcomes]).delete()
    between = splits_of(freeze(study, "1.1", splits=shares, seed=2))
    assert len(between) == 2 < len(before) and between.items() <= before.items()
    Outcome.objects.bulk_create(outcomes)
    last = freeze(study, "1.2", splits=shares, seed=3)
    assert splits_of(last) == before
    with release_lifecycle.open_release(last) as files:
        assert files.manifest["moved"] == {}


def splits_of(release: Release) -> dict[str, str]:
    with release_lifecycle.open_release(release) as files:
        return {line["id"]: line["split"] for line in files.lines("items.jsonl")}


def test_by_command(study, tmp_path, capsys):
    words = tmp_path / "words.json"
    words.write_text(json.dumps(WORDS))
    given = {"splits": ["train=50", "test=50"], "words": words, "out": tmp_path / "out"}
    call_command("create_release", study.name, "cups@1.0", **given)
    assert "cups 1.0 is frozen: content" in capsys.readouterr().out
    shards = sorted((tmp_path / "out/data").iterdir())
    assert [shard.name for shard in shards] == ["test-00000-of-00001.parquet", "train-00000-of-00001.parquet"]
    call_command("fetch_release", "cups@1.0", out=tmp_path / "again")
    assert files_below(tmp_path / "again") == files_below(tmp_path / "out")
    kept = Release.objects.get().summary["counts"]["kept"]
    assert sum(pq.read_metadata(shard).num_rows for shard in shards) == kept
    for command, says in [
        (("fetch_release", "cups@2.0"), r"no release 'cups@2\.0'. The releases are cups@1\.0"),
        (("fetch_release", "cups@1.0"), "not empty"),
    ]:
        with pytest.raises(CommandError, match=says):
            call_command(*command, out=tmp_path / "out")
    with pytest.raises(CommandError, match=r"cups 1\.1 cannot be unpacked into .* The release is frozen"):
        call_command("create_release", study.name, "cups@1.1", out=words / "out")


def refused(act) -> bool:
    try:
        act()
    except CannotFreeze:
        return True
    return False


def test_of_those_who_act_at_once_on_one_that_failed_one_does():
    study = studies.study(items=1)
    for version in range(4):
        release = releases.failed(study, f"1.{version}")
        again = partial(release_lifecycle.try_again, release=release, by="test")
        gone = partial(release_lifecycle.discard, release=release, by="test")
        said = together(*[partial(refused, act) for act in (again, again, gone, gone)])
        assert said.count(False) == 1
        left = Release.objects.filter(pk=release.pk).first()
        assert left is None or (left.job != release.job and left.job.state == "queued")


def test_of_two_studies_that_ask_for_a_name_at_once_one_has_it():
    study, other = studies.study(items=1), studies.study(items=1)
    for number in range(4):
        one = partial(release_lifecycle.freeze, study=study, plan=Plan(f"cups-{number}", "1.0"), by="test")
        two = partial(release_lifecycle.freeze, study=other, plan=Plan(f"cups-{number}", "1.1"), by="test")
        assert sorted(together(partial(refused, one), partial(refused, two))) == [False, True]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_command_that_fails_or_is_stopped_leaves_the_version_free(monkeypatch, error):
    def stop(*more):
        raise error

    study = studies.study(items=1)
    monkeypatch.setattr(exports_export, "_write", stop)
    with pytest.raises(CommandError, match="Nothing was released"):
        call_command("create_release", study.name, "cups@1.0")
    assert not Release.objects.exists()


def test_what_a_killed_command_left_does_not_keep_the_version(study, monkeypatch):
    dead = release_lifecycle.freeze(study=study, plan=Plan("cups", "1.0"), by="command", foreground=True)
    Job.objects.filter(pk=dead.job_id).update(state="running")
    with pytest.raises(CannotFreeze, match="not frozen: it is being built, or its build failed"):
        release_lifecycle.freeze(study=study, plan=Plan("cups", "1.0"), by="test")
    call_command("create_release", study.name, "cups@1.0")
    assert Release.objects.get().frozen_at
