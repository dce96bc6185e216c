"""Delete a study with its tasks, judgments and exports, including their files. Its benchmark stays.

Others cite releases, so frozen ones are deleted only if the caller explicitly asks for it. A trigger keeps judgments
append-only and makes an exception for this one transaction: `winnow.deletes_study` names the study, and the trigger
checks that a judgment really belongs to it.
"""

from django.db import connection, transaction
from django.db.models import ProtectedError, Q, QuerySet

from annotation.models import InstructionsImage, Judgment, Study, Task
from benchmarks import audit
from benchmarks.housekeeping.deferred_files import DeferredFiles, deferred_files
from benchmarks.housekeeping.delete import CannotDelete
from benchmarks.models import Job, JobState, Run
from benchmarks.transactions import retry_deadlocks

OF_STAGE = "stage_id IN (SELECT id FROM annotation_stage WHERE study_id = %(study)s)"
OF_TASK = f"task_id IN (SELECT id FROM annotation_task WHERE {OF_STAGE})"
OF_PEOPLE = "annotator_id IN (SELECT id FROM annotation_annotator WHERE study_id = %(study)s)"
OF_LEASE = f"lease_id IN (SELECT id FROM annotation_lease WHERE {OF_TASK})"

# Every write inside a study locks one of these rows, so nothing is added during the deletion.
LOCKS = (
    "SELECT FROM annotation_study WHERE id = %(study)s FOR UPDATE",
    "SELECT FROM annotation_annotator WHERE study_id = %(study)s ORDER BY id FOR UPDATE",
    "SELECT FROM annotation_stage WHERE study_id = %(study)s ORDER BY id FOR UPDATE",
    f"SELECT FROM annotation_task WHERE {OF_STAGE} ORDER BY id FOR UPDATE",
)
# The large tables, in an order in which the trigger can still find a judgment's study. The rest cascades.
ROWS = (
    f"DELETE FROM annotation_flag WHERE {OF_LEASE}",
    f"DELETE FROM annotation_judgment WHERE {OF_LEASE}",
    f"DELETE FROM annotation_lease WHERE {OF_TASK}",
    f"DELETE FROM annotation_slot WHERE {OF_STAGE}",
    f"DELETE FROM annotation_outcome WHERE {OF_TASK}",
    f"DELETE FROM annotation_task WHERE {OF_STAGE}",
    f"DELETE FROM annotation_cachedfigures WHERE {OF_STAGE}",
    f"DELETE FROM annotation_attempt WHERE seat_id IN (SELECT id FROM annotation_seat WHERE {OF_PEOPLE} OR {OF_STAGE})",
    f"DELETE FROM annotation_seat WHERE {OF_PEOPLE} OR {OF_STAGE}",
    "DELETE FROM annotation_annotator WHERE study_id = %(study)s",
)
# Only deletion needs these indexes: PostgreSQL looks up references to each annotator.
INDEXES = {
    "deleting_slot_annotator": "annotation_slot (annotator_id)",
    "deleting_slot_reserved": "annotation_slot (reserved_id)",
}
WITHOUT_INDEX = 500  # tasks deleted without indexes, since building those blocks other studies' judgments
BY_COMMAND = 50_000  # judgments; with more, the browser would wait too long


def size(study: Study, most: int | None = None) -> dict:
    """Return what would be deleted: counts of "judgments" (at most `most` are counted), "annotators", "exports"
    and (frozen) "releases".
    """
    return {
        "judgments": Judgment.objects.filter(lease__annotator__study=study)[:most].count(),
        "annotators": study.annotators.count(),
        "exports": jobs_of(study).filter(kind="export").count(),
        "releases": study.releases.exclude(frozen_at=None).count(),
    }


def jobs_of(study: Study) -> QuerySet[Job]:
    stages = list(study.stages.values_list("pk", flat=True))
    return Job.objects.filter(Q(params__study=study.pk) | Q(params__stage__in=stages))


def delete_named(*, study: Study, name: str, by: str, releases: bool = False) -> dict:
    """Delete the study if the user has typed its name, unless it is too large for a web request."""
    if size(study, BY_COMMAND + 1)["judgments"] > BY_COMMAND:
        raise CannotDelete("This study is too large to delete here. Use manage.py delete_study.")
    if name.strip() != study.name:
        raise CannotDelete("That is not the study’s name. Nothing was deleted.")
    return delete_study(study=study, by=by, releases=releases)


def delete_study(*, study: Study, by: str, releases: bool = False) -> dict:
    """Delete all or nothing, recorded in the audit trail. Return `size`. `releases`: also delete frozen releases.

    Raises CannotDelete while one of its jobs runs, or if something that must stay refers to it.
    """
    with deferred_files() as after:
        return _rows(study=study, by=by, releases=releases, after=after)


@retry_deadlocks
@transaction.atomic
def _rows(*, study: Study, by: str, after: DeferredFiles, releases: bool = False) -> dict:
    with connection.cursor() as cursor:
        for statement in LOCKS:
            cursor.execute(statement, {"study": study.pk})
        study, went = Study.objects.get(pk=study.pk), size(study)
        _releases_go(study, releases, after)
        _exports_go(study, after)
        after.files(image.path for image in InstructionsImage.objects.filter(stage__study=study))
        audit.record(by=by, verb="deleted", subject=study, name=study.name, afterwards=after.id, **went)
        Run.objects.filter(study=study.pk).delete()
        cursor.execute("SELECT set_config('winnow.deletes_study', %s, true)", [str(study.pk)])
        _below(cursor, study)
        _whole(study)
        cursor.execute("SELECT set_config('winnow.deletes_study', '', true)")
    return went


def _releases_go(study: Study, may: bool, after: DeferredFiles) -> None:
    """Delete the releases' files; their rows are deleted with the study."""
    frozen = list(study.releases.exclude(frozen_at=None))
    if frozen and not may:
        named = ", ".join(map(str, frozen[:3])) + (" …" if len(frozen) > 3 else "")
        raise CannotDelete(f"“{study}” has been released as {named}. Confirm that its releases may be deleted too.")
    after.files(release.file for release in frozen)


def _exports_go(study: Study, after: DeferredFiles) -> None:
    """Delete its jobs and their files. No job may be running, since it would leave a file behind."""
    found = jobs_of(study)
    running = list(found.filter(state=JobState.RUNNING).select_for_update(no_key=True))
    if running:
        raise CannotDelete(f"“{running[0].title}” is still running. Cancel it, or wait until it has finished.")
    after.files(job.report["file"] for job in found.filter(report__has_key="file"))
    found.delete()


def _below(cursor, study: Study) -> None:
    many = Task.objects.filter(stage__study=study).count() > WITHOUT_INDEX
    for name, what in INDEXES.items() if many else ():
        cursor.execute(f"CREATE INDEX {name} ON {what}")
    for statement in ROWS:
        cursor.execute(statement, {"study": study.pk})
    if many:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # run every check while its index exists
        cursor.execute(f"DROP INDEX {', '.join(INDEXES)}")


def _whole(study: Study) -> None:
    """Delete the study, its stages (last first: each may take items from earlier ones) and all that cascades."""
    try:
        for stage in study.stages.order_by("-position"):
            stage.delete()
        study.delete()
    except ProtectedError as error:
        names = ", ".join(sorted({str(one._meta.verbose_name) for one in error.protected_objects}))
        raise CannotDelete(f"“{study}” was not deleted because a {names} refers to it.") from None
