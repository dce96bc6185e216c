"""Fetch objects and check permission in one step.

An unknown link token gives a 404. A study exists only for its members and superusers: other staff get a 404, and
members with an insufficient role get a 403 with a sentence that names the required role.
"""

from dataclasses import dataclass

from django.core.exceptions import PermissionDenied
from django.db.models import F, QuerySet, Value
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from annotation.models import Annotator, Flag, Member, Release, Role, Seat, Stage, Study, Webhook
from annotation.models.study import May
from annotation.sql import columns, fetch, instances
from benchmarks.models import Benchmark, Job
from benchmarks.permissions import benchmark_with_webhooks, check_staff, guards, guards_benchmarks


@dataclass(frozen=True)
class Desk:
    """The holder of a token: the annotator, their stage and seat in it, how many of its screens they have done, and the
    id of its newest instructions.
    """

    annotator: Annotator
    stage: Stage
    seat: Seat
    done: int
    newest: int


DESK = f"""
SELECT {columns(Annotator, "annotator")}, {columns(Stage, "stage")}, {columns(Seat, "seat")}, {columns(Study, "study")},
       (SELECT count(*) FROM annotation_slot
        WHERE stage_id = stage.id AND annotator_id = annotator.id AND judgment_id IS NOT NULL),
       (SELECT id FROM annotation_instructions WHERE stage_id = stage.id ORDER BY version DESC LIMIT 1)
FROM annotation_annotator annotator
JOIN annotation_study study ON study.id = annotator.study_id
JOIN annotation_stage stage ON stage.id = annotator.stage_id
JOIN annotation_seat seat ON seat.stage_id = stage.id AND seat.annotator_id = annotator.id
WHERE annotator.token = %(token)s
"""


def desk(token: str) -> Desk:
    found = fetch(DESK, token=token)
    if not found:
        raise Http404("This link does not exist.")
    annotator, stage, seat, study = instances(found[0], Annotator, Stage, Seat, Study)
    annotator.study = stage.study = study
    return Desk(annotator, stage, seat, *found[0][-2:])


def invited(invite: str) -> tuple[Study, Stage | None]:
    """Return the study that a link invites to, and the stage if it invites only to that."""
    study = Study.objects.filter(invite=invite).first()
    if study is not None:
        return study, None
    stage = Stage.objects.filter(invite=invite).select_related("study").first()
    if stage is None:
        raise Http404("This invitation does not exist.")
    return stage.study, stage


def whole_number(text: str | None, most_digits: int) -> int | None:
    """Return a number from a URL or form; None for anything else, or if it has too many digits."""
    return int(text) if text and len(text) <= most_digits and text.isascii() and text.isdecimal() else None


def row_id(text: str | None) -> int:
    """Return a row's id from a URL or form; 0, which no row has, for anything else."""
    return whole_number(text, 18) or 0


SAFE = ("GET", "HEAD", "OPTIONS")
RANK = {role: rank for rank, role in enumerate(Role)}
TAKES = {Role.MANAGER: "its managers and owners", Role.OWNER: "its owners"}


def reaches(role: str, needed: Role) -> bool:
    return RANK[Role(role)] >= RANK[needed]


def needed(request: HttpRequest, look: Role = Role.VIEWER, change: Role = Role.MANAGER) -> Role:
    """Return the role required for this request on a page that both shows and changes data."""
    return look if request.method in SAFE else change


def _mine(rows: QuerySet, user, way: str = "") -> QuerySet:
    """Return rows of studies that a staff user may view, each with their `role`; superusers own all.

    `way` leads from a row to its study: `study__`.
    """
    check_staff(user)
    if user.is_superuser:
        return rows.annotate(role=Value(Role.OWNER.value))
    return rows.filter(**{f"{way}members__user": user}).annotate(role=F(f"{way}members__role"))


