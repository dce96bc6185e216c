"""`manage.py construct`: files in, items that import as they are out, a report whose sums add up."""

import csv
import json
from random import Random

import pytest
from django.core.management import CommandError, call_command

from benchmarks.formats import checks
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.registry import FORMATS

VSR = [("1.jpg", "in", 1), ("2.jpg", "behind", 1), ("3.jpg", "under", 0), ("4.jpg", "facing", 1)]
INPUTS = {
    "aro-relation": [
        {"image": "1.jpg", "subject": "horse", "relation": "eating", "object": "grass"},
        {"image": "2.jpg", "subject": "dog", "relation": "near", "object": "tree"},
    ],
    "aro-attribution": [
        {"image": "1.jpg", "attribute1": "open", "object1": "door", "attribute2": "crouched", "object2": "cat"},
        {"image": "1.jpg", "attribute1": "open", "object1": "door", "attribute2": "closed", "object2": "door"},
    ],
    "order": [{"filename": "1.jpg", "caption": "A cat on a mat in a red house."}, {"caption": "A cat."}],
    "negclip-negatives": [{"image": "1.jpg", "caption": "A cat on a mat."}, {"caption": "A cat."}],
    "swap-positives": [
        {"image_path": "1.jpg", "true_caption": "the red cat and the open door", "false_caption": "the open cat"},
        {"true_caption": "the cat is open", "false_caption": "the open cat"},
    ],
    "replace-positives": [
        {"image_path": "1.jpg", "true_caption": "van behind truck", "false_caption": "van in front of truck"},
        {"true_caption": "man holding beer", "false_caption": "man holding beer"},
    ],
    "spatial-candidates": [
        {"image": image, "caption": f"The cat is {relation} the basket.", "subj": "cat", "relation": relation,
         "obj": "basket", "label": label}
        for image, relation, label in VSR
    ],
}  # fmt: skip
FIRST = {
    "negclip-negatives": ("", "", ["a cat on a mat", "a mat on a cat"]),
    "aro-relation": ("relation", "eating", ["the horse is eating the grass", "the grass is eating the horse"]),
    "aro-attribution": (
        "attribution",
        "crouched vs open",
        ["the open door and the crouched cat", "the crouched door and the open cat"],
    ),
    "swap-positives": (
        "swap", "att", ["the red cat and the open door", "the open cat", "the open door and the red cat"],
    ),
    "replace-positives": ("replace", "rel", ["van behind truck", "van in front of truck", "van to the rear of truck"]),
    "spatial-candidates": (
        "spatial",
        "",
        [
            "The cat is in the basket.", "The basket contains the cat.", "The cat is behind the basket.",
            "The cat is facing the basket.", "The cat is under the basket.",
        ],
    ),
}  # fmt: skip


def run(kind: str, source, out, capsys, **options) -> dict:
    call_command("construct", kind, str(source), out=out, json=True, **options)
    return json.loads(capsys.readouterr().out)


def written(folder, kind: str):
    source = folder / f"{kind}.json"
    source.write_text(json.dumps(INPUTS[kind]), encoding="utf-8")
    return source


def imported(path) -> list:
    """The items as `import_benchmark jsonl` reads and checks them."""
    log = ProblemLog()
    found = checks.check_records(FORMATS["jsonl"].read(path, log), log)
    assert log.problems == []
    return found


@pytest.mark.parametrize("kind", list(INPUTS))
def test_what_is_made_imports_and_the_rest_is_told(tmp_path, capsys, kind):
    out = tmp_path / "out.jsonl"
    report = run(kind, written(tmp_path, kind), out, capsys)
    assert len(imported(out)) == report["made"] > 0
    dropped = sum(one["count"] for one in report["dropped"])
    assert report["read"] == len(INPUTS[kind]) == report["made"] + dropped
    assert dropped > 0 and all(len(one["rows"]) == one["count"] for one in report["dropped"])


@pytest.mark.parametrize("kind", list(FIRST))
def test_the_first_item(tmp_path, capsys, kind):
    run(kind, written(tmp_path, kind), tmp_path / "out.jsonl", capsys)
    item = imported(tmp_path / "out.jsonl")[0]
    assert (item.type, item.subtype, [caption.text for caption in item.captions]) == FIRST[kind]
    assert [image.name for image in item.images] == ["1.jpg"]


def test_order_has_four_negatives_a_seed_and_a_tagger(tmp_path, capsys):
    source, out = written(tmp_path, "order"), tmp_path / "out.jsonl"
    report = run("order", source, out, capsys, seed=4)
    assert (report["seed"], report["tagger"].split()[0]) in [(4, "HanTa"), (4, "spaCy")]
    first, item = out.read_bytes(), imported(out)[0]
    assert [caption.role for caption in item.captions] == ["positive"] + ["negative"] * 4
    assert (item.caption("positive"), item.meta["caption"]) == (
        "a cat on a mat in a red house",
        "A cat on a mat in a red house.",
    )
    run("order", source, out, capsys, seed=4)
    assert out.read_bytes() == first
    run("order", source, out, capsys, seed=5)
    assert out.read_bytes() != first


