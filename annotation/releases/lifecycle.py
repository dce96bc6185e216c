"""Releases are made in the worker and frozen once the row and its zip in the storage are complete."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from annotation import permissions
from annotation.exports import atomic_folder
from annotation.exports.export import CannotExport, export_split, stages_of
from annotation.exports.files import digest
from annotation.exports.item_table import original_bytes
from annotation.exports.job import StoredArchive, stored_archive
from annotation.models import Release, Study
from annotation.releases import build, splitting
from annotation.releases.archive_reader import ReleaseFiles
from annotation.releases.plan import Plan
from benchmarks import audit, locks
from benchmarks.jobs import jobs
from benchmarks.models import Job, JobState
from benchmarks.storage.files import kept
from benchmarks.training.released import ReleasedSplit

KIND = "release"
OVER = {JobState.FAILED, JobState.CANCELLED}


class CannotFreeze(ValueError):
    """`problems` has sentences by field of the plan; "" has those about no field."""

    def __init__(self, sentence: str = "", **problems: str):
        self.problems = {"": sentence} if sentence else problems
        super().__init__(" ".join(self.problems.values()))


class NameTaken(CannotFreeze):
    """There is already a release with this name and version, or another study has the name."""


def freeze(*, study: Study, plan: Plan, by: str, created_by=None, foreground: bool = False) -> Release:
    """Create a release and its job: send the job with `jobs.jobs.dispatch`. Raises CannotFreeze."""
    try:
        with transaction.atomic():
            locks.wait_for(f"release {plan.name.lower()}")  # two studies may request the name at once
            _check_plan(study, plan)
            job = _queue(study, plan.title, by, created_by, foreground)
            named = {"name": plan.name, "version": plan.version, "plan": plan.as_json()}
            release = Release.objects.create(study=study, job=job, created_by=created_by, **named)
            audit.record(by=by, verb="asked for", subject=release, **named)
    except IntegrityError:
        raise NameTaken(version=_taken(plan)) from None
    return release


def _taken(plan: Plan) -> str:
    taken = f"There is already a {plan.title}"
    if Release.objects.filter(name=plan.name, version=plan.version).exclude(frozen_at=None).exists():
        return f"{taken}. Use the next version."
    return f"{taken}, not frozen: it is being built, or its build failed and you can discard it on its page."


def clear_dead(*, study: Study, plan: Plan, by: str) -> None:
    """Free the version again if a killed command has left it."""
    for release in study.releases.filter(name=plan.name, version=plan.version, frozen_at=None).select_related("job"):
        if release.job and release.job.params.get("foreground"):
            jobs.revive_job(job=release.job, by=by)
            with suppress(CannotFreeze):
                discard(release=release, by=by)


def _queue(study: Study, title: str, by: str, created_by, foreground: bool = False) -> Job:
    params = {"study": study.pk, "foreground": foreground}
    title = f"Release {title} of {study.name}"
    return jobs.queue_job(kind=KIND, title=title, params=params, by=by, created_by=created_by)


def _check_plan(study: Study, plan: Plan) -> None:
    if problems := plan.problems():
        raise CannotFreeze(**problems)
    try:
        stages_of(study, plan.stages)
    except CannotExport as why:
        raise CannotFreeze(stages=str(why)) from None
    named = Release.objects.filter(name__iexact=plan.name)  # names of folders, and of tasks in lmms-eval, ignore case
    if others := named.exclude(study=study).first():
        raise NameTaken(name=f"Another study has releases with this name, such as {others}. Choose another name.")
    if others := named.exclude(name=plan.name).first():
        raise NameTaken(name=f"{others} differs only in capitals. Write the name in the same way, or choose another.")


def try_again(*, release: Release, by: str, created_by=None) -> Job:
    """Create another job for a release that failed. Raises CannotFreeze if there is nothing to retry."""
    with transaction.atomic():
        found = _unfinished(release)
        job = _queue(found.study, str(found), by, created_by)
        Release.objects.filter(pk=found.pk).update(job=job)
    return job


def discard(*, release: Release, by: str) -> None:
    """Delete a release that was never frozen, which frees its version. Raises CannotFreeze while its job is running."""
    with transaction.atomic():
        found = _unfinished(release)
        audit.record(by=by, verb="discarded", subject=found, name=found.name, version=found.version)
        found.delete()


def _unfinished(release: Release) -> Release:
    found = Release.objects.select_for_update(no_key=True).filter(pk=release.pk).first()
    if found is None:
        raise CannotFreeze(f"{release} was discarded.")
    if found.frozen_at:
        raise CannotFreeze(f"{found} is frozen and cannot change. Make a new version.")
    if found.job and found.job.state not in OVER:  # read after the lock, since its previous holder may have changed it
        raise CannotFreeze(f"{found} is still being built. Cancel that first, or wait.")
    return found


def frozen(study: Study) -> QuerySet[Release]:
    return study.releases.exclude(frozen_at=None)


@contextmanager
def open_release(release: Release) -> Iterator[ReleaseFiles]:
    """Open the release's files from the storage."""
    with kept.open(release.file) as file, ReleaseFiles(file) as found:
        yield found


