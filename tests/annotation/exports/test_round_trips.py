"""The papers' own files in, a study that changes nothing or little, and the release in the same layout out."""

import json
from itertools import islice
from pathlib import Path

import pytest

from annotation.designs.plan import StagePlan
from annotation.models import Stage, Study
from benchmarks.models import Benchmark, Caption
from tests.annotation.exports.test_export import export
from tests.annotation.releases.released import lines
from tests.builders import studies, text_annotators

pytestmark = pytest.mark.django_db(transaction=True)
SECOND = "caption-second_positive-0"
FULL = {"Generic_VISLA.tsv": 973, "Spatial_VISLA.tsv": 640}  # rows with all captions


@pytest.fixture
def data(real) -> Path:
    return real / "data"


def study_of(benchmark: Benchmark, protocol: str, **settings) -> Stage:
    stages = [StagePlan(protocol, name="asked", settings=settings)]
    return studies.study(benchmark=benchmark, stages=stages).stages.get()


def keep_paraphrases(stage: Stage) -> None:
    """The published second positive is taken as it is, of every item that is left."""
    words = dict(Caption.objects.filter(role="second_positive").values_list("item", "text"))
    text_annotators.keep_all(
        stage,
        studies.annotator(stage.study),
        SECOND,
        lambda item: {"texts": {"second_positive": words[item]}, "from": {"second_positive": SECOND}},
    )


def complete(path: Path) -> list[bytes]:
    """The header and the rows that have all their captions."""
    header, *rows = path.read_bytes().split(b"\r\n")
    return [header, *(row for row in rows if all(cell.strip() for cell in row.split(b"\t")[:4]))]


def beginning_of(source: Path, folder: Path, rows: int | None) -> Path:
    """The first rows of a table under its own name; all of it where `rows` is None."""
    if rows is None:
        return source
    folder.mkdir()
    (folder / source.name).write_bytes(b"\r\n".join(source.read_bytes().split(b"\r\n")[: rows + 1]))
    return folder / source.name


@pytest.mark.parametrize("rows", [30, pytest.param(None, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", FULL)
def test_visla_with_no_words_changed_is_the_same_file(data, tmp_path, name, rows):
    source = beginning_of(data / "visla" / name, tmp_path / "given", rows)
    made = text_annotators.imported(source, "visla", None, skip_incomplete=True)
    stage = study_of(made, "visla-paraphrase", overlap=1)
    keep_paraphrases(stage)
    assert export(stage.study, tmp_path / "out")["counts"]["kept"] == (
        len(complete(source)) - 1 if rows else FULL[name]
    )
    assert (tmp_path / "out/source" / name).read_bytes().split(b"\r\n") == complete(source)
    if name.startswith("Generic"):
        assert (tmp_path / "out/source" / name).read_bytes() == source.read_bytes()


@pytest.mark.parametrize("rows", [30, pytest.param(None, marks=pytest.mark.nightly)])
def test_only_rows_that_were_edited_or_rejected_differ(data, tmp_path, rows):
    source = beginning_of(data / "visla/Generic_VISLA.tsv", tmp_path / "given", rows)
    stage = study_of(text_annotators.imported(source, "visla", None), "visla-paraphrase", overlap=1)
    writer, reader = studies.annotator(stage.study), studies.annotator(stage.study)
    edited = [
        text_annotators.says(writer, stage, text_annotators.edits(SECOND, f"Other words, {n}.")).lease.task_id
        for n in (1, 2, 3)
    ]
    text_annotators.in_order(reader, stage, positions(stage, edited), text_annotators.takes_edit)
    rejected = [text_annotators.says(reader, stage, text_annotators.rejects).lease.task_id for _ in range(2)]
    keep_paraphrases(stage)
    export(stage.study, tmp_path / "out")
    expected = source.read_bytes().split(b"\r\n")
    for number, place in enumerate(positions(stage, edited), 1):
        cells = expected[place + 1].split(b"\t")
        expected[place + 1] = b"\t".join([*cells[:2], f"Other words, {number}.".encode(), cells[3]])
    gone = {place + 1 for place in positions(stage, rejected)}
    kept = [row for place, row in enumerate(expected) if place not in gone]
    assert (tmp_path / "out/source/Generic_VISLA.tsv").read_bytes() == b"\r\n".join(kept)
    assert {row["reason"] for row in lines(tmp_path / "out/dropped.jsonl")} == {"rejected"}


def positions(stage: Stage, tasks: list[int]) -> list[int]:
    """Of the tasks' items in the benchmark, which are the rows of the file."""
    found = dict(stage.tasks.values_list("pk", "item__position"))
    return [found[task] for task in tasks]


def measured(study: Study, tmp_path: Path) -> None:
    """Two people do what a stage drew; nothing is dropped."""
    text_annotators.work(study, people=2, changes=0)
    counts = export(study, tmp_path / "out")["counts"]
    assert counts["kept"] == counts["imported"]


def part_of(source: Path, folder: Path, *names: str, rows: int | None = None) -> Path:
    """The source's folder with only these files, or their first rows, laid out alike: all of it takes minutes."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = (source / name).read_text()
        if rows is not None:
            found, end = json.loads(text), text[len(text.rstrip()) :]
            text = json.dumps(first(found, rows), indent=4 if isinstance(found, dict) else None) + end
        (folder / name).write_text(text)
    return folder


def first(found: list | dict, rows: int) -> list | dict:
    return found[:rows] if isinstance(found, list) else dict(islice(found.items(), rows))


def same_files(written: Path, source: Path) -> None:
    names = sorted(path.name for path in written.iterdir())
    assert names and {
        name: (written / name).read_bytes() == (source / name).read_bytes() for name in names
    } == dict.fromkeys(names, True)


@pytest.mark.parametrize("rows", [60, pytest.param(None, marks=pytest.mark.nightly)])
def test_hard_positives_that_people_ranked_are_the_same_files(data, tmp_path, rows):
    files = [f"{side}/vl_checklist_attributes.json" for side in ("original", "hard_positive")]
    source = part_of(data / "hard_positives", tmp_path / "in", *files, rows=rows)
    names = text_annotators.names_in((source / "original").glob("*.json"), "image_path")
    made = text_annotators.imported(source, "hard-positives", text_annotators.one_picture(tmp_path, names))
    measured(study_of(made, "hard-positive-rank", overlap=2, sample=20).study, tmp_path)
    for side in ("original", "hard_positive"):
        same_files(tmp_path / "out/source" / side, source / side)


@pytest.mark.parametrize(
    ("names", "rows", "items"),
    [
        (["swap_obj.json", "add_att.json"], 30, 60),
        pytest.param(["swap_obj.json", "add_att.json"], None, 245 + 692, marks=pytest.mark.nightly),
    ],
)
def test_sugarcrepe_whose_captions_hold_is_the_same_files(data, tmp_path, names, rows, items):
    source = part_of(data / "sugarcrepe", tmp_path / "in", *names, rows=rows)
    pictures = text_annotators.one_picture(tmp_path, text_annotators.names_in(source.glob("*.json"), "filename"))
    made = text_annotators.imported(source, "sugarcrepe", pictures)
    stage = study_of(made, "verify", overlap=1)
    text_annotators.keep_all(stage, studies.annotator(stage.study), "yes")
    assert export(stage.study, tmp_path / "out")["counts"]["kept"] == items
    same_files(tmp_path / "out/source", source)
