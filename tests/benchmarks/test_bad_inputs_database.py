"""The list of malformed inputs, all the way: a refused import leaves rows, storage and temporary files as they were."""

import tempfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from benchmarks.models import Job, JobState
from tests.benchmarks import importing
from tests.benchmarks.bad_inputs import CASES

pytestmark = pytest.mark.django_db
REFUSED = [name for name, case in CASES.items() if case.code]
ACCEPTED = [name for name, case in CASES.items() if not case.code]
UPLOADED = ["zip_slip_0", "cut_off_jpeg", "depth_100_000"]


@pytest.fixture
def given(tmp_path) -> Path:
    folder = tmp_path / "given"
    folder.mkdir()
    return folder


@pytest.fixture
def house(tmp_path, settings, monkeypatch) -> Path:
    """A storage that holds something already, and a temporary folder of the test's own."""
    (tmp_path / "house" / "tmp").mkdir(parents=True)
    settings.VAR = tmp_path / "house"
    settings.MEDIA_ROOT = tmp_path / "house" / "media"
    settings.FILE_UPLOAD_TEMP_DIR = settings.VAR / "tmp"
    monkeypatch.setattr(tempfile, "tempdir", str(settings.VAR / "tmp"))
    Path(settings.MEDIA_ROOT).mkdir()
    importing.imported(*importing.small(tmp_path / "first", 2), name="First")
    return settings.VAR


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_input_leaves_everything_as_it_was(name, given, house):
    made = CASES[name].build(given)
    before = importing.rows(), importing.tree(house)
    job = importing.imported(made.path, made.images, format=made.format, name="Bad")
    assert job.state == JobState.FAILED
    assert CASES[name].code in importing.codes(job)
    assert job.problem_count >= len(job.problems) > 0
    assert (importing.rows(), importing.tree(house)) == before


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_odd_input_is_stored_whole(name, given, house):
    made = CASES[name].build(given)
    job = importing.imported(made.path, made.images, format=made.format, name="Odd", text_only=made.images is None)
    assert job.state == JobState.DONE, job.problems
    assert importing.stored_files(house / "media") == importing.named_files()


def uploaded(path: Path | None) -> list[SimpleUploadedFile]:
    """A file, or each file of a folder."""
    paths = [] if path is None else sorted(path.iterdir()) if path.is_dir() else [path]
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths]


@pytest.mark.parametrize("name", UPLOADED)
def test_the_same_through_the_page(
    name, given, house, client, eager_tasks, django_capture_on_commit_callbacks
):  # fmt: skip
    made = CASES[name].build(given)
    client.force_login(User.objects.create_superuser("ana"))
    before = importing.rows(), importing.tree(house)
    form = {"data": uploaded(made.path), "images": uploaded(made.images)}
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(reverse("import-new"), {"name": "Bad", "format": made.format, **form})
    assert CASES[name].code in importing.codes(Job.objects.first())
    assert CASES[name].code in client.get(answer.url).content.decode()
    assert importing.rows() == before[0]
    assert [entry for entry in importing.tree(house) if entry != "uploads"] == before[1]
