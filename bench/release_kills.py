"""Workers that are killed (kill -9) at an export and at a release, at twenty points each.

    python -m bench.release_kills [--kills 20] [--items 40]

The points are spread evenly over the files and statements of a run that goes through, which are counted first. After
each, a worker that starts finds nothing half done, and makes the very file that a run without a kill makes. Starts
servers of its own in a temporary place.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.scratch import winnow

DYING = Path(__file__).resolve().parents[1] / "tests" / "annotation" / "releases" / "dying.py"
ROOT = DYING.parent.parent.parent.parent


def child(kind: str, job: int, moment: int) -> subprocess.CompletedProcess:
    command = [sys.executable, str(DYING), kind, str(job), str(moment)]
    own = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=own, capture_output=True, text=True, check=False)


def kills(kind: str, study, count: int, var: Path) -> None:
    from annotation.models import Release
    from tests.annotation.releases import killing

    started, whole = time.monotonic(), 0
    steps = lived(kind, killing.queued(study, kind).pk)
    for number in range(1, count + 1):
        job = killing.queued(study, kind)
        at = steps * number // (count + 1)
        done = child(kind, job.pk, at)
        assert done.returncode == -9, (at, done.stderr[-2000:])
        whole += finished(job, kind, var, at)
    assert kind == "export" or Release.objects.filter(frozen_at=None).count() == 0
    seconds = time.monotonic() - started
    print(
        f"{kind}: killed at {count} of {steps} steps, {count - whole} left nothing and {whole} all; "
        f"the next worker made each the same file ({seconds:.0f} s)"
    )


def lived(kind: str, job: int) -> int:
    done = child(kind, job, 0)
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout.splitlines()[-1])


def finished(job, kind: str, var: Path, at: int) -> bool:
    """What a worker that starts finds of it, and what it makes. Whether all of it was there already."""
    from benchmarks import tasks
    from benchmarks.jobs import work_folder
    from benchmarks.models import JobState
    from tests.annotation.releases import killing

    killing.wait_until_dead(job)
    job.refresh_from_db()
    whole = job.state == JobState.DONE
    assert whole or job.report == {}, (at, job.state)
    tasks.tidy_up()
    assert not [*(var / "work").iterdir()], at
    found = [path for path in (var / "media").rglob("*.zip") if f"/{job.pk}/" in str(path)]
    assert kind == "release" or bool(found) == whole, (at, found)
    killing.RUN[kind](job.pk)
    job.refresh_from_db()
    assert job.state == JobState.DONE, (at, job.problems)
    assert not [*(var / "work").iterdir()] and not [*var.rglob("*.part")], at
    assert not work_folder.place_of(job.pk).exists()
    assert killing.sha256(var / "media" / file_of(job)) == killing.undisturbed(job), at
    return whole


def file_of(job) -> str:
    from annotation.models import Release

    return job.report.get("file") or Release.objects.get(pk=job.report["release"]).file


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--items", type=int, default=40)
    asked = options.parse_args()
    with winnow(durable=False) as var:
        from tests.builders import crowds, pipelines
        from workers.celery import app

        app.conf.update(task_always_eager=False)
        study = pipelines.with_originals(crowds.stage(items=asked.items).study)
        for kind in ("export", "release"):
            kills(kind, study, asked.kills, var)


if __name__ == "__main__":
    main()
