"""Parquet files from unknown sources, read in batches of few rows.

Arrow trusts a file's own metadata: a small file can demand any amount of memory, and a damaged one can end the process.
`refuse_unsafe` therefore first reads the whole file in a child process with bounded memory, which runs this module as a
script without Django:

    python -m workers.parquet PATH '{"memory": …, "columns": …, "rows": …, "bytes": …}'

It prints `[]`, or the problem's [code, advice].
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workers import limits

ROOT = Path(__file__).resolve().parent.parent
TRIAL = ("-E", "-s", "-m", "workers.parquet")  # ignore Python settings in the environment
MAGIC, ENCRYPTED = b"PAR1", b"PARE"
ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # other pools reserve more than they use
TAIL = 8  # bytes: the footer's length, and the magic again
ACCEPTED = "Use a parquet file."
UNREADABLE = "Write the file again, without encryption; it cannot be read"
GROUPS = "Write it with smaller row groups (such as 100 rows), or split it."


class ParquetRefused(Exception):
    def __init__(self, code: str, advice: str):
        self.code, self.advice = code, advice
        super().__init__(f"{code} · {advice}")


def refuse_unsafe(path: Path, rows: int) -> None:
    """Raise ParquetRefused unless the whole file can be read in bounded memory and has at most `rows` rows.

    EMPTY_FILE, WRONG_TYPE, FILE_UNREADABLE, FILE_TOO_LARGE, TOO_MANY_ROWS; SCHEMA if it has too many columns.
    """
    _refuse_by_ends(path)
    bounds = {"memory": limits.MAX_PARQUET_MEMORY, "columns": limits.MAX_PARQUET_COLUMNS, "rows": rows}
    if found := trial_in_child(path, bounds | {"bytes": limits.MAX_PARQUET_BYTES}):
        raise ParquetRefused(*found)


def schema(path: Path) -> pa.Schema:
    """Return the schema of a file that `refuse_unsafe` has accepted."""
    return pq.read_schema(path)


def batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield these columns of a file that `refuse_unsafe` has accepted, a few rows at a time."""
    with pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
        yield from file.iter_batches(_batch_rows(file.metadata), columns=list(columns), use_threads=False)


def _refuse_by_ends(path: Path) -> None:
    """Check the magic bytes at both ends, and the length of the footer, which is read whole."""
    with path.open("rb") as file:
        start, size = file.read(len(MAGIC)), file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL))
        tail = file.read(TAIL)
    if not size:
        raise ParquetRefused("EMPTY_FILE", f"The file is empty. {ACCEPTED}")
    if start == ENCRYPTED:
        raise ParquetRefused("FILE_UNREADABLE", "The file is encrypted. Write it without encryption.")
    if start != MAGIC:
        raise ParquetRefused("WRONG_TYPE", f"The file's content does not match its name. {ACCEPTED}")
    if size < len(MAGIC) + TAIL or tail[-len(MAGIC) :] != MAGIC:
        raise ParquetRefused("FILE_UNREADABLE", "The end of the file is missing. Copy it again from its source.")
    if int.from_bytes(tail[:4], "little") > limits.MAX_PARQUET_FOOTER:
        advice = (
            f"Its footer may have at most {limits.MAX_PARQUET_FOOTER:,} bytes. Use fewer columns, larger row groups."
        )
        raise ParquetRefused("FILE_TOO_LARGE", advice)


def trial_in_child(path: Path, bounds: dict[str, int]) -> list[str]:
    """Run `trial` in a child process. If it dies, or does not finish, the file cannot be read."""
    command = [sys.executable, *TRIAL, str(path.resolve()), json.dumps(bounds)]
    environment = os.environ | ENVIRONMENT
    most = limits.MAX_PARQUET_SECONDS + path.stat().st_size // limits.PARQUET_BYTES_A_SECOND
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment, timeout=most
        )
    except subprocess.TimeoutExpired:
        return ["FILE_UNREADABLE", f"{UNREADABLE} in {most:,} seconds."]
    return ["FILE_UNREADABLE", f"{UNREADABLE}."] if done.returncode else json.loads(done.stdout)


def trial(path: Path, bounds: dict[str, int]) -> list[str]:
    """Read the file from end to end: `[]`, or [code, advice] for the first bound it exceeds."""
    try:
        with pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            return exceeded_by_metadata(file.metadata, bounds) or _exceeded_by_count(file, bounds)
    except MemoryError:
        return ["FILE_TOO_LARGE", f"Reading it takes more than {bounds['memory']:,} bytes of memory. {GROUPS}"]
    except Exception as error:  # Arrow raises its own, Python's and the operating system's exceptions
        return ["FILE_UNREADABLE", f"{UNREADABLE} ({' '.join(str(error).split())[:150]})."]


def exceeded_by_metadata(metadata: pq.FileMetaData, bounds: dict[str, int]) -> list[str]:
    """Check the file's metadata, which may be enough to reject it, but never to accept it."""
    return _exceeded(metadata.num_columns, metadata.num_rows, _claimed_bytes(metadata), bounds)


def _exceeded(columns: int, rows: int, size: int, bounds: dict[str, int]) -> list[str]:
    if columns > bounds["columns"]:
        return ["SCHEMA", f"Expected the format's columns, found {columns:,}; use at most {bounds['columns']:,}."]
    if rows > bounds["rows"]:
        return ["TOO_MANY_ROWS", f"Use at most {bounds['rows']:,} items per import; split it."]
    if size > bounds["bytes"]:
        return ["FILE_TOO_LARGE", f"It unpacks to more than {bounds['bytes']:,} bytes; split it."]
    return []


def _exceeded_by_count(file: pq.ParquetFile, bounds: dict[str, int]) -> list[str]:
    rows = size = 0
    for batch in file.iter_batches(batch_size=_batch_rows(file.metadata), use_threads=False):
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if found := _exceeded(0, rows, size, bounds):
            return found
    return []


def _batch_rows(metadata: pq.FileMetaData) -> int:
    """Return the number of rows that take about 8 MiB according to the file."""
    return max(1, min(1000, 8 * 2**20 * metadata.num_rows // max(_claimed_bytes(metadata), 1)))


def _claimed_bytes(metadata: pq.FileMetaData) -> int:
    return sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))


def _bound_memory(most: int) -> None:
    """Limit this process's data memory. On systems without such a limit, counting has to be enough."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return


if __name__ == "__main__":
    given = json.loads(sys.argv[2])
    _bound_memory(given["memory"])
    print(json.dumps(trial(Path(sys.argv[1]), given)))
