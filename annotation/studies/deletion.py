"""A study goes with all that was asked and answered in it, its exports and their files. Its benchmark stays.

What was released is what others cite: frozen releases go along only where that is said in so many words.

Judgments are append-only by a trigger, which lets this one transaction pass: `winnow.deletes_study` names the study,
and the trigger looks whether a judgment is really one of it.
"""

from django.db import connection, transaction
from django.db.models import ProtectedError, Q, QuerySet

from annotation.models import Judgment, Study, Task
from annotation.transactions import anew
from benchmarks import audit
from benchmarks.housekeeping.deferred_files import DeferredFiles, deferred_files
from benchmarks.housekeeping.delete import CannotDelete
from benchmarks.models import Job, JobState

OF_STAGE = "stage_id IN (SELECT id FROM annotation_stage WHERE study_id = %(study)s)"
OF_TASK = f"task_id IN (SELECT id FROM annotation_task WHERE {OF_STAGE})"
OF_PEOPLE = "annotator_id IN (SELECT id FROM annotation_annotator WHERE study_id = %(study)s)"
OF_LEASE = f"lease_id IN (SELECT id FROM annotation_lease WHERE {OF_TASK})"

# Whoever writes below a study holds one of these rows: nothing is added to it while it goes.
LOCKS = (
    "SELECT FROM annotation_study WHERE id = %(study)s FOR UPDATE",
    "SELECT FROM annotation_annotator WHERE study_id = %(study)s ORDER BY id FOR UPDATE",
    "SELECT FROM annotation_stage WHERE study_id = %(study)s ORDER BY id FOR UPDATE",
    f"SELECT FROM annotation_task WHERE {OF_STAGE} ORDER BY id FOR UPDATE",
)
# What there is a lot of, in an order in which the trigger still finds a judgment's study. The rest cascades.
ROWS = (
    f"DELETE FROM annotation_flag WHERE {OF_LEASE}",
    f"DELETE FROM annotation_judgment WHERE {OF_LEASE}",
    f"DELETE FROM annotation_lease WHERE {OF_TASK}",
    f"DELETE FROM annotation_slot WHERE {OF_STAGE}",
    f"DELETE FROM annotation_outcome WHERE {OF_TASK}",
    f"DELETE FROM annotation_task WHERE {OF_STAGE}",
    f"DELETE FROM annotation_reckoning WHERE {OF_STAGE}",
    f"DELETE FROM annotation_attempt WHERE seat_id IN (SELECT id FROM annotation_seat WHERE {OF_PEOPLE} OR {OF_STAGE})",
    f"DELETE FROM annotation_seat WHERE {OF_PEOPLE} OR {OF_STAGE}",
    "DELETE FROM annotation_annotator WHERE study_id = %(study)s",
)
# Judging has no use for these. Deleting has: of each task and annotator that goes, PostgreSQL asks what refers to it.
INDEXES = {
    "deleting_lease_task": "annotation_lease (task_id)",
    "deleting_slot_annotator": "annotation_slot (annotator_id)",
    "deleting_slot_reserved": "annotation_slot (reserved_id)",
}
WITHOUT_INDEX = 500  # tasks that go without them; with them, other studies' answers wait until this is done
BY_COMMAND = 50_000  # judgments; the browser would wait too long for more


def size(study: Study) -> dict:
    """How much would go: {"judgments", "annotators", "exports", "releases"}, of releases those that are frozen."""
    return {
        "judgments": Judgment.objects.filter(lease__task__stage__study=study).count(),
        "annotators": study.annotators.count(),
        "exports": jobs_of(study).filter(kind="export").count(),
        "releases": study.releases.exclude(frozen_at=None).count(),
    }


def jobs_of(study: Study) -> QuerySet[Job]:
    stages = list(study.stages.values_list("pk", flat=True))
    return Job.objects.filter(Q(params__study=study.pk) | Q(params__stage__in=stages))


def delete_study(*, study: Study, by: str, releases: bool = False) -> dict:
    """All or nothing; the audit trail keeps what went. Returns `size` of it. `releases`: frozen ones may go too.

    Raises CannotDelete while a job works at it, or where something that must not go refers to it.
    """
    with deferred_files() as after:
        return _rows(study=study, by=by, releases=releases, after=after)


@anew
@transaction.atomic
def _rows(*, study: Study, by: str, after: DeferredFiles, releases: bool = False) -> dict:
    with connection.cursor() as cursor:
        for statement in LOCKS:
            cursor.execute(statement, {"study": study.pk})
        study, went = Study.objects.get(pk=study.pk), size(study)
        _releases_go(study, releases, after)
        _exports_go(study, after)
        audit.record(by=by, verb="deleted", subject=study, name=study.name, afterwards=after.id, **went)
        cursor.execute("SELECT set_config('winnow.deletes_study', %s, true)", [str(study.pk)])
        _below(cursor, study)
        _whole(study)
        cursor.execute("SELECT set_config('winnow.deletes_study', '', true)")
    return went


def _releases_go(study: Study, may: bool, after: DeferredFiles) -> None:
    """Their files; the rows go with the study."""
    frozen = list(study.releases.exclude(frozen_at=None))
    if frozen and not may:
        named = ", ".join(map(str, frozen[:3])) + (" …" if len(frozen) > 3 else "")
        raise CannotDelete(f"“{study}” has been released as {named}. Say that its releases may go too.")
    after.files(release.file for release in frozen)


def _exports_go(study: Study, after: DeferredFiles) -> None:
    """The rows of its jobs, and the files that they made. None may be running: it would leave a file behind."""
    found = jobs_of(study)
    running = list(found.filter(state=JobState.RUNNING).select_for_update(no_key=True))
    if running:
        raise CannotDelete(f"“{running[0].title}” is running. Cancel it, or wait until it is done.")
    after.files(job.report["file"] for job in found.filter(report__has_key="file"))
    found.delete()


def _below(cursor, study: Study) -> None:
    many = Task.objects.filter(stage__study=study).count() > WITHOUT_INDEX
    for name, what in INDEXES.items() if many else ():
        cursor.execute(f"CREATE INDEX {name} ON {what}")
    for statement in ROWS:
        cursor.execute(statement, {"study": study.pk})
    if many:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # every check is done before its index goes
        cursor.execute(f"DROP INDEX {', '.join(INDEXES)}")


def _whole(study: Study) -> None:
    """The study, its stages (the later ones first: each may take from an earlier one) and what else cascades."""
    try:
        for stage in study.stages.order_by("-position"):
            stage.delete()
        study.delete()
    except ProtectedError as error:
        names = ", ".join(sorted({str(one._meta.verbose_name) for one in error.protected_objects}))
        raise CannotDelete(f"“{study}” stays: a {names} refers to it.") from None
