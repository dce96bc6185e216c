"""Set up and run a study: create, invite, instruct, pause."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotation.checks.gold_items import CannotSet, set_known
from annotation.checks.parsing import Known
from annotation.designs.plan import StagePlan, contradictions
from annotation.designs.presets import apart_of, expected_carry, tasks_per_item
from annotation.measures.audits.judges import UNDECIDED
from annotation.models import (
    STUDY_MOVES,
    DecisionRule,
    Instructions,
    Kind,
    Role,
    Slot,
    Stage,
    StageState,
    Strategy,
    Study,
    StudyState,
)
from annotation.pipeline import dawid_skene, promotion, sampling, task_creation
from annotation.pipeline.part import drawn_now, items_of, unknown_keys
from annotation.protocol_files.publish import publish
from annotation.protocols import library, roles, schema
from annotation.protocols.base import Protocol, UnsuitableItem
from annotation.protocols.registry import PROTOCOLS, is_known, is_unpublished, protocol_named
from annotation.studies import audit_scores, instructions_images, members
from annotation.studies.instructions import default_instructions, default_translations
from annotation.wording import as_lines
from benchmarks import audit, queries
from benchmarks.housekeeping.deferred_files import deferred_files
from benchmarks.models import Benchmark
from benchmarks.transactions import retry_deadlocks

NOTHING: Mapping[str, str] = MappingProxyType({})
CLOSED = f"moved to {StageState.CLOSED}"  # the verb of the event


class CannotCreate(ValueError):
    """The study cannot be set up like this; the message gives the reasons, one sentence per line."""


class Unsuitable(CannotCreate):
    """Items do not suit a stage; if there are several, the first line gives their number."""


class CannotMove(ValueError):
    """The study or stage cannot move from its present state to the requested one (staying in one is allowed)."""


@transaction.atomic
def create_study(
    *, name: str, benchmark: Benchmark, stages: Sequence[StagePlan], by: str, created_by=None, title: str = "",
    pay_per_hour: Decimal = Decimal(0), currency: str = "USD", consent: str = "", language: str = "en",
    seed: int | None = None, state: StudyState = StudyState.OPEN, part: Mapping[str, Any] = NOTHING,
) -> Study:  # fmt: skip
    """Create a study with its stages, and tasks for the stages that take the benchmark's items. Raises CannotCreate.

    `part` selects some of these items (designs/part.py). `created_by` becomes its owner; without one it has
    no members, and only superusers see it.
    """
    seed = secrets.randbits(31) if seed is None else seed
    study = Study(
        name=name, benchmark=benchmark, pay_per_hour=pay_per_hour, currency=currency, consent=consent, state=state,
        created_by=created_by, language=language, title=title, part=drawn_now(part, benchmark.items.all(), seed),
    )  # fmt: skip
    _check(study, exclude=["created_by", "benchmark", "invite"])
    _hold_benchmark(study)
    study.save()
    if created_by is not None:
        members.add(study=study, user=created_by, role=Role.OWNER, by=by)
    made: dict[str, Stage] = {}
    for place, plan in enumerate(stages):
        made[plan.stage_name] = _create_stage(study, plan, stages[:place], made, seed, by)
    if not made:
        raise CannotCreate("A study needs at least one stage.")
    tasks = _place_items(study, stages, list(made.values()))
    _keep_scores(made.values())
    audit.record(by=by, verb="created", subject=study, tasks=tasks, seed=seed)
    return study


def _hold_benchmark(study: Study) -> None:
    """Lock the benchmark. Raises CannotCreate if it has been deleted, or lacks items that the study names."""
    # any import commits before or after this
    if Benchmark.objects.select_for_update(no_key=True).filter(pk=study.benchmark_id).first() is None:
        raise CannotCreate(f"The benchmark {study.benchmark} has been deleted.")
    if unknown := unknown_keys(study):
        raise CannotCreate(f"The benchmark does not have {' or '.join(unknown[:3])}{' …' if len(unknown) > 3 else ''}.")


def duplicate_study(*, source: Study, by: str, **given) -> Study:
    """Create a study (`given` as for create_study) whose stages take the images of the `source`'s stages with the same
    names and, on the same benchmark, their checks and practice. Raises CannotCreate.
    """
    with deferred_files() as after, transaction.atomic():
        study = create_study(by=by, **given)
        originals = {stage.name: stage for stage in source.stages.all()}
        for stage in study.stages.all():
            if original := originals.get(stage.name):
                instructions_images.copy_images(source=original, to=stage, after=after)
                if study.benchmark_id == source.benchmark_id:
                    _copy_known_items(original, stage, by)
        audit.record(by=by, verb="duplicated", subject=study, source=source.pk, afterwards=after.id)
    return study


def _copy_known_items(original: Stage, stage: Stage, by: str) -> None:
    """Copy another stage's checks and practice, except items that this one cannot ask about."""
    for task in original.tasks.filter(live=True).exclude(kind=Kind.JUDGE).select_related("item").order_by("pk"):
        known = {task.item: Known(() if task.question else task.gold, task.note)}
        with suppress(CannotSet):
            set_known(stage=stage, kind=Kind(task.kind), known=known, by=by)


