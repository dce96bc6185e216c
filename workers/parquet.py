"""Parquet files that anybody may have written, in batches of few rows."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workers import limits
from workers.parquet_trial import UNREADABLE, batch_rows

TRIAL = Path(__file__).with_name("parquet_trial.py")
MAGIC, ENCRYPTED = b"PAR1", b"PARE"
OWN = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # other pools set aside more than they use
TAIL = 8  # bytes: how long the footer is, and the magic again
ACCEPTED = "Give a parquet file."


class ParquetRefused(Exception):
    def __init__(self, code: str, advice: str):
        self.code, self.advice = code, advice
        super().__init__(f"{code} · {advice}")


def refuse_unsafe(path: Path, rows: int) -> None:
    """ParquetRefused unless the whole of it can be read in bounded memory and has at most so many rows.

    EMPTY_FILE, WRONG_TYPE, FILE_UNREADABLE, FILE_TOO_LARGE, TOO_MANY_ROWS; SCHEMA where its columns are very many.
    """
    refuse_by_ends(path)
    most = {"memory": limits.MAX_PARQUET_MEMORY, "columns": limits.MAX_PARQUET_COLUMNS, "rows": rows}
    if found := tried(path, most | {"bytes": limits.MAX_PARQUET_BYTES}):
        raise ParquetRefused(*found)


def tried(path: Path, most: dict[str, int]) -> list[str]:
    """What a process of its own says of the file: `[]`, or a code and what to do."""
    command = [sys.executable, "-I", str(TRIAL), str(path), json.dumps(most)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | OWN)
    return ["FILE_UNREADABLE", f"{UNREADABLE}."] if done.returncode else json.loads(done.stdout)


def refuse_by_ends(path: Path) -> None:
    """The magic bytes at both ends, and the length of the footer that is read whole."""
    with path.open("rb") as file:
        start, size = file.read(len(MAGIC)), file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        tail = file.read(TAIL)
    if not size:
        raise ParquetRefused("EMPTY_FILE", f"The file is empty. {ACCEPTED}")
    if start == ENCRYPTED:
        raise ParquetRefused("FILE_UNREADABLE", "The file is encrypted. Write it without encryption.")
    if start != MAGIC:
        raise ParquetRefused("WRONG_TYPE", f"The file is not what its name says. {ACCEPTED}")
    if size < len(MAGIC) + TAIL or tail[-len(MAGIC) :] != MAGIC:
        raise ParquetRefused("FILE_UNREADABLE", "The end of the file is missing. Copy it again from its source.")
    if int.from_bytes(tail[:4], "little") > limits.MAX_PARQUET_FOOTER:
        advice = f"Its footer may have {limits.MAX_PARQUET_FOOTER:,} bytes: give fewer columns and larger row groups."
        raise ParquetRefused("FILE_TOO_LARGE", advice)


def schema(path: Path) -> pa.Schema:
    """Of a file that `refuse_unsafe` let pass."""
    return pq.read_schema(path)


def batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Those columns of a file that `refuse_unsafe` let pass, a few rows at a time."""
    with pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
        yield from file.iter_batches(batch_rows(file.metadata), columns=list(columns), use_threads=False)
