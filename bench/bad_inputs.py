"""Import the heaviest malformed inputs at full size.

    python -m bench.bad_inputs        (a few minutes, 1 GB of temporary disk)

Each bomb is imported by a separate process: its code, how long the verdict took (at most 30 s) and the memory of that
process and of the one that looks through parquet files (below 512 MB each). Starts its own servers in a temporary
place.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.scratch import winnow
from tests.benchmarks.bad_inputs.case import Cases, ImportFiles

MEMORY, SECONDS = 512, 30  # MB; for a verdict
PARQUET = Cases()


# Parquet bombs


def parquet(folder: Path) -> ImportFiles:
    return ImportFiles("bivlc-parquet", folder / "data.parquet")


@PARQUET.case(37, "FILE_TOO_LARGE")
def a_value_of_a_gigabyte(folder):
    pq.write_table(pa.table({"caption": ["x" * 2**30]}), folder / "data.parquet", compression="zstd")
    return parquet(folder)


@PARQUET.case(37, "TOO_MANY_ROWS")
def a_billion_repeated_values(folder):
    many = pa.table({"caption": pa.DictionaryArray.from_arrays(pa.array(bytes(10**7), pa.int8()), ["x" * 1000])})
    with pq.ParquetWriter(folder / "data.parquet", many.schema) as writer:
        for _ in range(100):
            writer.write_table(many)
    return parquet(folder)


@PARQUET.case(37, "FILE_TOO_LARGE")
def a_hundred_gigabytes_of_one_value(folder):
    many = pa.table({"caption": pa.DictionaryArray.from_arrays(pa.array(bytes(10**5), pa.int8()), ["x" * 2**20])})
    pq.write_table(many, folder / "data.parquet", compression="zstd", store_schema=False)
    return parquet(folder)


@PARQUET.case(37, "SCHEMA")
def twenty_thousand_columns(folder):
    """Write many columns. A million would take a quarter of an hour; the next function tests their footer."""
    pq.write_table(pa.table({str(number): [1] for number in range(20_000)}), folder / "data.parquet")
    return parquet(folder)


@PARQUET.case(37, "FILE_TOO_LARGE")
def a_footer_of_a_hundred_megabytes(folder):
    size = 100 * 2**20
    (folder / "data.parquet").write_bytes(b"PAR1" + bytes(size) + size.to_bytes(4, "little") + b"PAR1")
    return parquet(folder)


def bombs() -> None:
    from tests.benchmarks.bad_inputs.published_list import CASES
    from tests.benchmarks.bad_inputs.scaled import FULL

    cases = {name: CASES[name] for name in sorted(FULL)} | PARQUET
    for name, case in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            given = case.build(Path(folder))
            before, started = state(), time.monotonic()
            told = child(given.format, str(given.path), str(given.images or ""))
            seconds = time.monotonic() - started
        assert case.code in told["codes"], (name, told)
        assert state() == before, name
        assert seconds < SECONDS and max(told["memory"], told["looking"]) < MEMORY, (name, seconds, told)
        memory = f"{told['memory']:,.0f} MB, beside it {told['looking']:,.0f} MB"
        print(f"row {case.row}, {name}: {case.code} after {seconds:.1f} s, {memory}")


def state() -> tuple:
    from django.conf import settings

    from tests.builders import imports

    return imports.rows(), imports.tree(Path(settings.MEDIA_ROOT)), imports.tree(Path(settings.VAR) / "uploads")


def child(*arguments: str) -> dict:
    """Run this file again in a separate process on the same servers; return what it printed."""
    command = [sys.executable, "-m", "bench.bad_inputs", "--child", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def import_here(format: str, path: str, images: str) -> None:
    import resource

    from tests.builders import imports
    from tests.peak_memory import peak_memory

    job = imports.imported(Path(path), Path(images) if images else None, format=format, name="Bomb")
    looking = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({"codes": imports.codes(job), "memory": peak_memory() / 2**20, "looking": looking}))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.child:
        import django

        django.setup()
        import_here(*asked.child)
        return
    with winnow(durable=False):
        from django.conf import settings

        Path(settings.MEDIA_ROOT).mkdir(exist_ok=True)
        bombs()


if __name__ == "__main__":
    main()