def _create_stage(
    study: Study, plan: StagePlan, before: Sequence[StagePlan], made: Mapping[str, Stage], seed: int, by: str
) -> Stage:
    if not is_known(plan.protocol):
        raise CannotCreate(f"There is no protocol {plan.protocol!r}. Choose one of {', '.join(PROTOCOLS)}.")
    protocol = protocol_named(plan.protocol)
    asks = published_name(plan.protocol, by)
    name, position = plan.stage_name, len(before) + 1
    if unknown := {plan.source, plan.after} - {"", *made}:
        raise CannotCreate(f"Stage {name} names {', '.join(sorted(unknown))}, which is not an earlier stage.")
    own_items_apart = name in (plan.apart_from or ()) and tasks_per_item(plan.protocol) > 1
    if wrong := contradictions(plan.settings, own_items_apart, protocol):
        raise CannotCreate("\n".join(f"Stage {name}, {field}: {sentence}" for field, sentence in wrong.items()))
    stage = Stage(study=study, position=position, name=name, protocol=asks, **{"seed": seed, **plan.settings})
    stage.source, stage.after = made.get(plan.source), made.get(plan.after)
    if stage.strategy == Strategy.AUDIT and (reason := cannot_audit(plan)):
        raise CannotCreate(f"Stage {name}: {reason}")
    if stage.certainty is not None and (reason := cannot_adapt(plan)):
        raise CannotCreate(f"Stage {name}: {reason}")
    positions = {**{other: stage.position for other, stage in made.items()}, name: position}
    apart = apart_of(plan, before)
    if unknown := set(apart) - set(positions):
        raise CannotCreate(
            f"Stage {name} is kept apart from {', '.join(sorted(unknown))}, which is not an earlier stage."
        )
    if stage.strategy == Strategy.AUDIT:
        stage.wrong_reasons = stage.wrong_reasons or sorted({*protocol.drops.values()} - UNDECIDED)
    stage.apart_from = sorted(positions[other] for other in apart)
    _check(stage, exclude=["study", "invite"])
    stage.save()
    _first_instructions(stage, plan, protocol)
    return stage


def published_name(protocol: str, by: str) -> str:
    """Return the protocol's name as a stage keeps it. For a library file, it has the version published, for exports and
    releases.
    """
    if not is_unpublished(protocol):
        return protocol
    name, mapping = roles.split(protocol)
    return roles.joined(str(publish(text=library.text_of(name), by=by)), mapping)


def _keep_scores(stages: Iterable[Stage]) -> None:
    for stage in stages:
        if stage.strategy == Strategy.AUDIT and stage.scores_run is not None:
            try:
                audit_scores.keep_scores(stage, stage.scores_run)
            except audit_scores.CannotUse as reason:
                raise CannotCreate(f"Stage {stage.title}: {reason}") from None


def cannot_audit(plan: StagePlan) -> str:
    """Return why the stage cannot be an audit, in a sentence; empty if it can."""
    if plan.source:
        return "An audit checks the benchmark’s items. It cannot take an earlier stage’s items."
    if protocol_named(plan.protocol).measures:
        return "This protocol doesn’t drop any items, so an audit would not find any wrong items."
    return ""


def cannot_adapt(plan: StagePlan) -> str:
    """Return why the stage cannot have adaptive overlap, in a sentence; empty if it can."""
    protocol = protocol_named(plan.protocol)
    if protocol.confirms:
        return "In this protocol a second annotator confirms edits, but adaptive overlap needs votes."
    if protocol.file and not (protocol.file.decide and all(map(_takes_more_votes, protocol.file.decide))):
        return "Adaptive overlap needs votes, but this protocol file decides in a different way."
    return ""


def _takes_more_votes(rule: schema.Decision) -> bool:
    """Return whether the rule decides by shares of the votes, so that some tasks can have more votes than others."""
    by_share = isinstance(rule, schema.AtLeast) and isinstance(rule.m, str)
    return by_share or isinstance(rule, schema.Majority | schema.DawidSkene)