def check_target(out: Path | None) -> None:
    """Raise CannotFreeze if a release cannot be unpacked there."""
    if out and out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise CannotFreeze(f"{out} exists and is not empty. Name a new folder.")


def splits_for_trainings(user=None) -> Iterator[ReleasedSplit]:
    """Return the splits of all frozen releases, or only those of the user's studies."""
    studies = Study.objects.all() if user is None else permissions.studies_for(user)
    found = Release.objects.filter(study__in=studies).exclude(frozen_at=None)
    for release in found.select_related("study").order_by("frozen_at", "pk"):
        splits = Plan.from_json(release.plan).names
        yield ReleasedSplit(str(release), release.study.benchmark_id, splits, partial(_item_lines, release))


def _item_lines(release: Release) -> Iterator[Mapping]:
    with open_release(release) as files:
        yield from files.lines("items.jsonl")


def unpack(release: Release, out: Path) -> int:
    """Unpack all files into a new or empty folder, or none, and return how many there are. Raises CannotFreeze."""
    check_target(out)
    try:
        with atomic_folder.appearing(out.absolute()) as folder, open_release(release) as files:
            files.unpack(folder)
            return len(files.names())
    except atomic_folder.Busy as why:
        raise CannotFreeze(str(why)) from None
    except OSError as why:
        raise CannotFreeze(f"{release} cannot be unpacked into {out}: {why}.") from None


# In the worker


def run_release(job: Job, progress: jobs.Progress) -> None:
    """Take a snapshot of the study without image bytes, build the release from it, store its zip and freeze the row."""
    release = Release.objects.select_related("study", "created_by").get(job=job)
    plan = Plan.from_json(release.plan)

    def write(folder: Path, separate: jobs.SeparateProgress) -> dict:
        separate.begin("reading items")
        snapshot = folder.with_name("export")
        step, stages = separate.tell, plan.stages
        export_split(study=release.study, out=snapshot, by="worker", stages=stages, step=step, embed_images=False)
        separate.begin("writing formats")
        folder.mkdir()
        manifest = build.build(snapshot, plan, folder, _earlier_splits(release, plan), step, original_bytes)
        separate.begin("packing")
        return manifest

    below = f"releases/{release.pk}/{job.pk}"
    with stored_archive(job, progress, below, release.folder, write) as made:
        _freeze(release, job, made)


def _freeze(release: Release, job: Job, made: StoredArchive) -> None:
    content, counts = made.manifest["content"], made.manifest["counts"]
    stored = {"file": made.name, "size": made.size, "sha256": digest(made.local)["sha256"]}
    fields = {"content": content, "summary": build.summary(made.manifest), **stored}
    with transaction.atomic():
        Release.objects.filter(pk=release.pk, frozen_at=None).update(**fields, frozen_at=Now())
        by = audit.named(release.created_by) if release.created_by else "worker"
        audit.record(by=by, verb="froze", subject=release, content=content)
        report = {"release": release.pk, "content": content, "counts": counts, "bytes": made.size}
        jobs.finish_job(job=job, by="worker", report=report)


def _earlier_splits(release: Release, plan: Plan) -> splitting.Earlier:
    """Return where frozen releases of this name with the same splits last had each item and image.

    The last release is not enough: an item it lacks may have been used for training since the one before.
    """
    earlier = splitting.Earlier()
    for one in frozen(release.study).filter(name=release.name).order_by("frozen_at", "pk"):
        if len(plan.splits) > 1 and set(one.plan["splits"]) == set(plan.splits):
            with open_release(one) as files:
                earlier.add(files.lines("items.jsonl"))
    return earlier
