"""A study after backup and restore exports the same bytes, and goes on."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection

from annotation.exports.export import export_split
from annotation.models import Judgment, Release, Study
from annotation.releases import lifecycle as release_lifecycle
from annotation.studies import deletion
from benchmarks.housekeeping.backup import backup
from benchmarks.housekeeping.restore import restore
from benchmarks.models import Image
from tests.annotation.releases.released import contents
from tests.builders import crowds, releases, studies
from tests.builders.pipelines import with_originals

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("alone")]


def test_the_export_has_the_same_bytes_and_a_release_is_there_again(tmp_path, settings):
    """And the next release says the same."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    study = with_originals(crowds.stage(benchmark=studies.benchmark(6), people=3, overlap=3).study)
    for image in Image.objects.all():
        default_storage.save(image.served_path, ContentFile(b"a copy"))
        default_storage.save(image.thumbnail_path, ContentFile(b"a small copy"))
    export_split(study=study, out=tmp_path / "before", by="test")
    before = releases.frozen(study, name="cups")
    with release_lifecycle.open_release(before) as files:
        held = {name: files.read(name) for name in files.names()}
    backup(out=tmp_path / "saved")
    deletion.delete_study(study=study, by="test", releases=True)
    studies.annotator(studies.study(items=2))
    restore(folder=tmp_path / "saved", replace=True, by="test")
    study, again = Study.objects.get(), Release.objects.get()
    export_split(study=study, out=tmp_path / "after", by="test")
    assert contents(tmp_path / "before") == contents(tmp_path / "after")
    with release_lifecycle.open_release(again) as files:
        assert {name: files.read(name) for name in files.names()} == held and again.content == before.content
    with release_lifecycle.open_release(releases.frozen(again.study, "1.1", name="cups")) as files:
        apart = {name for name in files.names() if files.read(name) != held[name]}
    assert apart == releases.NAMING_THE_VERSION
    with pytest.raises(DatabaseError, match="never altered or deleted"):
        connection.cursor().execute("DELETE FROM annotation_judgment")
    last = Judgment.objects.latest("pk").pk
    assert studies.annotator(study).number == 4
    other = studies.stage(items=1)
    assert studies.judgment(studies.annotator(other.study), other).pk > last
