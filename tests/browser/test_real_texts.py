"""The presets of the text protocols on the papers' own rows: imported, judged by keyboard in Chromium, released."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.exports.export import export_split
from annotation.measures.papers.rank import is_right
from annotation.models import Judgment, Lease, Outcome, Study
from benchmarks.construction.order import perturbed
from benchmarks.construction.tagging import tagger
from tests.browser.looking import send
from tests.builders import pictures, studies

pytestmark = pytest.mark.real
ROWS = 4


def imported(format: str, path: Path, images: Path | None = None, preset: str = "", **more) -> Study:
    settings = {"images": str(images)} if images else {"text_only": True}
    call_command("import_benchmark", format, str(path), name=preset, verbosity=0, **settings, **more)
    call_command("create_study", preset, preset=preset, name=f"Study of {preset}")
    return Study.objects.get(name=f"Study of {preset}")


def drawn(folder: Path, names) -> Path:
    """A stand-in picture for each name: the papers' own are not public, or not here."""
    for number, name in enumerate(dict.fromkeys(names)):
        (folder / "images" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "images" / name).write_bytes(pictures.draw(number, 320, 240))
    return folder / "images"


def sitting(sit, study: Study):
    return sit(annotator=studies.annotator(study))


def released(study: Study, folder: Path) -> Path:
    export_split(study=study, out=folder / "split", by="test")
    return folder / "split" / "source"


def test_second_positives_of_visla_generic(real, sit, tmp_path):
    lines = (real / "data/visla/Generic_VISLA.tsv").read_bytes().split(b"\r\n")
    there = {path.name.encode() for path in (real / "data/coco_val2017/images").iterdir()}
    rows = [line for line in lines[1:] if line.split(b"\t")[0] in there][:ROWS]
    (tmp_path / "Generic_VISLA.tsv").write_bytes(b"\r\n".join([lines[0], *rows]))
    study = imported("visla", tmp_path / "Generic_VISLA.tsv", real / "data/coco_val2017/images", "visla-generic")
    first = sitting(sit, study)
    send(first, "1", "Enter")
    send(first, "z", "1", "Enter")  # with a look at the picture
    first.press("1", "e", "End")
    first.page.keyboard.type(" Indeed.")
    first.press("Enter")
    send(first, "Enter")
    send(first, "r", "s", "Enter")
    second = sit(annotator=studies.annotator(study), page=first.page)
    place = (
        Lease.objects.latest("pk").shown.index(study.stages.get().tasks.exclude(proposals=[]).get().proposals[0]) + 1
    )
    send(second, str(place), "Enter")
    assert second.all_done().page.errors == []
    made = released(study, tmp_path)
    kept = (made / "Generic_VISLA.tsv").read_bytes().split(b"\r\n")[1:]
    edited = Outcome.objects.get(outcome="edited").task.item.position
    rejected = Outcome.objects.get(outcome="reject").task.item.position
    wanted = {n: row for n, row in enumerate(rows) if n != rejected}
    cells = wanted[edited].split(b"\t")
    wanted[edited] = b"\t".join([*cells[:2], cells[2] + b" Indeed.", cells[3]])
    assert kept == list(wanted.values())


@pytest.mark.nightly
def test_triplets_of_visla_spatial(real, sit, tmp_path):
    lines = (real / "data/visla/Spatial_VISLA.tsv").read_bytes().split(b"\r\n")
    rows = lines[1 : 1 + ROWS]
    (tmp_path / "Spatial_VISLA.tsv").write_bytes(b"\r\n".join([lines[0], *rows]))
    images = drawn(tmp_path, [row.split(b"\t")[0].decode() for row in rows])
    study = imported("visla", tmp_path / "Spatial_VISLA.tsv", images, "visla-spatial")
    desk = sitting(sit, study)
    for _ in range(ROWS - 2):
        send(desk, "a", "Enter")  # every line holds
    desk.press("e", "End")
    desk.page.keyboard.type(" Indeed.")
    desk.press("Enter", "a")
    send(desk, "Enter")
    send(desk, "a", "c", "d", "Enter")  # the negative does not contradict: dropped
    assert desk.all_done().page.errors == []
    said = list(Judgment.objects.order_by("pk").values_list("answer", flat=True))
    assert said == ["valid", "valid", "edited", "dropped"]
    kept = (released(study, tmp_path) / "Spatial_VISLA.tsv").read_bytes().split(b"\r\n")[1:]
    assert len(kept) == ROWS - 1 and sum(row in rows for row in kept) == ROWS - 2


