"""The study's manager, as a separate process: imports the material, then orders exports, releases and imports as
jobs, until its input ends; then waits for the jobs, has a last export made, and says what became of all of them.

Takes the arguments of `Manager` as one JSON object. Prints JSON lines: `{"study", "tokens"}` when the study can be
judged, a `Summary` at the end.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random

from tests.config.running import ROOT, Winnow

STUDY, OVERLAP, IMAGES, IMPORTED = "Nemesis", 5, 64, 20
AT_ONCE = 2  # jobs under way beyond which none is ordered
# How a job may fail: what Winnow says of a full disk, of a third death, of an object storage that hangs
EXPECTED = {"STORAGE_FULL", "WORKER_LOST", "STORAGE_UNAVAILABLE"}


@dataclass
class Summary:
    """`ended`: kind and state → how many jobs. `stuck`: jobs that did not end; `torn`: what a job left that it should
    not have, or did not make; `unexpected`: why jobs failed, beside what may happen. `export`: the last one's file.
    """

    ended: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    export: str = ""


class Manager:
    """The process, from outside. No Django here: a test's own is on another database."""

    def __init__(self, winnow: Winnow, *, judgments: int, annotators: int, every: float, seed: int):
        given = {"judgments": judgments, "annotators": annotators, "every": every, "seed": seed}
        command = [sys.executable, "-m", "bench.nemesis.manager", json.dumps(given)]
        own = winnow.environment | {"DJANGO_SETTINGS_MODULE": "config.settings"}
        self.log = winnow.var / "log" / "manager.log"
        pipe = subprocess.PIPE
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=own, stdin=pipe, stdout=pipe, stderr=log, text=True)
        ready = self._line()
        self.study, self.tokens = ready["study"], ready["tokens"]
        self.images, self.token = ready["images"], ready["token"]  # addresses; the token is of the API

    def _line(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"The manager ended: {self.log.read_text()[-3000:]}")
        return json.loads(line)

    def finish(self) -> Summary:
        self.process.stdin.close()
        found = Summary(**self._line())
        self.process.wait(30)
        return found

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for file in (self.process.stdin, self.process.stdout):
            file.close()


# Inside


def material(judgments: int, folder: Path) -> tuple[Path, Path]:
    """Half as many tasks more than the judgments need, whose images are a few that they share."""
    from tests.builders import imports

    def item(number: int) -> dict:
        names = [f"{(number * 7 + place) % IMAGES}.jpg" for place in range(4)]
        images = [{"role": "candidate", "file": name} for name in names]
        return imports.item(number) | {"images": images}

    count = judgments * 3 // (2 * OVERLAP) + 1
    named = [f"{number}.jpg" for number in range(IMAGES)]
    return imports.manifest(folder, map(item, range(count))), imports.archive(folder, named)


def study_of(judgments: int, folder: Path):
    """Import the study and open it to annotators."""
    from annotation.designs.plan import StagePlan
    from annotation.studies.lifecycle import create_study
    from benchmarks.imports import run as run_import
    from benchmarks.imports.order import Files, queue_import
    from benchmarks.jobs import jobs

    path, images = material(judgments, folder)
    job = queue_import(name=STUDY, format="jsonl", files=Files(path, images), by="nemesis", foreground=True)
    jobs.run(job_id=job.pk, by="nemesis", work=run_import.import_files)
    job.refresh_from_db()
    stage = StagePlan("bivlc-choose", settings={"overlap": OVERLAP})
    return create_study(name=STUDY, benchmark=run_import.outcome(job), stages=[stage], by="nemesis")


def addresses() -> list[str]:
    """Return the addresses of some images, as annotators load them."""
    from django.urls import reverse

    from benchmarks.models import ItemImage

    return [reverse("image", args=[opaque]) for opaque in ItemImage.objects.values_list("opaque", flat=True)[:IMAGES]]


def token() -> str:
    from django.contrib.auth.models import User

    from benchmarks.accounts import tokens

    return tokens.make_token(user=User.objects.create_superuser("nemesis"), by="nemesis")


def order(kind: str, number: int, study, folder: Path):
    """Send a job to the worker."""
    from annotation.exports import job as export_job
    from annotation.models import Outcome
    from annotation.releases import lifecycle as release_lifecycle
    from annotation.releases.plan import Plan
    from benchmarks.jobs import jobs
    from tests.builders import imports

    if kind == "export":
        job = export_job.queue_export(study=study, by="nemesis")
    elif kind == "release" and Outcome.objects.filter(state="kept", task__stage__study=study).exists():
        plan = Plan("nemesis", f"1.{number}", forms=["jsonl"])
        job = release_lifecycle.freeze(study=study, plan=plan, by="nemesis").job
    else:
        job = imports.queued(*imports.small(folder / f"import-{number}", IMPORTED), name=f"Import {number}")
    jobs.dispatch(job)
    return job


def order_until_told(study, rng: Random, every: float, folder: Path) -> None:
    """Order a job now and then; if the database is down or the disk full, try later."""
    from django.db import Error, connection

    from benchmarks.models import Job

    number = 0
    while not select.select([sys.stdin], [], [], rng.uniform(0.5, 1.5) * every)[0]:
        try:
            if Job.objects.filter(finished_at=None).count() < AT_ONCE:
                number += 1
                order(rng.choice(["export", "release", "import"]), number, study, folder)
        except (Error, OSError):
            connection.close()


