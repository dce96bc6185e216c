"""Set what a stage asks of annotators besides judgments: checks, comprehension questions, practice."""

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.checks import attention_checks, gold_items, qualification
from annotation.checks.gold_items import CannotSet
from annotation.checks.parsing import Known
from annotation.designs.plan import NO_CHECKS
from annotation.models import Kind, Lease, Stage, Task
from annotation.pipeline.part import items_of
from annotation.pipeline.promotion import lock_stage
from annotation.pipeline.ranks import random_rank
from annotation.protocols.base import no_right_answer
from annotation.protocols.registry import protocol_named
from benchmarks import audit
from benchmarks.models import Benchmark, Item

SETTINGS = ("check_rate", "practice_pass", "practice_tries", "on_failure", "comprehension")


@transaction.atomic
def revise(*, stage: Stage, by: str, **settings) -> Stage:
    """Change some of `SETTINGS`. Annotators already in the stage stay; the new rate applies to their checks at once."""
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


def set_known(*, stage: Stage, kind: Kind, items: Collection[int], known: Known, by: str) -> list[Task]:
    """Turn these items (by id) into checks or practice, all or none. Raises CannotSet."""
    given = dict.fromkeys(Item.objects.filter(pk__in=items, withdrawn=False), known)
    if not given:
        raise CannotSet(["Pick at least one item."])
    if kind == Kind.PRACTICE:
        return gold_items.set_known(stage=stage, kind=kind, known=given, by=by)
    return attention_checks.set_checks(stage=stage, answers=dict.fromkeys(given, known.answers), by=by)


def pickable(stage: Stage, benchmark: Benchmark) -> QuerySet[Item]:
    """Return items that nobody has seen in the stage, and those that are checks or practice there."""
    tasks = Task.objects.filter(item=OuterRef("pk"), stage=stage, corrected=None)
    met = tasks.filter(Q(decided__isnull=False) | Exists(Lease.objects.filter(task=OuterRef("pk"))), kind=Kind.JUDGE)
    return benchmark.present.filter(~Exists(met))


def with_known_answer(stage: Stage, items: QuerySet[Item]) -> QuerySet[Item]:
    """Return items whose right answers were imported, or which the stage's protocol knows."""
    knows = protocol_named(stage.protocol).right_answer is not no_right_answer
    return items if knows else items.filter(truth__has_key=stage.protocol)


def drawn(stage: Stage, items: QuerySet[Item], count: int) -> list[int]:
    """Return up to `count` items that are not yet checks or practice, drawn by the stage's seed."""
    free = items.exclude(tasks__in=stage.tasks.exclude(kind=Kind.JUDGE)).values_list("key", "pk")
    return [pk for _, pk in sorted(free, key=lambda row: random_rank("known", stage.seed, row[0]))[:count]]


def departing(stage: Stage, items: Collection[int]) -> tuple[int, int]:
    """Return how many of these items the stage would no longer judge if they became checks or practice, and how many it
    has left without them."""
    there = items_of(stage.study).exclude(tasks__in=stage.tasks.exclude(kind=Kind.JUDGE))
    gone = there.filter(pk__in=items).count()
    return gone, there.count() - gone


def screening_results(stage: Stage) -> list[dict]:
    """Return the results of everyone who has answered a check, a question or a practice screen, by number."""
    of_checks, of_tries = attention_checks.results(stage), qualification.results(stage)
    annotators = stage.study.annotators.filter(number__in={*of_checks, *of_tries}).order_by("number")
    out = set(stage.seats.exclude(screened_out_at=None).values_list("annotator", flat=True))
    found = []
    for one in annotators:
        of_kind = of_tries.get(one.number, {})
        found.append({"annotator": one, "checks": of_checks.get(one.number), "out": one.pk in out, **of_kind})
    return found
