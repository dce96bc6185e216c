"""The list of malformed inputs, each row for each format, all the way through an import: its code, or stored whole.

After each, rows, storage and temporary files are as they were, and the verdict took no half minute.
"""

import errno
import json
import tempfile
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.formats.registry import FORMATS
from benchmarks.imports import staging
from benchmarks.models import Job, JobState
from tests.benchmarks.bad_inputs.archives import zipped
from tests.benchmarks.bad_inputs.case import Given, picture
from tests.benchmarks.bad_inputs.matrix import CELLS, ELSEWHERE, HOLDING, PARQUET, REASONS, ROWS, Row, given
from tests.benchmarks.bad_inputs.published_list import CASES
from tests.benchmarks.bad_inputs.scaled import FULL, LIMITS, SCALED
from tests.builders import imports

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tried_here")]
EVERY = CASES | SCALED
LISTED = [name for name in EVERY if name not in FULL]
TWO = Row(caption="A cup, one."), Row(caption="A cup, two.", id="2")


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "given"
    path.mkdir()
    return path


@pytest.fixture
def house(tmp_path, settings, monkeypatch) -> Path:
    """A storage that holds something already, and a temporary folder of the test's own."""
    (tmp_path / "house" / "tmp").mkdir(parents=True)
    settings.VAR = tmp_path / "house"
    settings.MEDIA_ROOT = tmp_path / "house" / "media"
    settings.FILE_UPLOAD_TEMP_DIR = settings.VAR / "tmp"
    monkeypatch.setattr(tempfile, "tempdir", str(settings.VAR / "tmp"))
    monkeypatch.setattr(staging.os, "sync", lambda: None)  # a second on a busy disk; what it is for needs a power cut
    Path(settings.MEDIA_ROOT).mkdir()
    imports.imported(*imports.small(tmp_path / "first", 1), name="First")
    return settings.VAR


def scaled(name: str, monkeypatch) -> None:
    for (module, limit), value in LIMITS.get(name, {}).items():
        monkeypatch.setattr(module, limit, value)


def imported(made: Given, name: str = "Bad", **options) -> Job:
    return imports.imported(made.path, made.images, format=made.format, name=name, **options)


def refused(made: Given, code: str, house: Path, **options) -> Job:
    """The import of it: all or nothing, with a line for each problem, in good time."""
    before, started = (imports.rows(), imports.tree(house)), time.monotonic()
    job = imported(made, **options)
    assert time.monotonic() - started < 30
    assert (job.state, code in imports.codes(job)) == (JobState.FAILED, True), job.problems
    assert job.problem_count >= len(job.problems) > 0
    assert all(problem["advice"] and len(json.dumps(problem)) < 2000 for problem in job.problems)
    assert (imports.rows(), imports.tree(house)) == before
    return job


def accepted(made: Given, house: Path, **options) -> Job:
    text_only = made.images is None and made.format not in HOLDING  # the words are what is odd
    job = imported(made, text_only=text_only, **options)
    assert job.state == JobState.DONE, job.problems
    assert imports.stored_files(house / "media") == imports.named_files()
    assert imports.tree(house / "tmp") == []
    return job


@pytest.mark.parametrize("name", LISTED)
def test_each_case_of_the_list(name, folder, house, monkeypatch):
    scaled(name, monkeypatch)
    made, code = EVERY[name].build(folder), EVERY[name].code
    if code:
        refused(made, code, house)
    else:
        accepted(made, house)


@pytest.mark.parametrize(("row", "format"), sorted({(cell.row, cell.format) for cell in CELLS.values()}))
def test_each_row_for_each_format(row, format, folder, house):
    for name, cell in CELLS.items():
        if (cell.row, cell.format) == (row, format):
            (folder / name).mkdir()
            made = cell.build(folder / name)
            if cell.code:
                refused(made, cell.code, house)
            else:
                notes = {note["code"] for note in accepted(made, house, name=name).report["notes"]}
                assert notes >= {*cell.notes}, name


def test_every_row_applies_to_a_format_or_there_is_a_reason():
    covered = {(cell.row, cell.format) for cell in CELLS.values()} | {(c.row, "jsonl") for c in EVERY.values()}
    covered |= {(row, format) for row in ELSEWHERE for format in FORMATS}
    wanted = {(row, format) for row in ROWS for format in FORMATS}
    assert wanted - covered == set(REASONS) - covered
    assert not {pair for pair, reason in REASONS.items() if not reason}


# Rows 3, 40, 41 and 43, for every format


def whole(folder: Path, format: str) -> Given:
    """Two good items, with an image."""
    images = None if format in HOLDING else zipped(folder, {"1.jpg": picture()})
    return given(folder, format, *TWO, images=images)


@pytest.mark.parametrize("format", FORMATS)
def test_row_40_the_same_again_is_imported_already(format, folder, house):
    made = whole(folder, format)
    accepted(made, house)
    refused(made, "ALREADY_IMPORTED", house)


