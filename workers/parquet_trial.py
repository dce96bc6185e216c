"""A parquet file read from end to end in a process of its own, before the worker reads it.

    python parquet_trial.py PATH '{"memory": …, "columns": …, "rows": …, "bytes": …}'

Arrow believes what a file says of itself: a small one can ask for any amount of memory, and a damaged one can end the
process. Here that ends nothing but this process. Prints `[]`, or [code, what to do] of what is wrong.
"""

import json
import sys

import pyarrow as pa
import pyarrow.parquet as pq

UNREADABLE = "Write the file again, without encryption; it cannot be read"
GROUPS = "Write it with smaller row groups (such as 100 rows), or split it."


def verdict(path: str, most: dict[str, int]) -> list[str]:
    try:
        with pq.ParquetFile(path, buffer_size=2**20, pre_buffer=False) as file:
            return by_metadata(file.metadata, most) or by_counting(file, most)
    except MemoryError:
        return ["FILE_TOO_LARGE", f"Reading it takes more than {most['memory']:,} bytes of memory. {GROUPS}"]
    except Exception as error:  # Arrow raises its own, Python's and the operating system's
        return ["FILE_UNREADABLE", f"{UNREADABLE} ({' '.join(str(error).split())[:150]})."]


def bound_memory(most: int) -> None:
    """Of all its memory but the code. Where the system knows no such limit, counting must do."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        return


def by_metadata(metadata: pq.FileMetaData, most: dict[str, int]) -> list[str]:
    """What the file says of itself is enough to refuse it, never enough to take it."""
    told = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    return over(metadata.num_columns, metadata.num_rows, told, most)


def over(columns: int, rows: int, size: int, most: dict[str, int]) -> list[str]:
    if columns > most["columns"]:
        return ["SCHEMA", f"Expected the format's columns, found {columns:,}; give at most {most['columns']:,}."]
    if rows > most["rows"]:
        return ["TOO_MANY_ROWS", f"Give at most {most['rows']:,} items an import; split it."]
    if size > most["bytes"]:
        return ["FILE_TOO_LARGE", f"It unpacks to more than {most['bytes']:,} bytes; split it."]
    return []


def by_counting(file: pq.ParquetFile, most: dict[str, int]) -> list[str]:
    rows = size = 0
    for batch in file.iter_batches(batch_size=batch_rows(file.metadata), use_threads=False):
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if found := over(0, rows, size, most):
            return found
    return []


def batch_rows(metadata: pq.FileMetaData) -> int:
    """So many rows that they take about 8 MiB, by what the file says."""
    told = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    return max(1, min(1000, 8 * 2**20 * metadata.num_rows // max(told, 1)))


if __name__ == "__main__":
    bounds = json.loads(sys.argv[2])
    bound_memory(bounds["memory"])
    print(json.dumps(verdict(sys.argv[1], bounds)))
