"""Each row of the list of malformed inputs through a real import: all or nothing, by command and in the browser.

Rows are taken in one format, Winnow's manifest wherever it can have the fault; `test_matrix.py` has every format. After
a refusal rows, storage and temporary files are as they were.
"""

import errno
import json
import os
import tempfile
import time
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.imports import staging
from benchmarks.models import Job, JobState
from tests.benchmarks.bad_inputs.archives import zipped
from tests.benchmarks.bad_inputs.case import Case, ImportFiles, picture
from tests.benchmarks.bad_inputs.matrix import CELLS, HOLDING, ROWS, Cell, Row, input_of
from tests.benchmarks.bad_inputs.published_list import EVERY, LISTED
from tests.benchmarks.bad_inputs.scaled import scale
from tests.builders import imports

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("parquet_trial_in_process")]
IN_THIS_FILE = {40, 41, 43}  # rows that have a test of their own below


def first_by_row() -> dict[int, str]:
    """A case of each row: one that must be refused where there is one; what has no page's file names comes last, and
    then the cells of the manifest and of parquet."""
    names = sorted(LISTED, key=lambda name: (not EVERY[name].code, not uploadable(name)))
    cells = [name for name in CELLS if name.partition("-")[2].startswith(("jsonl", "bivlc-parquet"))]
    found: dict[int, str] = {}
    for name in [*names, *cells]:
        found.setdefault((EVERY.get(name) or CELLS[name]).row, name)
    return found


def uploadable(name: str) -> bool:
    """Whether the case is one file, with images whose names the page takes or with none."""
    return not name.startswith(("svg", "hard_", "compare_", "aro_", "folder_with"))


BY_ROW = first_by_row()
CASES: dict[str, Case | Cell] = {name: EVERY.get(name) or CELLS[name] for name in BY_ROW.values()}
# One input of each shape: a table, a manifest with an archive, one with a folder of images, parquet, a release.
ON_THE_PAGE = [BY_ROW[31], BY_ROW[1], BY_ROW[13], BY_ROW[36], "4-release"]


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "given"
    path.mkdir()
    return path


@pytest.fixture
def installation(tmp_path, settings, monkeypatch) -> Path:
    """A storage that holds something already, and a temporary folder of the test's own."""
    (tmp_path / "var" / "tmp").mkdir(parents=True)
    settings.VAR = tmp_path / "var"
    settings.MEDIA_ROOT = tmp_path / "var" / "media"
    settings.FILE_UPLOAD_TEMP_DIR = settings.VAR / "tmp"
    monkeypatch.setattr(tempfile, "tempdir", str(settings.VAR / "tmp"))
    monkeypatch.setattr(os, "sync", lambda: None)  # a second on a busy disk; what it is for needs a power cut
    Path(settings.MEDIA_ROOT).mkdir()
    imports.imported(*imports.small(tmp_path / "first", 1), name="First")
    return settings.VAR


def imported(files: ImportFiles, name: str = "Bad", **options) -> Job:
    return imports.imported(files.path, files.images, format=files.format, name=name, **options)


def assert_refused(files: ImportFiles, code: str, installation: Path, **options) -> None:
    before, started = (imports.rows(), imports.tree(installation)), time.monotonic()
    job = imported(files, **options)
    assert time.monotonic() - started < 30
    assert (job.state, code in imports.codes(job)) == (JobState.FAILED, True), job.problems
    assert job.problem_count >= len(job.problems) > 0
    assert all(problem["advice"] and len(json.dumps(problem)) < 2000 for problem in job.problems)
    assert (imports.rows(), imports.tree(installation)) == before


def assert_accepted(files: ImportFiles, installation: Path, **options) -> Job:
    job = imported(files, text_only=files.images is None and files.format not in HOLDING, **options)
    assert job.state == JobState.DONE, job.problems
    assert imports.stored_files(installation / "media") == imports.named_files()
    assert imports.tree(installation / "tmp") == []
    return job


def test_every_row_is_here():
    assert {case.row for case in CASES.values()} | IN_THIS_FILE == {*ROWS}