@pytest.mark.parametrize("format", FORMATS)
def test_row_41_a_full_disk_leaves_no_file_and_no_row(format, folder, house, monkeypatch):
    def full(self, images):
        raise OSError(errno.ENOSPC, "planted")

    monkeypatch.setattr(staging.Staging, "place", full)
    refused(whole(folder, format), "STORAGE_FULL", house)


@pytest.mark.parametrize("format", FORMATS)
def test_row_43_gaps_refuse_all_unless_they_are_left_out(format, folder, house):
    gap = None if format in PARQUET else " "
    made = given(folder, format, TWO[0], replace(TWO[1], caption=gap))
    (problem,) = {*imports.codes(imported(made))}
    assert problem in {"VALUE_MISSING", "INCOMPLETE_ROW"}
    job = accepted(made, house, skip_incomplete=True)
    assert (job.report["items"], job.report["left_out"]) == (1, 1)


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in HOLDING])
def test_row_3_many_files(format, folder, house, monkeypatch):
    scaled("many_entries", monkeypatch)
    images = SCALED["many_entries"].build(folder).images
    made = replace(given(folder, format, Row("0000")), images=images)
    refused(made, "TOO_MANY_FILES", house)


# The same in the browser and on the command line, a case of each row


def by_row() -> list[str]:
    """The first case of each row that is one file with images whose names the page takes, or with none."""
    chosen: dict[int, str] = {}
    for name in LISTED:
        if EVERY[name].code and not name.startswith(("svg", "hard_", "compare_", "aro_crops", "folder_with")):
            chosen.setdefault(EVERY[name].row, name)
    return list(chosen.values())


def uploaded(path: Path | None) -> list[SimpleUploadedFile]:
    """A file, or each file of a folder and of those in it."""
    paths = [] if path is None else sorted(path.rglob("*")) if path.is_dir() else [path]
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths if path.is_file()]


def posted(client, made: Given, commits) -> Job | None:
    """The job that the page started; none where the page itself refused."""
    form = {"data": uploaded(made.path), "images": uploaded(made.images)}
    with commits(execute=True):
        answer = client.post(reverse("import-new"), {"name": "Bad", "format": made.format, **form})
    assert answer.status_code in (302, 422)
    return Job.objects.first() if answer.status_code == 302 else None


def through_the_page(client, made: Given, code: str, house: Path, commits) -> None:
    client.force_login(User.objects.create_superuser("ana"))
    before = imports.rows(), imports.tree(house)
    job = posted(client, made, commits)
    assert code in imports.codes(job)
    assert code in client.get(reverse("job-detail", args=[job.pk])).content.decode()
    assert imports.rows() == before[0]
    assert [entry for entry in imports.tree(house) if entry != "uploads"] == before[1]


def on_the_command_line(made: Given, code: str, house: Path) -> None:
    before, out = (imports.rows(), imports.tree(house)), StringIO()
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_benchmark", made.format, str(made.path), name="Bad", stdout=out, images=made.images)
    line = next(line for line in out.getvalue().splitlines() if line.startswith(code))
    assert line.count(" · ") >= 4
    assert (imports.rows(), imports.tree(house)) == before


@pytest.mark.parametrize("name", by_row())
def test_a_case_of_each_row_on_the_page_and_by_command(
    name, folder, house, monkeypatch, client, eager_tasks, django_capture_on_commit_callbacks
):  # fmt: skip
    scaled(name, monkeypatch)
    made = EVERY[name].build(folder)
    on_the_command_line(made, EVERY[name].code, house)
    through_the_page(client, made, EVERY[name].code, house, django_capture_on_commit_callbacks)


OF_RELEASE = [f"{row}-release" for row in (4, 20, 28, 34, 36)]


@pytest.mark.parametrize("name", ["36-bivlc-parquet", "37-bivlc-parquet", *OF_RELEASE])
def test_files_that_hold_images_on_the_page_and_by_command(
    name, folder, house, client, eager_tasks, django_capture_on_commit_callbacks
):  # fmt: skip
    cell = next(cell for key, cell in CELLS.items() if key.startswith(name) and cell.code)
    made = cell.build(folder)
    on_the_command_line(made, cell.code, house)
    through_the_page(client, made, cell.code, house, django_capture_on_commit_callbacks)


def test_images_beside_parquet_are_refused_on_the_page_and_by_command(folder, house, client):
    made = whole(folder, "bivlc-parquet")
    images = zipped(folder, {"1.jpg": picture()})
    client.force_login(User.objects.create_superuser("ana"))
    form = {"data": uploaded(made.path), "images": uploaded(images)}
    answer = client.post(reverse("import-new"), {"name": "Bad", "format": made.format, **form})
    assert answer.status_code == 422 and "These files hold their images" in answer.content.decode()
    with pytest.raises(CommandError, match="hold their images"):
        call_command("import_benchmark", made.format, str(made.path), name="Bad", images=images)
    assert not Job.objects.filter(title="Import Bad").exists()
