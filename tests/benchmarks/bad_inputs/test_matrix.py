"""The list of malformed inputs, each row for each format: its code, or no problem and the notes that it must have.

These tests run the readers, checks, archives and images alone. `test_import.py` takes each row through an import.
"""

import json
import time
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.registry import FORMATS
from tests.benchmarks.bad_inputs.case import ImportFiles
from tests.benchmarks.bad_inputs.matrix import CELLS, ELSEWHERE, HOLDING, PARQUET, REASONS, ROWS, WRITERS, Row, input_of
from tests.benchmarks.bad_inputs.outcome import checked
from tests.benchmarks.bad_inputs.published_list import EVERY, LISTED
from tests.benchmarks.bad_inputs.scaled import SCALED, scale

pytestmark = pytest.mark.usefixtures("parquet_trial_in_process")


def verdict(files: ImportFiles, text_only: bool = False, skip_incomplete: bool = False) -> tuple[int, ProblemLog]:
    """How many records there are, and the log."""
    started = time.monotonic()
    records, log = checked(files, text_only=text_only, skip_incomplete=skip_incomplete)
    assert time.monotonic() - started < 30
    return len(records), log


def assert_refused(files: ImportFiles, code: str) -> None:
    _, log = verdict(files)
    assert code in {problem.code for problem in log.problems}, log.problems
    assert log.count >= len(log.problems) > 0
    assert all(problem.advice and len(json.dumps(asdict(problem))) < 2000 for problem in log.problems)


def assert_accepted(files: ImportFiles, notes: tuple[str, ...] = ()) -> None:
    """Inputs without images are read as text alone."""
    count, log = verdict(files, text_only=files.images is None and files.format not in HOLDING)
    assert (log.problems, count > 0) == ([], True)
    assert {*log.noted} >= {*notes}


def assert_as_listed(files: ImportFiles, code: str | None, notes: tuple[str, ...] = ()) -> None:
    if code:
        assert_refused(files, code)
    else:
        assert_accepted(files, notes)


@pytest.mark.parametrize("row", sorted({EVERY[name].row for name in LISTED}))
def test_each_case_of_the_list(row, tmp_path, monkeypatch):
    for name in LISTED:
        if EVERY[name].row == row:
            with monkeypatch.context() as patch:
                scale(name, patch)
                assert_as_listed(EVERY[name].build(folder(tmp_path, name)), EVERY[name].code)


@pytest.mark.parametrize("row", sorted({cell.row for cell in CELLS.values()}))
def test_each_row_for_each_format(row, tmp_path):
    for name, cell in CELLS.items():
        if cell.row == row:
            assert_as_listed(cell.build(folder(tmp_path, name)), cell.code, cell.notes)


def test_every_format_can_be_written():
    missing = sorted(FORMATS.keys() - WRITERS.keys())
    assert not missing, (
        f"Give {', '.join(missing)} a function in WRITERS of matrix.py that writes rows as its files have them, and "
        "name it in TABLES, JSON, PLACED or LOOKED_AT if it belongs there."
    )


def test_every_row_applies_to_a_format_or_there_is_a_reason():
    covered = {(cell.row, cell.format) for cell in CELLS.values()} | {(c.row, "jsonl") for c in EVERY.values()}
    covered |= {(row, format) for row in ELSEWHERE for format in WRITERS}
    wanted = {(row, format) for row in ROWS for format in WRITERS}
    unsaid = sorted(wanted - covered - set(REASONS))
    assert not unsaid, f"Of each of these rows and formats, matrix.py needs a case or, in REASONS, why not: {unsaid}"
    assert set(REASONS) <= wanted
    assert not {pair for pair, reason in REASONS.items() if not reason}


@pytest.mark.parametrize("format", WRITERS)
def test_row_43_gaps_refuse_all_unless_they_are_left_out(format, tmp_path):
    gap = None if format in PARQUET else " "
    files = input_of(tmp_path, format, Row(caption="A cup, one."), Row(caption=gap, id="2"))
    _, log = verdict(files)
    (problem,) = {problem.code for problem in log.problems}
    assert problem in {"VALUE_MISSING", "INCOMPLETE_ROW"}
    count, log = verdict(files, text_only=format not in HOLDING, skip_incomplete=True)
    assert (log.problems, count, log.left_out) == ([], 1, 1)


@pytest.mark.parametrize("format", [name for name in WRITERS if name not in HOLDING])
def test_row_3_many_files(format, tmp_path, monkeypatch):
    scale("many_entries", monkeypatch)
    images = SCALED["many_entries"].build(tmp_path).images
    assert_refused(replace(input_of(tmp_path, format, Row("0000")), images=images), "TOO_MANY_FILES")


def test_the_files_are_as_they_were(tmp_path: Path):
    """Reading changes nothing of an input, be it refused or accepted."""
    files = [input_of(folder(tmp_path, format), format, Row()) for format in WRITERS]
    before = contents(tmp_path)
    for one in files:
        verdict(one)
    assert contents(tmp_path) == before


def folder(root: Path, name: str) -> Path:
    (root / name).mkdir()
    return root / name


def contents(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}
