"""What a stage demands of annotators besides judgments: the rate of checks, the questions, the pass mark."""

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.checks import attention_checks, gold_items, qualification
from annotation.checks.gold_items import CannotSet
from annotation.checks.parsing import Known, Unreadable, keys_in, read_known
from annotation.designs.plan import NO_CHECKS
from annotation.models import AttemptKind, Kind, Stage, Task
from annotation.pipeline.promotion import lock_stage
from annotation.pipeline.ranks import random_rank
from annotation.protocols.base import no_right_answer
from annotation.protocols.registry import protocol_named
from benchmarks import audit
from benchmarks.models import Benchmark, Item

SETTINGS = ("check_rate", "practice_pass", "practice_tries", "on_failure", "comprehension")


@transaction.atomic
def revise(*, stage: Stage, by: str, **settings) -> Stage:
    """Change some of `SETTINGS`. Annotators already in the stage stay; their checks follow the new rate at once."""
    stage = lock_stage(stage)
    before = {name: getattr(stage, name) for name in settings}
    for name, value in settings.items():
        setattr(stage, name, value)
    try:
        stage.full_clean(validate_unique=False, validate_constraints=True)
    except ValidationError as error:
        raise CannotSet([f"{field}: {' '.join(found)}" for field, found in error.message_dict.items()]) from None
    if stage.check_rate and protocol_named(stage.protocol).form:
        raise CannotSet([NO_CHECKS])
    stage.save(update_fields=SETTINGS)
    attention_checks.top_up(stage=stage)
    audit.record(by=by, verb="revised screening", subject=stage, before=before, **settings)
    return stage


def set_known(*, stage: Stage, kind: Kind, benchmark: Benchmark, text: str, draw_known: int, by: str) -> list[Task]:
    """Add checks or practice items from pasted lines, and draw this many more whose answer was imported.

    All or none. Raises CannotSet.
    """
    items = {item.key: item for item in benchmark.present.filter(key__in=keys_in(text))}
    try:
        known = {items[key]: one for key, one in read_known(text, items).items()}
    except Unreadable as error:
        read = {items[key]: one for key, one in error.read.items()}
        raise CannotSet([*error.reasons, *gold_items.reasons_against(stage, read)]) from None
    if draw_known:
        known |= dict.fromkeys(_draw_items(stage, benchmark, draw_known, known), Known())
    if not known:
        raise CannotSet(["Name at least one item, or enter how many to pick at random."])
    if kind == Kind.PRACTICE:
        return gold_items.set_known(stage=stage, kind=kind, known=known, by=by)
    return attention_checks.set_checks(stage=stage, answers={item: one.answers for item, one in known.items()}, by=by)


def _draw_items(stage: Stage, benchmark: Benchmark, count: int, besides: Collection[Item]) -> list[Item]:
    """Items with a known answer that nobody has seen in the stage, drawn by its seed."""
    known = benchmark.present.exclude(pk__in=[item.pk for item in besides])
    if protocol_named(stage.protocol).right_answer is no_right_answer:
        known = known.filter(truth__has_key=stage.protocol)
    free = known.exclude(tasks__in=stage.tasks.exclude(kind=Kind.JUDGE)).exclude(tasks__leases__task__stage=stage)
    found = sorted(free.distinct(), key=lambda item: random_rank("known", stage.seed, item.key))
    if len(found) < count:
        raise CannotSet([f"{benchmark} has only {len(found)} free items with a known answer, not {count}."])
    return found[:count]


def screening_results(stage: Stage) -> list[dict]:
    """The results of everyone who has answered a check, a question or a practice screen, by number."""
    of_checks, of_tries = attention_checks.results(stage), qualification.results(stage)
    annotators = stage.study.annotators.filter(number__in={*of_checks, *of_tries}).order_by("number")
    out = set(stage.seats.exclude(screened_out_at=None).values_list("annotator", flat=True))
    found = []
    for one in annotators:
        of_kind = of_tries.get(one.number, {})
        row = {"annotator": one, "checks": of_checks.get(one.number), "out": one.pk in out, **of_kind}
        found.append(row | {"tries": [of_kind.get(kind) for kind in AttemptKind]})
    return found