def _check(study: Study, role: str, needs: Role) -> None:
    if not reaches(role, needs):
        raise PermissionDenied(f"You are a {role} of this study. Only {TAKES[needs]} can do this.")
    study.may = May(manage=reaches(role, Role.MANAGER), own=reaches(role, Role.OWNER))


def studies_for(user) -> QuerySet[Study]:
    return _mine(Study.objects.all(), user)


def study_for(user, pk: int, needs: Role = Role.VIEWER) -> Study:
    """Return a study with its benchmark and `may`, for members with a sufficient role."""
    study = get_object_or_404(_mine(Study.objects.select_related("benchmark"), user), pk=pk)
    _check(study, study.role, needs)
    return study


def _of_study(rows: QuerySet, user, needs: Role, **wanted):
    """Return a row with its study as returned by `study_for`."""
    row = get_object_or_404(_mine(rows.select_related("study__benchmark"), user, "study__"), **wanted)
    _check(row.study, row.role, needs)
    return row


def stage_for(user, study: int, position: str | int = 1, needs: Role = Role.VIEWER) -> Stage:
    """Return a study's stage. `position` may be raw URL text; anything invalid means the first stage."""
    number = whole_number(str(position), 4)
    wanted = 1 if number is None else number
    return _of_study(Stage.objects.all(), user, needs, study=study, position=wanted)


def annotator_for(user, study: int, number: str | int, needs: Role = Role.VIEWER) -> Annotator:
    """Return a study's annotator by number (A-01 is 1)."""
    wanted = whole_number(str(number), 8) or 0
    return _of_study(Annotator.objects.all(), user, needs, study=study, number=wanted)


def member_for(user, study: int, pk: int, needs: Role = Role.OWNER) -> Member:
    found = study_for(user, study, needs)
    return get_object_or_404(Member.objects.select_related("study", "user"), study=found, pk=pk)


def flag_for(user, pk: int, needs: Role = Role.MANAGER) -> Flag:
    found = Flag.objects.select_related("lease__task__stage__study")
    flag = get_object_or_404(_mine(found, user, "lease__task__stage__study__"), pk=pk)
    _check(flag.lease.task.stage.study, flag.role, needs)
    return flag


def export_for(user, study: int, job: int, needs: Role = Role.MANAGER) -> Job:
    """Return a study's finished export. It has the answers to checks and practice, so only managers get it."""
    found = study_for(user, study, needs)
    return get_object_or_404(Job, pk=job, kind="export", state="done", params__study=found.pk)


def release_for(user, pk: int, needs: Role = Role.VIEWER) -> Release:
    return _of_study(Release.objects.select_related("job"), user, needs, pk=pk)


def webhook_for(user, pk: int) -> Webhook:
    """Return a webhook with its study or benchmark, for those who manage it."""
    check_staff(user)
    webhook = get_object_or_404(Webhook.objects.select_related("benchmark"), pk=pk)
    if webhook.study_id is not None:
        webhook.study = study_for(user, webhook.study_id, Role.MANAGER)
    else:
        benchmark_with_webhooks(user, webhook.benchmark_id or 0)
    return webhook


@guards_benchmarks
def guard_benchmark(user, benchmark: Benchmark) -> bool:
    """Allow changes only to users who manage every study on the benchmark. Return whether there is a study."""
    roles = _mine(benchmark.studies.all(), user).values_list("role", flat=True)
    managed = sum(reaches(role, Role.MANAGER) for role in roles)
    if managed < benchmark.studies.count():
        raise PermissionDenied(
            f"A study that you don’t manage uses “{benchmark}” and would change with it. Ask its owner to make you a "
            "manager, or ask an admin. You can also import under another name."
        )
    return managed > 0


@guards("estimate")
@guards("export")
@guards("release")
@guards("figures")
def guard_job(user, job: Job, change: bool) -> None:
    """Allow a study's jobs only to its members: viewers may see them, managers may cancel them."""
    study = job.params.get("study") or get_object_or_404(Stage, pk=job.params["stage"]).study_id
    study_for(user, study, Role.MANAGER if change else Role.VIEWER)
