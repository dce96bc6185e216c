"""Forms written of a real export: nothing of the kept items is lost, and the source's files are those of the export."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.designs.plan import StagePlan
from annotation.exports.files import files_below
from annotation.models import Study
from annotation.releases.export_reader import DATA, ITEMS, ExportReader, hashes
from benchmarks.construction.splitting import Unit, assign
from benchmarks.models import Benchmark
from tests.annotation.exports.test_export import export
from tests.annotation.releases.kept import written
from tests.builders import aro_rows, crowds, imports, studies, text_annotators
from tests.builders.pipelines import with_originals
from tests.builders.quartered_picture import quarters, saved

pytestmark = pytest.mark.django_db(transaction=True)


def worked(study: Study) -> Study:
    text_annotators.work(study, people=3)
    return study


def asked(benchmark: Benchmark, protocol: str, overlap: int = 2) -> Study:
    return studies.study(benchmark=benchmark, stages=[StagePlan(protocol, name="asked", settings={"overlap": overlap})])


def of_crops(folder: Path) -> Study:
    rows = [aro_rows.relation(number, box, image_id=number) for number, box in enumerate(aro_rows.QUARTERS.values())]
    images = imports.archive(folder, [], {"a.png": saved(quarters(), "PNG")})
    study = asked(text_annotators.imported(aro_rows.listed(folder / "in", rows), "aro", images), "verify", overlap=1)
    for answer in ("yes", "no", "yes", "yes"):
        studies.judgment(studies.annotator(study), study.stages.get(), answer)
    return study


STUDIES = {
    "visla": lambda folder: worked(text_annotators.visla_study(folder)),
    "hard-positives": lambda folder: worked(asked(text_annotators.hard_positives(folder / "in"), "hard-positive-rank")),
    "sugarcrepe-compare": lambda folder: worked(
        asked(text_annotators.two_origins(folder / "in"), "sugarcrepe-compare")
    ),
    "aro": of_crops,
    "": lambda folder: with_originals(crowds.stage(items=8, people=3).study),
}


def exported(name: str, folder: Path) -> ExportReader:
    assert export(STUDIES[name](folder), folder / "out")["counts"]["kept"] > 2
    return ExportReader(folder / "out")


def written_of(form: str, found: ExportReader, folder: Path, splits: dict[str, str]) -> Path:
    """The release's folder."""
    settings = {"schema": found.schema(DATA), "source_format": found.manifest["source_format"]}
    written(form, folder, list(found.rows(splits)), columns=found.columns, **settings)
    return folder / "release"


@pytest.mark.parametrize("name", STUDIES)
def test_source_and_tables_are_those_of_the_export(name, tmp_path):
    found = exported(name, tmp_path)
    units = [Unit(line["id"], (line["type"], line["subtype"]), frozenset(hashes(line))) for line in found.lines(ITEMS)]
    one = assign(units, {"test": 100}, 1).splits
    source, out = written_of("source", found, tmp_path / "a", one) / "source", tmp_path / "out/source"
    assert found.manifest["source_format"] == name and out.is_dir() == bool(name)
    assert {file: (source / file).read_bytes() for file in files_below(source)} == {
        file: (out / file).read_bytes() for file in files_below(out)
    }
    several = assign(units, {"train": 50, "test": 50}, 1).splits
    shards = sorted((written_of("parquet", found, tmp_path / "b", several) / "data").glob("*.parquet"))
    rows = pa.concat_tables(map(pq.read_table, shards)).to_pylist()
    there = {row["id"]: row for row in pq.read_table(tmp_path / "out/data.parquet").to_pylist()}
    assert {row["id"]: row for row in rows} == there and len(rows) == len(there)
