"""A small release by hand, with its documents: what stands in its files is literals."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from annotation.exports.files import (
    JUDGMENTS,
    ParquetFile,
    digest,
    files_below,
    write_json,
    write_judgments,
    write_lines,
)
from annotation.releases.documents.write import write_documents
from annotation.releases.plan import Plan
from tests.annotation.releases.kept import COLUMNS, SCHEMA, row

STAGE = {
    "name": "choose", "position": 1, "protocol": "bivlc-choose", "protocol_file": None,
    "strategy": "pool", "overlap": 2, "cap": None,
    "rule": "majority", "tie_rule": "drop", "takes": ["kept"], "carries": "negative", "promotion": "settled",
    "sample": None, "stratify": False, "sample_each": False, "apart_from": [], "batch_size": None,
    "agreement_items": None, "agreement_overlap": None, "quota": None, "seed": 1, "source": None, "measures": False,
    "confirms": False, "drops": {"none": "no_image_fits"},
    "decision_rule": "The most common answer of 2 people decides; a tie drops the item. Dropped if it is “None of "
    "them” (no image fits).",
}  # fmt: skip
AGREED = {
    "on": "answer",
    "measures": {
        "percent": {"value": 0.75, "n": 4, "low": 0.5, "high": 1.0, "note": ""},
        "cohen_mean": {"value": 0.4, "n": 1, "low": None, "high": None, "note": "", "left_out": 0},
        "alpha_nominal": {"value": 0.5, "n": 3, "low": 0.25, "high": 0.75, "note": ""},
    },
}
JUDGMENT = {
    **dict.fromkeys(JUDGMENTS.names), "stage": "choose", "item": "item-0", "question": "", "round": 1,
    "annotator": "A-01", "answer": "candidate-0", "shown": ["candidate-0", "candidate-1"], "flags": [], "counted": True,
}  # fmt: skip
DECISION = {
    "stage": "choose", "stage_position": 1, "question": "", "round": 1, "state": "kept", "outcome": "candidate-0",
    "reason": None, "decided_by": "unanimous", "votes": {"candidate-0": 2},
}  # fmt: skip


def image(key: str, content: str, chosen: bool = False, licence: str = "CC0-1.0") -> dict:
    of = {"sha256": content * 64, "format": "JPEG", "width": 8, "height": 8, "licence": licence, "attribution": ""}
    return {"key": key, "chosen": chosen, "round": 1, "source_name": f"{key}.jpg", **of}


def line(number: int, split: str = "test", kind: tuple[str, str] = ("replace", "obj"), **facts) -> dict:
    """Of items.jsonl: two captions of 3 and 4 words, two images in the data and one beside."""
    captions = [{"role": "negative", "text": "A dog sits there."}, {"role": "positive", "text": "A cat sits."}]
    images = [
        image("candidate-0", f"{number:x}", chosen=True),
        image("candidate-1", "e"),
        image("positive-0", "f") | {"crop": [0, 0, 4, 4]},
    ]
    found = {
        "id": f"item-{number}", "position": number, "type": kind[0], "subtype": kind[1], "stage": "choose",
        "negative_image": "candidate-0", "decisions": [DECISION], "captions": captions, "images": images, "meta": {},
        "split": split,
    }  # fmt: skip
    return found | facts


@dataclass
class Release:
    folder: Path
    manifest: dict
    figures: dict

    def written(self) -> Path:
        write_json(self.folder / "figures.json", self.figures)
        write_documents(self.folder, self.manifest, SCHEMA)
        return self.folder

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def json(self, name: str) -> dict:
        return json.loads(self.text(name))


def release(folder: Path, words: Mapping[str, str] | None = None, **facts) -> Release:
    """`facts` go over the manifest's. Two items are for training, one for testing; their documents are not written."""
    folder.mkdir()
    lines = [line(0, "train"), line(1, "train", ("swap", "att")), line(2, "test")]
    rows = _data(folder, lines) | _tables(folder, lines)
    judgments = pa.table({name: [JUDGMENT.get(name)] for name in JUDGMENTS.names}, schema=JUDGMENTS)
    rows["judgments.parquet"] = write_judgments(folder / "judgments.parquet", [judgments])
    figures = {
        "funnel": {"stages": [{"name": "choose", "entered": 5, "kept": 3, "dropped": 1, "open": 1}]},
        "stages": [{"study": {"stage_name": "choose"}, "agreement": [AGREED]}],
        "baselines": [],
    }
    write_json(folder / "figures.json", figures)
    plan = Plan("cats", "1.2", splits={"train": 60, "test": 40}, words=dict(words or {}))
    files = {name: {**digest(folder / name), "rows": rows.get(name)} for name in files_below(folder)}
    return Release(folder, {**_manifest(plan), "files": files, **facts}, figures)


def _data(folder: Path, lines: list[dict]) -> dict[str, int]:
    (folder / "data").mkdir()
    rows = {}
    for split in ("train", "test"):
        name = f"data/{split}-00000-of-00001.parquet"
        file = ParquetFile(folder / name, SCHEMA)
        for number in (number for number, one in enumerate(lines) if one["split"] == split):
            file.add(dict(row(number, split).cells))
        file.close()
        rows[name] = file.count
    return rows


def _tables(folder: Path, lines: list[dict]) -> dict[str, int]:
    shown = [
        {"sha256": one * 64, "licence": licence} for one, licence in zip("012f", ["", "", "CC0", "CC0"], strict=True)
    ]
    annotator = {"annotator": "A-01", "simulated": False, "excluded": True, "exclusion_reason": "x", "stages": []}
    tables = {
        "items": lines, "dropped": [], "not_asked": [], "tasks": [], "texts": [], "adjudications": [], "flags": [],
        "corrections": [], "images": shown,
        "annotators": [annotator, {**annotator, "annotator": "A-02", "excluded": False}],
    }  # fmt: skip
    return {f"{name}.jsonl": write_lines(folder / f"{name}.jsonl", found) for name, found in tables.items()}


def _manifest(plan: Plan) -> dict:
    study = {"name": "Cats", "benchmark": "Animals", "currency": "EUR", "pay_per_hour": None}
    reasons = [{"name": "choose", "stage": 1, "reason": "no_image_fits", "items": 1, "share": 0.2, "waits": False}]
    return {
        "version": "9.9", "release": plan.as_json(),
        "study": study, "stages": [STAGE], "columns": COLUMNS, "source_format": "",
        "counts": {"imported": 5, "kept": 3, "dropped": 1, "not_asked": 0, "open": 1,
                   "reasons": reasons, "not_asked_in": [], "open_in": []},
        "last_judgment_at": "2026-03-02", "splits": {"train": {"items": 2}, "test": {"items": 1}},
        "split_rule": "60 % train, 40 % test.", "moved": {},
        "exclusions": [{"annotator": "A-01", "reason": "Answered | at *random*"}],
    }  # fmt: skip