def over(job) -> bool:
    """Return whether the job has ended and its process has cleared up: it holds the lock until then."""
    from benchmarks.audit import named
    from benchmarks.locks import alone

    if not job.finished_at:  # holding its lock would keep a worker from running it
        return False
    with alone(named(job)) as idle:
        return idle


def stuck(jobs, seconds: float) -> list[str]:
    """Return which of these jobs are not over after this many seconds, and their state."""
    from benchmarks.audit import named
    from benchmarks.models import Event

    deadline = time.monotonic() + seconds
    while (left := [job for job in jobs.all() if not over(job)]) and time.monotonic() < deadline:
        time.sleep(0.1)
    events = {job: Event.objects.filter(subject=named(job)).order_by("pk") for job in left}
    return [
        f"{job.kind} {job.pk}, last seen at {job.heartbeat_at}: {', '.join(event.verb for event in events[job])}"
        for job in left
    ]


def summary(study, folder: Path, patience: float) -> Summary:
    from django.conf import settings
    from django.db import connection

    from benchmarks.models import Job, JobState
    from benchmarks.storage.files import kept
    from tests.builders import imports

    connection.close()  # the last fault may have ended it with the database
    found = Summary(stuck=stuck(Job.objects.all(), patience))
    last = order("export", 0, study, folder)
    found.stuck += stuck(Job.objects.filter(pk=last.pk), patience)
    for job in Job.objects.order_by("pk"):
        kind = f"{job.kind} {job.state}"
        found.ended[kind] = found.ended.get(kind, 0) + 1
        found.torn += [f"{job.kind} {job.pk}: {what}" for what in torn(job)]
    failed = Job.objects.filter(state=JobState.FAILED)
    found.failed = dict(Counter(job.problems[0]["code"] for job in failed))
    found.unexpected = [code for code in found.failed if code not in EXPECTED]
    found.torn += [f"{path} was left" for path in left_behind(Path(settings.VAR))]
    found.torn += [f"{path} is missing" for path in imports.named_files() if not kept.exists(path)]
    last.refresh_from_db()
    if last.state == JobState.DONE:
        found.export = str(stored(last.report["file"]))
    return found


def torn(job) -> Iterator[str]:
    """Return what a finished job left half done."""
    from annotation.exports.files import digest
    from annotation.models import Release
    from benchmarks.models import Item, JobState

    done = job.state == JobState.DONE
    if job.kind == "import" and not job.params.get("foreground"):
        count = Item.objects.filter(benchmark__name=job.params["name"]).count()
        if count != (IMPORTED if done else 0):
            yield f"{count} of {IMPORTED} items"
    elif job.kind == "export" and done:
        yield from whole(stored(job.report["file"]))
    elif job.kind == "release":
        release = Release.objects.get(job=job)
        if done != bool(release.frozen_at):
            yield "not frozen though done" if done else "frozen though not done"
        elif done:
            yield from whole(stored(release.file))
            if digest(stored(release.file))["sha256"] != release.sha256:
                yield "other bytes than were frozen"


def stored(name: str) -> Path:
    """Return the file, or a copy of it if it is in a bucket."""
    from django.conf import settings

    from benchmarks.storage.files import kept

    if not kept.in_bucket:
        return Path(settings.MEDIA_ROOT) / name
    local = Path(settings.VAR) / "nemesis" / name.replace("/", "-")
    local.parent.mkdir(exist_ok=True)
    kept.copy_out(name, local)
    return local


def whole(path: Path) -> Iterator[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            if broken := archive.testzip():
                yield f"{broken} is broken"
    except (OSError, zipfile.BadZipFile) as error:
        yield f"{path.name}: {error}"


def left_behind(var: Path) -> Iterator[Path]:
    """Return work folders of finished jobs, and stored files that no row names."""
    from annotation.models import Release
    from benchmarks.models import Job, JobState
    from benchmarks.storage.files import kept
    from tests.builders import imports

    yield from (var / "work").glob("[0-9]*")
    done = Job.objects.filter(kind="export", state=JobState.DONE)
    named = {job.report["file"] for job in done} | {release.file for release in Release.objects.exclude(file="")}
    there = {found.name for found in kept.below("")} if kept.in_bucket else {*imports.stored_files(var / "media")}
    for path in there - {*imports.named_files()} - named:
        yield var / "media" / path


def main() -> None:
    given = json.loads(sys.argv[1])
    import django

    django.setup()
    import annotation.tasks  # noqa: F401  # what runs jobs registers itself
    import benchmarks.tasks  # noqa: F401
    from bench import throughput

    with tempfile.TemporaryDirectory(prefix="nemesis-", dir=os.environ["WINNOW_VAR"]) as folder:
        study = study_of(given["judgments"], Path(folder))
        tokens = throughput.annotators(study, given["annotators"])
        print(json.dumps({"study": study.pk, "tokens": tokens, "images": addresses(), "token": token()}), flush=True)
        order_until_told(study, Random(given["seed"]), given["every"], Path(folder))
        print(json.dumps(asdict(summary(study, Path(folder), patience=180))), flush=True)


if __name__ == "__main__":
    main()
