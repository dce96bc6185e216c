"""A study after backup and restore exports the same bytes, and goes on."""

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection

from annotation.models import Judgment, Study
from annotation.releases import export_split
from benchmarks.backups import backup
from benchmarks.models import Image
from benchmarks.restoring import restore
from tests import crowd, make
from tests.annotation.test_releases import contents
from tests.pipeline import with_originals

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("alone")]


def test_the_export_has_the_same_bytes(tmp_path, settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    study = with_originals(crowd.stage(items=8, people=3, overlap=3).study)
    for image in Image.objects.all():
        default_storage.save(image.served_path, ContentFile(b"a copy"))
        default_storage.save(image.thumbnail_path, ContentFile(b"a small copy"))
    export_split(study=study, out=tmp_path / "before", by="test")
    backup(out=tmp_path / "saved")
    make.annotator(study)
    make.study(items=2)
    restore(folder=tmp_path / "saved", replace=True, by="test")
    study = Study.objects.get()
    export_split(study=study, out=tmp_path / "after", by="test")
    assert contents(tmp_path / "before") == contents(tmp_path / "after")
    with pytest.raises(DatabaseError, match="never altered or deleted"):
        connection.cursor().execute("DELETE FROM annotation_judgment")
    last = Judgment.objects.latest("pk").pk
    assert make.annotator(study).number == 4
    other = make.stage(items=1)
    assert make.judgment(make.annotator(other.study), other).pk > last
