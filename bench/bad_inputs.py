"""The heavy rows of the list of malformed inputs at full size, and an import that is killed at twenty points.

    python -m bench.bad_inputs [--only bombs|kills]        (a few minutes, 1 GB of temporary disk)

Each bomb is imported by a process of its own: its code, how long the verdict took (at most 30 s) and the memory of that
process and of the one that looks through parquet files (below 512 MB each). A killed import leaves all of itself or
nothing, once the next worker has started. Starts servers of its own in a temporary place.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.scratch import winnow
from tests.benchmarks.bad_inputs.case import Cases, ImportFiles

MEMORY, SECONDS = 512, 30  # MB; of a verdict
KILLS, ITEMS = 20, 6
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
    """A million take its writer a quarter of an hour; their footer alone is refused, see the next."""
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
            told = child("import", given.format, str(given.path), str(given.images or ""))
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


def child(*arguments: str, dies: bool = False) -> dict:
    """This file again, in a process of its own on the same servers; what it printed."""
    command = [sys.executable, "-m", "bench.bad_inputs", "--child", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == (-9 if dies else 0), done.stderr[-2000:]
    return {} if dies else json.loads(done.stdout.splitlines()[-1])


def import_here(format: str, path: str, images: str) -> None:
    import resource

    from tests.builders import imports
    from tests.peak_memory import peak_memory

    job = imports.imported(Path(path), Path(images) if images else None, format=format, name="Bomb")
    looking = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({"codes": imports.codes(job), "memory": peak_memory() / 2**20, "looking": looking}))


# Kills


def kills() -> None:
    """Spread evenly over the files and statements of an import, which are counted at a first one that goes through."""
    from benchmarks import tasks
    from benchmarks.imports import staging
    from benchmarks.jobs import uploads
    from tests.builders import imports

    steps, whole = child("kill", str(queued(0)), "0")["steps"], 0
    for number in range(1, KILLS + 1):
        before, job = state(), queued(number)
        at = steps * number // (KILLS + 1)
        child("kill", str(job), str(at), dies=True)
        wait_until_dead(job)
        staging.sweep_staging()  # what a worker does when it starts
        uploads.sweep()
        rows, files, _ = state()
        stored = rows["Item"] - before[0]["Item"]
        assert stored in (0, ITEMS) and (stored == ITEMS or (rows, files) == before[:2]), (at, before, rows)
        assert imports.stored_files(media()) == imports.named_files(), (
            at,
            imports.stored_files(media() / "staging"),
        )
        whole += bool(stored)
        tasks.run_import(job)  # the next worker takes it up
        assert state()[0]["Item"] == before[0]["Item"] + ITEMS, at
        assert imports.stored_files(media()) == imports.named_files(), at
    print(
        f"killed at {KILLS} of {steps} steps: {KILLS - whole} left nothing, {whole} had stored all; the next worker did"
    )


def wait_until_dead(job: int) -> None:
    """PostgreSQL lets go of a killed process's lock when it finds the connection closed."""
    from benchmarks.jobs import jobs

    for _ in range(100):
        with jobs.alone(f"job:{job}") as dead:
            if dead:
                return
        time.sleep(0.1)
    raise AssertionError(f"job {job} is held by nobody and cannot be had")


def media() -> Path:
    from django.conf import settings

    return Path(settings.MEDIA_ROOT)


def queued(number: int) -> int:
    """A job of some items whose pictures no other job has."""
    from tests.builders import imports

    folder = Path(os.environ["WINNOW_VAR"]) / f"given{number}"
    folder.mkdir()
    items = [imports.item(place) for place in range(ITEMS)]
    names = [image["file"] for made in items for image in made["images"]]
    with zipfile.ZipFile(folder / "images.zip", "w") as packed:
        for place, name in enumerate(names):
            packed.writestr(name, imports.jpeg(number * 100 + place))
    return imports.queued(imports.manifest(folder, items), folder / "images.zip", name=f"Cups {number}").pk


def kill_here(job: str, at: str) -> None:
    """Runs the job and dies at that step; steps are files opened, made, moved or removed, and statements."""
    import signal

    from django.db import connection

    from benchmarks import tasks

    steps = 0

    def step(*_) -> None:
        nonlocal steps
        steps += 1
        if steps == int(at):
            os.kill(os.getpid(), signal.SIGKILL)

    def statement(execute, sql, params, many, context):
        step()
        return execute(sql, params, many, context)

    sys.addaudithook(lambda event, _: step() if event in {"open", "os.mkdir", "os.rename", "os.remove"} else None)
    with connection.execute_wrapper(statement):
        tasks.run_import(int(job))
    print(json.dumps({"steps": steps}))


CHILDREN = {"import": import_here, "kill": kill_here}
PARTS = {"bombs": bombs, "kills": kills}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--only", choices=PARTS)
    options.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.child:
        import django

        django.setup()
        CHILDREN[asked.child[0]](*asked.child[1:])
        return
    with winnow(durable=False):
        media().mkdir(exist_ok=True)
        for name, part in PARTS.items():
            if asked.only in (None, name):
                part()


if __name__ == "__main__":
    main()