def _first_instructions(stage: Stage, plan: StagePlan, protocol: Protocol) -> None:
    """Create the instructions. The protocol's own are in every language; a manager's only in those they wrote."""
    own, text = stage.study.language, plan.instructions
    if not text or text.strip() == default_instructions(protocol, "en").strip():
        text, translations = default_instructions(protocol, own), default_translations(protocol, own)
    else:
        translations = {language: there for language, there in plan.translations.items() if language != own}
    Instructions.objects.create(stage=stage, version=1, text=text, translations=translations)


def _check(row: Study | Stage, exclude: list[str]) -> None:
    try:
        row.full_clean(exclude=exclude)
    except ValidationError as error:
        raise CannotCreate("\n".join(f"{field}: {' '.join(m)}" for field, m in error.message_dict.items())) from None


def _place_items(study: Study, plans: Sequence[StagePlan], stages: Sequence[Stage]) -> dict[str, int]:
    """Create the tasks of the stages that take the benchmark's items; return each stage's count.

    Every item must suit every such stage.

    The items are read once for all stages: for a large benchmark, reading takes most of the time.
    """
    asked: dict[str, list[task_creation.NewTask]] = {stage.name: [] for stage in stages}
    reasons: dict[str, list[str]] = {stage.name: [] for stage in stages}
    carried = {plan.stage_name: expected_carry(plan, plans) for plan in plans}
    for item, record in queries.materials(items_of(study).filter(withdrawn=False).order_by("position")):
        round = promotion.round_of(record)
        for stage in stages:
            try:
                asks = protocol_named(stage.protocol).tasks_for(record, carried[stage.name])
            except UnsuitableItem as reason:
                reasons[stage.name].append(f"{reason}.")
                continue
            if stage.source is None:
                asked[stage.name] += [task_creation.NewTask(item, record.key, ask, {}, round) for ask in asks]
    for name, found in reasons.items():
        if found:
            summary = f"{len(found)} items do not suit stage {name}.\n" if len(found) > 1 else ""
            raise Unsuitable(summary + as_lines(found))
    placed = dict.fromkeys(asked, 0)
    for stage in stages:
        if stage.source is None:
            items = {task.item for task in asked[stage.name]}
            if not items:
                which = "The part of the benchmark" if study.part else "The benchmark"
                raise CannotCreate(f"{which} has no items.")
            drawn = set(sampling.draw_sample(stage, items))
            tasks = [task for task in asked[stage.name] if task.item in drawn]
            placed[stage.name] = len(task_creation.create_tasks(stage, tasks))
    return placed


@transaction.atomic
def revise_instructions(*, stage: Stage, text: str, by: str, translations: Mapping[str, str] = NOTHING) -> Instructions:
    """Create a new version in all its languages; every annotator must read it before the next screen."""
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    last = stage.instructions.latest("version")
    if (last.text, last.translations) == (text, {**translations}):
        return last
    revised = Instructions.objects.create(
        stage=stage, version=last.version + 1, text=text, translations={**translations}
    )
    audit.record(by=by, verb="revised instructions", subject=stage.study, version=revised.version)
    return revised


@transaction.atomic
def move_study(*, study: Study, to: str, by: str) -> Study:
    study = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if to == study.state:
        return study
    if to not in STUDY_MOVES[StudyState(study.state)]:
        raise CannotMove(f"A study that is {study.state} cannot change to {to}.")
    audit.record(by=by, verb=f"moved to {to}", subject=study, before=study.state)
    study.state = to
    study.save(update_fields=["state"])
    return study


@dataclass(frozen=True, slots=True)
class Moved:
    """A stage in its new state, and how many items it passed on to each stage by closing."""

    stage: Stage
    promoted: Mapping[Stage, int]


@retry_deadlocks
@transaction.atomic
def move_stage(*, stage: Stage, to: str, by: str) -> Moved:
    """Close a stage, so that nothing more is given out and waiting items are promoted, or open it again.

    A closed stage can be closed once more if some of its items are being given out again.
    """
    stage = promotion.lock_stage(stage)
    partly = to == StageState.CLOSED and Slot.objects.filter(stage=stage, judgment=None, live=True).exists()
    if to not in StageState.values:
        raise CannotMove(f"A stage that is {stage.state} cannot change to {to}.")
    if to == stage.state and not partly:
        return Moved(stage, {})
    promotion.set_state(stage, to)
    promoted: dict[Stage, int] = {}
    if to == StageState.CLOSED and stage.rule == DecisionRule.DAWID_SKENE:
        dawid_skene.queue_estimate(stage=stage, by=by, closing=True)  # promoted after the worker's estimate
    elif to == StageState.CLOSED:
        promoted = promotion.promote(stage)
    went = sum(promoted.values())
    last_task = promotion.last_task(stage)  # later tasks came after it closed
    audit.record(by=by, verb=f"moved to {to}", subject=stage, promoted=went, last_task=last_task)
    return Moved(stage, promoted)
