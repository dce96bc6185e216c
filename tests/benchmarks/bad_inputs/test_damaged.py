"""Files damaged at seeded places: each is refused in sentences that can be stored, or read, within bounds.

The readers and checks alone. Archives: `tests/workers/test_archives.py`.
"""

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.registry import FORMATS
from benchmarks.predictions import reading
from benchmarks.predictions.bivlc_results import COLUMNS, CORRECT_COLUMNS
from benchmarks.predictions.collecting import collect, complete
from benchmarks.predictions.evaluating import evaluate
from benchmarks.predictions.kinds import KINDS, RETRIEVAL
from benchmarks.predictions.matching import match
from benchmarks.records import CaptionRecord, ItemRecord
from tests.benchmarks.bad_inputs.case import ImportFiles, written
from tests.benchmarks.bad_inputs.damage import damaged
from tests.benchmarks.bad_inputs.matrix import HOLDING, Row, input_of
from tests.benchmarks.bad_inputs.outcome import checked
from tests.benchmarks.bad_inputs.texts import text_of
from tests.builders.parquet_files import bivlc, bivlc_row

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 5  # a file


def nightly(few: int, many: int) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("most", [few, pytest.param(many, marks=pytest.mark.nightly)])


def assert_storable(log: ProblemLog) -> None:
    """What is told of the file goes into PostgreSQL's JSON."""
    told = json.dumps([problem.as_json() for problem in (*log.problems, *log.notes)], ensure_ascii=False)
    assert told.encode() and "\\u0000" not in told
    assert all(problem.code and problem.advice for problem in log.problems)


def files_of(path: Path) -> Iterable[Path]:
    found = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [file for file in found if file.is_file() and file.suffix in (".csv", ".tsv", ".json", ".jsonl")]


# Items


@pytest.mark.parametrize("format", [name for name in FORMATS if name not in HOLDING])
@nightly(100, 2000)
def test_files_of_items(tmp_path, format, most):
    given, rng, found = input_of(tmp_path, format, Row(), Row(id="2")), random.Random(7), Counter[bool]()
    whole = {file: file.read_bytes() for file in files_of(given.path)}
    for number in range(most):
        file = rng.choice(list(whole))
        file.write_bytes(damaged(whole[file], rng))
        started = time.monotonic()
        records, log = checked(given, text_only=True, skip_incomplete=number % 3 == 0)
        assert time.monotonic() - started < SECONDS, number
        assert_storable(log)
        assert log.count or all(caption.text.encode() for record in records for caption in record.captions)
        found[log.count > 0] += 1
        file.write_bytes(whole[file])
    assert found[True] > most / 3


# Parquet: in a process of its own, with the memory that Winnow's own trial has


@nightly(60, 2000)
def test_parquet(tmp_path, most):
    path = bivlc(tmp_path, *(bivlc_row(number) for number in range(1, 4)))
    command = [sys.executable, "-m", __name__, str(path), str(most)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60 + most)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["refused"] > most / 4


def read_damaged_parquet(path: Path, most: int) -> dict[str, int]:
    """How many of so many damaged copies of a file are refused, and how many are read."""
    from workers import limits, parquet

    parquet._bound_memory(4 * limits.MAX_PARQUET_MEMORY)  # beside Winnow's own code, which the trial does not load
    parquet.trial_in_child = parquet.trial
    whole, rng, found = path.read_bytes(), random.Random(7), Counter({"refused": 0, "read": 0})
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    for number in range(most):
        path.write_bytes(damaged(whole, rng, footer if number % 2 else 0))
        started = time.monotonic()
        _, log = checked(ImportFiles("bivlc-parquet", path), text_only=False, skip_incomplete=False)
        assert time.monotonic() - started < SECONDS, number
        assert_storable(log)
        found["refused" if log.count else "read"] += 1
    return found


# Predictions

TEXTS = ("A red cup, {}é.", "A cup that is red, {}.", "A blue cup, {}.")
ITEMS = [
    ItemRecord(
        str(number), "swap", "att", images=(),
        captions=tuple(
            CaptionRecord(role, text.format(number))
            for role, text in zip(("positive", "second_positive", "negative"), TEXTS, strict=True)
        ),
    )
    for number in range(4)
]  # fmt: skip


def lines_of(kind: str) -> str:
    """Scores of two items by their ids, choices of two by their captions."""
    names, kinds = KINDS[kind].scores[:6], {"type": "swap", "subtype": "att"}
    lines: list[dict] = [
        {"item": item.key, "question": name, "score": len(name) / 7, **kinds} for item in ITEMS[:2] for name in names
    ]
    for item in ITEMS[2:]:
        captions = {caption.role: caption.text for caption in item.captions}
        lines += [
            {"item": captions, "question": name, "choice": of.right} for name, of in KINDS[kind].questions.items()
        ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def rows_of(columns: Iterable[str], **values: str) -> str:
    """A row for each item: its two captions, its type, and 1 in every other column."""
    columns = list(columns)
    rows = []
    for item in ITEMS:
        said = {"caption": item.caption("positive"), "negative_caption": item.caption("negative"), **values}
        rows.append([said.get(name, "1") for name in columns])
    return text_of(*rows, header=columns)


TABLE = "".join(
    json.dumps({"item": image, "question": f"s({caption}/0)", "score": 0.5}) + "\n"
    for image in "12"
    for caption in "12"
)
PREDICTIONS = {
    **{f"{kind}.jsonl": (kind, lines_of(kind)) for kind in KINDS if kind != RETRIEVAL.name},
    "retrieval.jsonl": (RETRIEVAL.name, TABLE),
    "results_x.csv": ("bivlc", rows_of(COLUMNS)),
    "correct.csv": ("sugarcrepe", rows_of(CORRECT_COLUMNS)),
}


@pytest.mark.parametrize("name", PREDICTIONS)
@nightly(100, 2000)
def test_predictions(tmp_path, name, most):
    kind, text = PREDICTIONS[name]
    rng, found = random.Random(7), Counter[bool]()
    for number in range(most):
        path = written(tmp_path, name, damaged(text.encode(), rng))
        started = time.monotonic()
        log = evaluated(path, kind, skip_incomplete=number % 3 == 0)
        assert time.monotonic() - started < SECONDS, number
        assert_storable(log)
        found[log.count > 0] += 1
    assert found[True] > most / 3


def evaluated(path: Path, name: str, skip_incomplete: bool) -> ProblemLog:
    """The log of reading a file of predictions and computing on what is in it."""
    kind, log = KINDS[name], ProblemLog(skip_incomplete)
    abouts = collect(reading.read_answers([path], kind, log), log)
    if kind is not RETRIEVAL and not log.count:
        matching = match(abouts, ITEMS)
        json.dumps(matching.as_json(), ensure_ascii=False).encode()
        abouts = [about for about, _ in complete(matching.matched, kind, log)]
    if abouts and not log.count:
        evaluate(abouts, kind, log)
    return log


if __name__ == "__main__":
    print(json.dumps(read_damaged_parquet(Path(sys.argv[1]), int(sys.argv[2]))))