@pytest.mark.parametrize("refused", [True, False])
def test_each_row_is_refused_or_stored_whole(refused, folder, installation, monkeypatch):
    for name, case in CASES.items():
        if bool(case.code) == refused:
            (folder / name).mkdir()
            with monkeypatch.context() as patch:
                scale(name, patch)
                files = case.build(folder / name)
                if case.code:
                    assert_refused(files, case.code, installation, name=name)
                else:
                    assert_accepted(files, installation, name=name)


# Rows 40, 41 and 43


def good(folder: Path, format: str = "jsonl") -> ImportFiles:
    """Two good items, with an image."""
    images = None if format in HOLDING else zipped(folder, {"1.jpg": picture()})
    return input_of(folder, format, Row(caption="A cup, one."), Row(caption="A cup, two.", id="2"), images=images)


def test_row_40_the_same_again_is_imported_already(folder, installation):
    files = good(folder)
    assert_accepted(files, installation)
    assert_refused(files, "ALREADY_IMPORTED", installation)


def test_row_41_a_full_disk_leaves_no_file_and_no_row(folder, installation, monkeypatch):
    def full(self, *moves):
        raise OSError(errno.ENOSPC, "planted")

    monkeypatch.setattr(staging.Staging, "place", full)
    assert_refused(good(folder), "STORAGE_FULL", installation)


def test_row_43_a_gap_refuses_all_unless_it_is_left_out(folder, installation):
    files = input_of(folder, "jsonl", Row(caption="A cup, one."), Row(caption=" ", id="2"))
    assert_refused(files, "VALUE_MISSING", installation, text_only=True)
    job = assert_accepted(files, installation, skip_incomplete=True)
    assert (job.report["items"], job.report["left_out"]) == (1, 1)


# The same on the command line and in the browser


def uploads(path: Path | None) -> list[SimpleUploadedFile]:
    """A file, or each file of a folder and of those in it."""
    paths = [] if path is None else sorted(path.rglob("*")) if path.is_dir() else [path]
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths if path.is_file()]


def assert_refused_by_command(files: ImportFiles, code: str, installation: Path) -> None:
    before, out = (imports.rows(), imports.tree(installation)), StringIO()
    with pytest.raises(CommandError, match="Nothing was imported"):
        call_command("import_benchmark", files.format, str(files.path), name="Bad", stdout=out, images=files.images)
    line = next(line for line in out.getvalue().splitlines() if line.startswith(code))
    assert line.count(" · ") >= 4
    assert (imports.rows(), imports.tree(installation)) == before


@pytest.mark.parametrize("name", ON_THE_PAGE)
def test_a_refusal_on_the_page_and_by_command(
    name, folder, installation, monkeypatch, client, eager_tasks, django_capture_on_commit_callbacks
):
    scale(name, monkeypatch)
    case = CASES.get(name) or next(cell for key, cell in CELLS.items() if key.startswith(name) and cell.code)
    files = case.build(folder)
    assert_refused_by_command(files, case.code, installation)
    client.force_login(User.objects.create_superuser("ana"))
    before = imports.rows(), imports.tree(installation)
    form = {"name": "Bad", "format": files.format, "data": uploads(files.path), "images": uploads(files.images)}
    with django_capture_on_commit_callbacks(execute=True):
        assert client.post(reverse("import-new"), form).status_code == 302
    job = Job.objects.first()
    assert case.code in imports.codes(job)
    assert case.code in client.get(reverse("job-detail", args=[job.pk])).content.decode()
    assert imports.rows() == before[0]
    kept = [id for ids in job.params["kept"].values() for id in ids]  # for the next try, and nothing else
    uploaded = {"uploads", *(f"uploads/{id}{file}" for id in kept for file in ("", "/content", "/upload.json"))}
    assert sorted({*imports.tree(installation)} - uploaded) == before[1]


def test_images_beside_parquet_are_refused_on_the_page_and_by_command(folder, installation, client):
    files, images = good(folder, "bivlc-parquet"), zipped(folder, {"1.jpg": picture()})
    client.force_login(User.objects.create_superuser("ana"))
    form = {"name": "Bad", "format": files.format, "data": uploads(files.path), "images": uploads(images)}
    answer = client.post(reverse("import-new"), form)
    assert answer.status_code == 422 and "These files contain their images" in answer.content.decode()
    with pytest.raises(CommandError, match="contain their images"):
        call_command("import_benchmark", files.format, str(files.path), name="Bad", images=images)
    assert not Job.objects.filter(title="Import Bad").exists()
