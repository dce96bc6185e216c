"""What an annotator has before them now: the instructions, screens, a wait, or the end."""

from dataclasses import dataclass, field

from django.db.models import Avg

from annotation import claiming
from annotation.judging import shown_as
from annotation.models import Annotator, Judgment, Lease, Stage, StudyState


@dataclass(frozen=True)
class Turn:
    """`state`: rules, screen, waiting, done, paused or closed; `leases` (of a screen): what is held, oldest first."""

    state: str
    leases: list[Lease] = field(default_factory=list)
    waiting: claiming.Waiting | None = None


def stands(annotator: Annotator, stage: Stage, newest: int) -> str:
    """What keeps this annotator from judging just now: paused, closed, rules (unread or newer ones), or nothing."""
    if stage.study.state != StudyState.OPEN:
        return stage.study.state
    return "" if annotator.read_id == newest else "rules"


def turn(annotator: Annotator, stage: Stage, newest: int) -> Turn:
    """`newest` is the id of the instructions that must have been read. Claims what there is room for."""
    stopped = stands(annotator, stage, newest)
    return Turn(stopped) if stopped else following(annotator, stage, claiming.hold(annotator=annotator, stage=stage))


def following(annotator: Annotator, stage: Stage, leases: list[Lease]) -> Turn:
    """The turn of an annotator who may judge and holds these leases."""
    if leases:
        return Turn("screen", leases)
    if stage.quota and claiming.judged(annotator, stage) >= stage.quota:
        return Turn("done")
    waiting = claiming.waiting(annotator=annotator, stage=stage)
    return Turn("waiting", waiting=waiting) if waiting.others else Turn("done")


def total(stage: Stage) -> int:
    """How many screens an annotator can come to: their quota, or every task of the study."""
    tasks = stage.tasks.count()
    return min(stage.quota, tasks) if stage.quota else tasks


def pace(annotator: Annotator) -> int:
    """Mean active milliseconds of this annotator's answers, 0 before the first."""
    mine = Judgment.objects.filter(lease__annotator=annotator, withdrawn=False, revision=1)
    return round(mine.aggregate(mean=Avg("active_ms"))["mean"] or 0)


def recall(leases: list[Lease]) -> list[Lease]:
    """Screens whose answer was taken back are shown with that answer marked, after a reload too. One query."""
    given = Judgment.objects.filter(lease__in=leases, withdrawn=False).order_by("revision")
    answers = dict(given.values_list("lease", "answer"))
    for lease in leases:
        lease.previous_answer = shown_as(lease, answers[lease.pk]) if lease.pk in answers else ""
    return leases
