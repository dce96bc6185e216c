"""Make a release at full size: seconds for each part of its job, the process's peak memory, and its verification.

    python -m bench.releases                               (about 12 GB of temporary disk; many minutes)
    python -m bench.releases --items 500 --judgments
    python -m bench.releases --items 0 --judgments 10000 100000

First BiVLC's 7,512 real rows with a stand-in for every image that they name, judged in bulk so that every item is kept,
released in all forms. Then a study of each number of judgments by SQL, whose five images are the same everywhere,
released with its times and annotators. CPU seconds are those of the process, without PostgreSQL's. Starts its own
servers; every release is made, and verified, in a separate process.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from bench import scratch
from bench.import_full import TABLE, named_images, pack

MAKE = """
import json, resource, sys, time, django
django.setup()
from annotation.models import Release
from annotation.releases import lifecycle
from benchmarks.jobs import jobs
phases, state = {}, ["", 0.0]
def tell(phase, done, total):
    if phase != state[0]:
        now = time.monotonic()
        if state[0]:
            phases[state[0]] = now - state[1]
        state[:] = [phase, now]
release = Release.objects.get(pk=int(sys.argv[1]))
job = jobs.run(job_id=release.job_id, by="measure", work=lifecycle.run_release, tell=tell)
phases[state[0]] = time.monotonic() - state[1]
assert job.state == "done", job.problems
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"phases": phases, "cpu": time.process_time(), "memory": most}))
"""
VERIFY = """
import json, resource, sys, time
from pathlib import Path
from annotation.releases.verification.verifying import verify
begun = time.monotonic()
report = verify(Path(sys.argv[1]))
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
spent = {"seconds": time.monotonic() - begun, "cpu": time.process_time(), "memory": most}
print(json.dumps(spent | {"problems": report.problems[:5]}))
"""


def work(code: str, *arguments: object) -> dict:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])


def items(count: int, var: Path) -> None:
    """Import items as for a lab's first study, and judge them in bulk."""
    from annotation.releases.plan import FORMS
    from benchmarks.imports import run as run_import
    from benchmarks.imports.order import Files, queue_import
    from benchmarks.jobs import jobs
    from benchmarks.models import Benchmark
    from tests.builders import crowds, studies

    table = var / "rows.csv"
    table.write_text("".join(TABLE.read_text().splitlines(keepends=True)[: count + 1]))
    pack(named_images(table), var / "images.tar")
    job = queue_import(name="Measured", format="bivlc-candidates", files=Files(table, var / "images.tar"), by="measure")
    assert jobs.run(job_id=job.pk, by="measure", work=run_import.import_files).state == "done"
    (var / "images.tar").unlink()
    made = studies.study(benchmark=Benchmark.objects.get(name="Measured"), overlap=2, pay_per_hour=12)
    crowds.Shift.pick = lambda shift, slot, error: slot.task.options[slot.task_id % len(slot.task.options)]
    crowds.work(made, people=16, undone=0)
    release(made, var, "items", splits={"train": 80, "validation": 20}, forms=FORMS)


def judgments(count: int, var: Path, begin: int) -> None:
    """`begin` numbers the study's pictures, which no two studies share."""
    from bench.filled_study import filled, run
    from tests.builders.pipelines import with_originals

    study = with_originals(filled(count).study, begin)
    run("VACUUM ANALYZE")
    release(study, var, f"judgments-{count}", forms=("jsonl",), public=("times", "annotators"))


def release(study, var: Path, name: str, **plan: object) -> None:
    from annotation.releases import lifecycle as release_lifecycle
    from annotation.releases.plan import Plan

    made = release_lifecycle.freeze(study=study, plan=Plan(name, "1.0", **plan), by="measure")
    began = time.monotonic()
    told = work(MAKE, made.pk)
    seconds = time.monotonic() - began
    made.refresh_from_db()
    counts = made.summary["counts"]
    print(f"{name}: {counts['kept']:,} items kept of {counts['imported']:,}; {made.size / 1e6:,.0f} MB", flush=True)
    print(f"  {seconds:,.0f} s, of the CPU {told['cpu']:,.1f} s; peak memory {told['memory']:,.0f} MB")
    print("  " + ", ".join(f"{phase} {spent:,.0f} s" for phase, spent in told["phases"].items()), flush=True)
    release_lifecycle.unpack(made, var / name)
    found = work(VERIFY, var / name)
    said = found["problems"] or "sound"
    spent = f"{found['seconds']:,.0f} s, of the CPU {found['cpu']:,.1f} s"
    print(f"  verified in {spent}; peak memory {found['memory']:,.0f} MB: {said}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=7512)
    parser.add_argument("--judgments", type=int, nargs="*", default=[1_000_000], help="a study of each size")
    options = parser.parse_args()
    with scratch.winnow(durable=False) as var:
        if options.items:
            items(options.items, var)
        for number, count in enumerate(options.judgments):
            judgments(count, var, 10 * number)


if __name__ == "__main__":
    main()
