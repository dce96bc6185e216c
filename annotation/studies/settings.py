"""Change settings while people judge, without changing a result; explain why others are locked.

Every change is an event, `changed a setting`, with the value before and after.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone

from annotation.designs.plan import NO_CHECKS, StagePlan
from annotation.models import DecisionRule, Judgment, Kind, Outcome, Slot, Stage, StageState, Strategy, Study, Task
from annotation.models.choices import MOST_JUDGMENTS
from annotation.pipeline import outcomes
from annotation.pipeline.promotion import lock_stage
from annotation.protocols.registry import protocol_named
from annotation.sql import execute
from annotation.studies.lifecycle import cannot_adapt
from annotation.studies.setup_forms import CONFIRMS
from benchmarks import audit
from benchmarks.transactions import retry_deadlocks

CHANGED = "changed a setting"  # the verb of the events
INSTEAD = "Duplicate the study to choose another."
PAID = "People have worked for pay in this currency, and another one would change what their work cost. " + INSTEAD
OF_FILE = "The protocol file decides this. Duplicate the study with another version of the file."
SAME_NUMBER = "The question’s rule needs the same number of judgments for every item. " + INSTEAD
GIVEN_WHOLE = "Each batch goes to this many people. " + INSTEAD
OF_AUDIT = "An audit’s interval needs the same number of judgments for every item. " + INSTEAD
SHUT = "The stage is closed. Open it again to ask for more judgments."
ESTIMATED = "An estimate from all answers of the stage decides, ties included. " + INSTEAD
TIES_SETTLED = "It has settled ties, whose outcomes another rule would change. " + INSTEAD
WORDS_OF_OVERLAP = "Choose a number from {low} to {high}: it can only grow."

# As judgments lock them: slots, then tasks
ADD_SLOTS = """
INSERT INTO annotation_slot (task_id, number, stage_id, rank, live)
SELECT task.id, place.number, task.stage_id, task.rank, task.live
FROM annotation_task task CROSS JOIN generate_series(task.overlap + 1, %(overlap)s) place(number)
WHERE task.id = ANY(%(tasks)s) ORDER BY task.rank, place.number
"""


class CannotChange(ValueError):
    """The setting (`name`) cannot be changed to this; the message explains why."""

    def __init__(self, name: str, why: str):
        super().__init__(why)
        self.name = name


# Locked settings


def locked(study: Study) -> dict[str, str]:
    """Return why settings cannot change, by setting."""
    paid = study.pay_per_hour or any(rate for _, rate in study.earlier_pay)
    return {"currency": PAID} if paid and _is_judged(study) else {}


def _is_judged(study: Study) -> bool:
    people = list(study.annotators.values_list("pk", flat=True))  # by id; otherwise all leases would be scanned
    return Judgment.objects.filter(lease__annotator__in=people).exists()


def locked_in(stages: Iterable[Stage]) -> dict[int, dict[str, str]]:
    """Return, by stage id and setting, why the setting cannot change."""
    stages = list(stages)
    tied = Outcome.objects.filter(task__stage__in=stages, by__in=outcomes.TIED)
    ties = dict(tied.values_list("task__stage").annotate(count=Count("task")))
    return {stage.pk: {name: why for name, why in _reasons(stage, stage.pk in ties) if why} for stage in stages}


def _reasons(stage: Stage, ties: bool) -> list[tuple[str, str]]:
    """Return each setting with the first reason against it, or ""."""
    protocol = protocol_named(stage.protocol)
    always = OF_FILE if protocol.file else CONFIRMS if protocol.confirms else ""
    counts = SAME_NUMBER if protocol.file and cannot_adapt(StagePlan(stage.protocol)) else ""
    strategy = {Strategy.BATCHES: GIVEN_WHOLE, Strategy.EVERYONE: GIVEN_WHOLE, Strategy.AUDIT: OF_AUDIT}
    estimated = ESTIMATED if stage.rule == DecisionRule.DAWID_SKENE else ""
    shut = "" if stage.state == StageState.OPEN else SHUT
    return [
        ("overlap", counts or ("" if protocol.file else always) or strategy.get(Strategy(stage.strategy), shut)),
        ("tie_rule", always or estimated or (TIES_SETTLED if ties else "")),
        ("check_rate", NO_CHECKS if protocol.form else ""),
    ]


def most_judgments(stage: Stage) -> int:
    """Return the largest overlap that can be set."""
    return min(stage.cap or MOST_JUDGMENTS, stage.agreement_overlap or MOST_JUDGMENTS)


# Changing


@transaction.atomic
def change_study(*, study: Study, by: str, **given: Any) -> Study:
    """Change the `name`, `title`, `consent`, `pay_per_hour` or `currency`. Raises CannotChange.

    People who agreed to another consent text are asked again before their next screen. Judgments made before the pay
    changes keep their rate.
    """
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    changed = _set(study, given, locked(study))
    _store(study, changed, by)
    if "pay_per_hour" in changed and _is_judged(study):
        study.earlier_pay.append([timezone.now().isoformat(), float(changed["pay_per_hour"])])
        study.save(update_fields=["earlier_pay"])
    if "consent" in changed:
        Study.objects.filter(pk=study.pk).update(consent_changed_at=timezone.now())
    return study


@retry_deadlocks
@transaction.atomic
def change_stage(*, stage: Stage, by: str, **given: Any) -> Stage:
    """Change the `overlap`, `tie_rule` or `quota`. Raises CannotChange.

    A larger overlap requests more judgments for items without an outcome; the others keep theirs. Another tie rule
    settles ties that are waiting for an adjudicator.
    """
    stage = lock_stage(stage)
    if {name for name in ("overlap", "tie_rule") if given.get(name, getattr(stage, name)) != getattr(stage, name)}:
        _lock_undecided(stage)
    changed = _set(stage, given, locked_in([stage])[stage.pk])
    low, high = changed.get("overlap", stage.overlap), most_judgments(stage)
    if not low <= stage.overlap <= high:
        raise CannotChange("overlap", WORDS_OF_OVERLAP.format(low=low, high=high))
    _store(stage, changed, by)
    if "overlap" in changed:
        _grow(stage)
    if "tie_rule" in changed:
        for task in stage.tasks.filter(waits=True).order_by("pk"):
            outcomes.settle(task, stage)
    return stage


def _set(row: Study | Stage, given: Mapping[str, Any], locks: Mapping[str, str]) -> dict[str, Any]:
    """Set the values that differ; return the earlier values by name. Raises CannotChange."""
    changed = {name: getattr(row, name) for name, value in given.items() if getattr(row, name) != value}
    for name in changed:
        if name in locks:
            raise CannotChange(name, locks[name])
        setattr(row, name, given[name])
    return changed


def _store(row: Study | Stage, changed: Mapping[str, Any], by: str) -> None:
    if not changed:
        return
    unchanged = [field.name for field in row._meta.fields if field.name not in changed]
    try:
        row.full_clean(exclude=unchanged)
    except ValidationError as error:
        [(name, found), *_] = error.message_dict.items()
        raise CannotChange(name, " ".join(found)) from None
    row.save(update_fields=list(changed))
    for name, before in changed.items():
        values = {"before": before, "after": getattr(row, name)}
        plain = {when: value if isinstance(value, int | None) else str(value) for when, value in values.items()}
        audit.record(by=by, verb=CHANGED, subject=row, setting=name, **plain)


def _undecided(stage: Stage) -> QuerySet[Task]:
    return stage.tasks.filter(kind=Kind.JUDGE, decided=None, corrected=None)


def _lock_undecided(stage: Stage) -> None:
    """Lock undecided tasks: anyone judging one of them has settled it before this, or sees the change."""
    tasks = list(_undecided(stage).values_list("pk", flat=True))
    list(Slot.objects.filter(task__in=tasks).select_for_update(no_key=True).order_by("pk").values_list("pk"))
    list(Task.objects.filter(pk__in=tasks).select_for_update(no_key=True).order_by("pk").values_list("pk"))


def _grow(stage: Stage) -> None:
    tasks = list(_undecided(stage).filter(overlap__lt=stage.overlap).values_list("pk", flat=True))
    execute(ADD_SLOTS, tasks=tasks, overlap=stage.overlap)
    Task.objects.filter(pk__in=tasks).update(overlap=stage.overlap, waits=False)
