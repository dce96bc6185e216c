"""A study that uses a protocol file, from the import to a verified release: five pieces of VALSE and the three votes on
each of their items, given again through the verb that the judging page calls.
"""

import json
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.designs import presets
from annotation.exports.export import export_split
from annotation.figures.funnel import funnel
from annotation.models import Study
from annotation.releases.verification.verifying import verify
from annotation.screens.read_answer import place_on_screen
from tests.annotation.releases.released import ONE, release
from tests.builders import annotators, declared, imports, studies, text_annotators

pytestmark = [pytest.mark.real, pytest.mark.django_db(transaction=True)]
INVALID = {"counting-hard": 132, "existence": 29, "foil-it": 57, "plurals": 149, "relations": 79}
VOTES = {"caption": "caption-positive-0", "foil": "caption-negative-0", "other": "neither"}
REASONS = {"foil": "foil_fits", "other": "neither_fits"}


def sample(real: Path, each: int | None) -> dict[str, list[dict]]:
    """Of each piece so many items, half of them invalid if there are enough; None: all."""
    pieces = {}
    for path in sorted((real / "data/valse").glob("*.json")):
        rows = [{"key": key, **row} for key, row in json.loads(path.read_text()).items()]
        if each is not None:
            wrong = [row for row in rows if row["mturk"]["caption"] < 2]
            right = [row for row in rows if row["mturk"]["caption"] >= 2]
            rows = [*wrong[: each // 2], *right[: each - each // 2]]
        pieces[path.stem] = rows
    return pieces


def other_than(caption: str, foil: str) -> str:
    return f"{foil} (foil)" if foil == caption else foil


def studied(pieces: dict[str, list[dict]], folder: Path) -> Study:
    """A picture for each piece stands for its images, which are not there. Ten foils are the caption itself, which an
    import refuses: they get a mark.
    """
    lines = [
        {
            "id": row["key"], "type": piece, "subtype": "",
            "texts": {"positive": row["caption"], "negative": other_than(row["caption"], row["foil"])},
            "images": {"positive": f"{piece}.jpg"},
        }
        for piece, rows in pieces.items() for row in rows
    ]  # fmt: skip
    images = imports.archive(folder, [f"{piece}.jpg" for piece in pieces])
    benchmark = text_annotators.imported(imports.manifest(folder, lines), "jsonl", images)
    stages = presets.single_stage(declared.published("image-caption-foil")).stages
    return studies.study(benchmark=benchmark, stages=list(stages))


def replay(study: Study, pieces: dict[str, list[dict]]) -> None:
    """Three annotators judge every item, the first with the first vote on each of them, and so on."""
    stage = study.stages.get()
    votes = {
        row["key"]: [VOTES[name] for name, count in row["mturk"].items() for _ in range(count)]
        for found in pieces.values()
        for row in found
    }
    for place in range(3):
        person = studies.annotator(study)
        while leases := annotators.held(person, stage):
            for lease in leases:
                vote = votes[lease.task.item.key][place]
                studies.submit(person, lease, place_on_screen(lease, vote))


@pytest.mark.parametrize("each", [6, pytest.param(None, marks=pytest.mark.nightly)])
def test_from_import_to_a_verified_release(real, tmp_path, each):
    pieces = sample(real, each)
    study = studied(pieces, tmp_path)
    replay(study, pieces)
    found = funnel(study)
    invalid = {piece: sum(row["mturk"]["caption"] < 2 for row in rows) for piece, rows in pieces.items()}
    assert invalid == (INVALID if each is None else dict.fromkeys(INVALID, each // 2))
    assert {row["type"]: row["dropped"] for row in found["by_type"]} == invalid
    assert (found["imported"], found["open"]) == (sum(map(len, pieces.values())), 0)
    reasons = Counter(
        REASONS[name] for rows in pieces.values() for row in rows for name in REASONS if row["mturk"][name] >= 2
    )
    told = {row["reason"]: row["items"] for row in found["reasons"]}
    assert {name: told.get(name, 0) for name in REASONS.values()} == dict(reasons)

    export_split(study=study, out=tmp_path / "export", by="test")
    made = release(tmp_path / "export", tmp_path / "release", splits=ONE, forms=())
    assert verify(made).problems == []
    for folder in (tmp_path / "export", made):
        out = StringIO()
        call_command("decide", export=folder, json=True, stdout=out)
        (decided,) = json.loads(out.getvalue())["stages"].values()
        assert (decided["items"], decided["kept"], decided["dropped"]) == (found["imported"], found["kept"], told)
