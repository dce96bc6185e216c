"""Setting a study up and running it: create, invite, instruct, pause."""

import random
import secrets
from collections.abc import Iterable
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import Max

from annotation.models import (
    STUDY_MOVES,
    Annotator,
    Instructions,
    Stage,
    Study,
    StudyState,
    Task,
)
from annotation.protocols.base import NotSuitable, Protocol
from annotation.protocols.registry import PROTOCOLS
from benchmarks import events, queries
from benchmarks.models import Benchmark, Item

BATCH = 2000
SHOWN_REASONS = 20

CREATE_SLOTS = """
INSERT INTO annotation_slot (task_id, number, stage_id, rank)
SELECT task.id, number, task.stage_id, task.rank
FROM annotation_task task, generate_series(1, %(overlap)s) number WHERE task.stage_id = %(stage)s
ORDER BY task.rank, number
"""


class CannotCreate(ValueError):
    """The study cannot be set up like this; the message says why, a sentence a line."""


class CannotMove(ValueError):
    """The study is not in a state from which it can go there."""


@transaction.atomic
def create_study(
    *,
    name: str,
    benchmark: Benchmark,
    protocol: str,
    by: str,
    created_by=None,
    pay_per_hour: Decimal = Decimal(0),
    currency: str = "USD",
    instructions: str | None = None,
    seed: int | None = None,
    **settings,
) -> Study:
    """A study of one stage with its tasks and slots. `settings` are Stage's: overlap, quota, tie_rule …"""
    asked = PROTOCOLS.get(protocol)
    if asked is None:
        raise CannotCreate(f"There is no protocol {protocol!r}; there are: {', '.join(PROTOCOLS)}.")
    study = Study(
        name=name, benchmark=benchmark, pay_per_hour=pay_per_hour, currency=currency, created_by=created_by
    )  # fmt: skip
    seed = secrets.randbits(31) if seed is None else seed
    stage = Stage(study=study, protocol=protocol, seed=seed, **settings)
    _check(study, stage)
    study.save()
    stage.save()
    Instructions.objects.create(stage=stage, version=1, text=instructions or asked.instructions)
    tasks = _create_tasks(stage, asked)
    events.record(
        by=by, verb="created", subject=study, protocol=protocol, tasks=tasks, seed=seed, overlap=stage.overlap
    )
    return study


def _check(study: Study, stage: Stage) -> None:
    try:
        study.full_clean(exclude=["created_by"])
        stage.full_clean(exclude=["study"])
    except ValidationError as error:
        raise CannotCreate("\n".join(f"{field}: {' '.join(m)}" for field, m in error.message_dict.items())) from None


def _create_tasks(stage: Stage, protocol: Protocol) -> int:
    items = stage.study.benchmark.items.order_by("position")
    options = _options(queries.with_material(items).iterator(chunk_size=BATCH), protocol)
    ranks = list(range(len(options)))
    random.Random(stage.seed).shuffle(ranks)
    rows = (
        Task(stage=stage, item_id=item, rank=rank, options=o) for (item, o), rank in zip(options, ranks, strict=True)
    )
    Task.objects.bulk_create(rows, batch_size=BATCH)
    with connection.cursor() as cursor:
        cursor.execute(CREATE_SLOTS, {"stage": stage.pk, "overlap": stage.overlap})
        cursor.execute("ANALYZE annotation_task, annotation_slot")
    return len(options)


def _options(items: Iterable[Item], protocol: Protocol) -> list[tuple[int, list[str]]]:
    """What each item offers under the protocol, by the item's id. All that do not suit are named at once."""
    found, reasons = [], []
    for item in items:
        try:
            found.append((item.pk, protocol.options(queries.record_of(item))))
        except NotSuitable as reason:
            reasons.append(f"{reason}.")
    if reasons:
        more = [f"… and {len(reasons) - SHOWN_REASONS} more."] if len(reasons) > SHOWN_REASONS else []
        raise CannotCreate("\n".join(reasons[:SHOWN_REASONS] + more))
    if not found:
        raise CannotCreate("The benchmark has no items.")
    return found


@transaction.atomic
def revise_instructions(*, stage: Stage, text: str, by: str) -> Instructions:
    """A new version; every annotator must read it before the next screen."""
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    last = stage.instructions.latest("version")
    if last.text == text:
        return last
    revised = Instructions.objects.create(stage=stage, version=last.version + 1, text=text)
    events.record(by=by, verb="revised instructions", subject=stage.study, version=revised.version)
    return revised


@transaction.atomic
def move_study(*, study: Study, to: StudyState, by: str) -> Study:
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if to not in STUDY_MOVES[StudyState(study.state)]:
        raise CannotMove(f"A study that is {study.state} cannot become {to}.")
    events.record(by=by, verb=f"moved to {to}", subject=study, before=study.state)
    study.state = to
    study.save(update_fields=["state"])
    return study


@transaction.atomic
def join(*, study: Study, by: str, prolific_pid: str = "", **who) -> Annotator:
    """The annotator behind a Prolific id, or a new one. `who`: name, prolific_study, prolific_session, simulated."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if prolific_pid:
        known = study.annotators.filter(prolific_pid=prolific_pid).first()
        if known:
            return known
    last = study.annotators.aggregate(last=Max("number"))["last"] or 0
    annotator = Annotator.objects.create(study=study, number=last + 1, prolific_pid=prolific_pid, **who)
    events.record(by=by, verb="joined", subject=study, annotator=annotator.pk)
    return annotator


@transaction.atomic
def accept_instructions(*, annotator: Annotator, version: int) -> Instructions:
    """The annotator has read this version. An older one than the newest does not open the gate."""
    read = Instructions.objects.get(stage__study_id=annotator.study_id, version=version)
    Annotator.objects.filter(pk=annotator.pk).update(read=read)
    annotator.read = read
    events.record(by=events.named(annotator), verb="accepted instructions", subject=read)
    return read