@pytest.mark.nightly
def test_ranks_of_the_hard_positives(real, sit, tmp_path):
    name = "vl_checklist_relations.json"
    rows = {}
    for side in ("original", "hard_positive"):
        rows[side] = json.loads((real / "data/hard_positives" / side / name).read_text())[:ROWS]
        (tmp_path / side).mkdir()
        (tmp_path / side / name).write_text(json.dumps(rows[side]))
    images = drawn(tmp_path, [row["image_path"] for side in rows.values() for row in side])
    study = imported("hard-positives", tmp_path / "original" / name, images, "hard-positives",
                     second=tmp_path / "hard_positive" / name)  # fmt: skip
    for wrong in (False, True):
        desk = sitting(sit, study)
        for number in range(ROWS):
            send(desk, *steps(desk, swapped=wrong and number == 0), "Enter")
        assert desk.all_done().page.errors == []
    labels = list(Judgment.objects.order_by("pk").values_list("answer", flat=True))
    assert [is_right(label) for label in labels] == [True] * ROWS + [False] + [True] * (ROWS - 1)
    out = released(study, tmp_path)
    for side, part in rows.items():
        assert (out / side / name).read_text() == json.dumps(part)


def steps(desk, swapped: bool) -> list[str]:
    """The step of each sentence in the order of the screen: both positives on the first, the negative on the last."""
    shown = Lease.objects.get(token=desk.lease).shown
    good, bad = ("3", "1") if swapped else ("1", "3")
    return [bad if identity == "caption-negative-0" else good for identity in shown]


@pytest.mark.nightly
def test_negatives_of_sugarcrepe_against_shuffled_words(real, sit, tmp_path):
    """The other origin is made as ARO's order task makes it; ARO's and CREPE's own negatives are not shipped."""
    for side in ("first", "second"):
        (tmp_path / side).mkdir()
    for subset in ("swap_obj", "replace_rel"):
        published = (real / f"data/sugarcrepe/{subset}.json").read_text()
        rows = dict(list(json.loads(published).items())[:2])
        others = {key: row | {"negative_caption": shuffled(row["caption"])} for key, row in rows.items()}
        for side, made in (("first", rows), ("second", others)):
            (tmp_path / side / f"{subset}.json").write_text(
                json.dumps(made, indent=4) + "\n" * published.endswith("\n")
            )
    study = imported("sugarcrepe-compare", tmp_path / "first", None, "sugarcrepe-eval", second=tmp_path / "second")
    desk = sitting(sit, study)
    for number in range(4):
        shown = Lease.objects.get(token=desk.lease).shown
        better = str(shown.index("caption-negative-0") + 1)
        send(desk, better, "0" if number == 0 else better, "Enter")
    assert desk.all_done().page.errors == []
    said = list(Judgment.objects.order_by("pk").values_list("answer", flat=True))
    assert said == ["negative-0/tie", *["negative-0/negative-0"] * 3]
    out = released(study, tmp_path)
    given = sorted(tmp_path.glob("*/*_*.json"))
    assert [(out / path.relative_to(tmp_path)).read_bytes() for path in given] == [path.read_bytes() for path in given]


def shuffled(caption: str) -> str:
    return perturbed(caption, tagger().tags, seed=1)[1]["trigrams"]
