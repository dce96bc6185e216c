"""A release of ARO's items: crops as images, the columns of its lists, and the list as it was."""

import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image as Drawing

from annotation.designs.plan import StagePlan
from benchmarks.formats import aro
from benchmarks.models import Benchmark
from tests.annotation.exports.test_export import export
from tests.annotation.releases.released import lines
from tests.builders import imports, studies
from tests.builders.aro_rows import QUARTERS, listed, relation
from tests.builders.quartered_picture import quarters, saved

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def given(tmp_path, settings) -> Path:
    """The imported list."""
    Path(settings.MEDIA_ROOT).mkdir()
    rows = [relation(number, box, image_id=number) for number, box in enumerate(QUARTERS.values())]
    path = listed(tmp_path / "in", rows, aro.FILES["relation"])
    (tmp_path / "images").mkdir()
    (tmp_path / "images/a.png").write_bytes(saved(quarters(), "PNG"))
    assert imports.imported(path, tmp_path / "images", format="aro").state == "done"
    return path


def released(folder: Path) -> Path:
    stages = [StagePlan("verify", name="verify", settings={"overlap": 1})]
    study = studies.study(benchmark=Benchmark.objects.get(), stages=stages)
    annotator = studies.annotator(study)
    while studies.judgment(annotator, study.stages.get(), "yes"):
        pass
    export(study, folder)
    return folder


def test_what_goes_in_comes_out(given, tmp_path):
    out = released(tmp_path / "out")
    split = next(path for path in out.rglob("*.parquet") if "image" in pq.read_schema(path).names)
    rows = pq.read_table(split).to_pylist()
    assert list(rows[0]) == [*aro.FORMAT.split, "votes"] and len(rows) == 4
    for row, colour in zip(rows, QUARTERS, strict=True):
        picture = Drawing.open(io.BytesIO(row["image"]["bytes"]))
        assert picture.size == (40, 30) and picture.getcolors() == [(1200, colour)]
        assert (row["type"], row["subtype"]) == ("relation", "watching")
    crops = [item["images"][0]["crop"] for item in lines(out / "items.jsonl")]
    assert crops == [list(box) for box in QUARTERS.values()]
    assert next(out.rglob(aro.FILES["relation"])).read_bytes() == given.read_bytes()