def test_a_manifest_goes_in_and_keeps_what_it_has(tmp_path, capsys):
    middle, out = tmp_path / "middle.jsonl", tmp_path / "out.jsonl"
    run("aro-attribution", written(tmp_path, "aro-attribution"), middle, capsys)
    run("swap-positives", middle, out, capsys)
    (before,), (after,) = imported(middle), imported(out)
    assert after.caption("second_positive") == "the crouched cat and the open door"
    assert (after.key, after.meta, after.images) == (before.key, before.meta, before.images)
    report = run("swap-positives", out, tmp_path / "again.jsonl", capsys)
    assert report["dropped"] == [{"reason": "the item already has a second positive caption", "count": 1, "rows": [1]}]


def scored(count: int) -> list[dict[str, str]]:
    """Rows whose models are right in about 80%."""
    rng = Random(3)
    rows = []
    for number in range(count):
        gaps = [rng.choice((1, 1, 1, 1, -1)) * rng.random() / 5 for _ in range(2)]
        both = [(0.5 + gap, 0.5) for gap in gaps]
        names = [f"{model}_{side}" for model in ("grammar", "plausibility") for side in ("positive", "negative")]
        scores = [f"{value:.4f}" for pair in both for value in pair]
        rows.append({"id": str(number), "caption": "a, b", **dict(zip(names, scores, strict=True))})
    return rows


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".json"])
def test_refine_keeps_rows_as_they_are(tmp_path, capsys, ending):
    source, out, rows = tmp_path / f"in{ending}", tmp_path / f"out{ending}", scored(600)
    with source.open("w", encoding="utf-8", newline="") as file:
        if ending == ".csv":
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        else:
            file.write(json.dumps(rows) if ending == ".json" else "\n".join(map(json.dumps, rows)))
    report = run("refine", source, out, capsys, seed=9)
    text = out.read_text(encoding="utf-8")
    if ending == ".csv":
        kept = list(csv.DictReader(text.splitlines()))
    else:
        kept = json.loads(text) if ending == ".json" else [json.loads(line) for line in text.splitlines()]
    assert [row for row in rows if row in kept] == kept
    assert len(kept) == report["made"] > 100
    assert [one["after"] for one in report["accuracy"].values()] == [50, 50]
    assert report["seed"] == 9


def test_refine_reads_the_scores_of_a_manifest(tmp_path, capsys):
    rows = [{name: float(value) for name, value in row.items() if "_" in name} for row in scored(40)]
    captions = [{"role": "positive", "text": "a"}, {"role": "negative", "text": "b"}]
    items = [{"id": str(number), "captions": captions, "meta": row} for number, row in enumerate(rows)]
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    report = run("refine", source, out, capsys)
    assert len(imported(out)) == report["made"] > 0


def test_refine_says_why_an_accuracy_is_undefined(tmp_path, capsys):
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(scored(1)[0]), encoding="utf-8")
    call_command("construct", "refine", str(source), out=tmp_path / "out.jsonl")
    *_, told, note = capsys.readouterr().out.splitlines()
    assert told.endswith("after undefined)") and note == "accuracy note: no rows stay"


def test_the_report_for_people(tmp_path, capsys):
    call_command("construct", "aro-relation", str(written(tmp_path, "aro-relation")), out=tmp_path / "out.jsonl")
    assert capsys.readouterr().out.splitlines() == [
        "2 rows = 1 made + 1 dropped",
        "dropped 1: symmetric relation: near (row 2)",
    ]


@pytest.mark.parametrize(
    ("kind", "row", "said"),
    [
        ("aro-relation", {"subject": "a", "realtion": "on", "object": "b"}, "COLUMN_MISSING · in.json · 1 · relation"),
        ("order", {"caption": ""}, "VALUE_MISSING · in.json · 1 · caption"),
        ("order", {"caption": "a cat on a red mat in a house", "image": "../x.jpg"}, "UNSAFE_PATH · in.json · 1"),
        ("refine", {"grammar_positive": 2}, "WRONG_VALUE · in.json · 1 · grammar_positive"),
    ],
)
def test_problems_name_the_row_and_nothing_is_written(tmp_path, capsys, kind, row, said):
    source, out = tmp_path / "in.json", tmp_path / ("out.json" if kind == "refine" else "out.jsonl")
    source.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(CommandError, match="Nothing was written"):
        call_command("construct", kind, str(source), out=out)
    assert capsys.readouterr().out.startswith(said)
    assert not out.exists()


@pytest.mark.parametrize(
    ("source", "out", "said"),
    [
        ("none.json", "out.jsonl", "There is no file"),
        ("in.txt", "out.jsonl", "in.txt must end in .csv, .json, .jsonl"),
        ("in.json", "out.csv", "order writes files that end in .jsonl"),
        ("in.jsonl", "in.jsonl", "Choose an output file other than the input file"),
        ("in.json", "none/out.jsonl", "There is no folder"),
    ],
)
def test_files_that_will_not_do(tmp_path, source, out, said):
    for name in ("in.txt", "in.json", "in.jsonl"):
        (tmp_path / name).write_text("[]")
    with pytest.raises(CommandError, match=said):
        call_command("construct", "order", str(tmp_path / source), out=tmp_path / out)
