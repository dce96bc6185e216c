"""A study that many have worked on, written in bulk: for figures, exports and pages at any size.

`work(study)` gives a study judgments as people leave them: mistakes, None, answers taken back and changed, surplus
answers, skips, flags, a task that is not done. The same seed gives the same work.
"""

import random
import uuid
from datetime import UTC, datetime, timedelta

from django.db import connection

from annotation.models import Annotator, Flag, Judgment, Lease, LeaseState, Seat, Slot, Stage, Study, Task
from annotation.pipeline import outcomes
from annotation.protocols.registry import protocol_named
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Benchmark, Caption, Image, Item, ItemImage
from tests.builders import studies

TYPES = [("replace", "obj"), ("replace", "att"), ("replace", "rel"), ("swap", "obj"), ("swap", "att"), ("add", "obj")]
FILL = """
UPDATE annotation_slot SET annotator_id = of.annotator, held_until = NULL, judgment_id = of.judgment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) of (slot, annotator, judgment) WHERE annotation_slot.id = of.slot
"""
START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def benchmark(items: int = 12, candidates: int = 4) -> Benchmark:
    """Image rows without files, all in bulk."""
    made = Benchmark.objects.create(name=f"Crowd {next(studies.serial)}", source="jsonl")
    kinds = [TYPES[number % len(TYPES)] for number in range(items)]
    rows = Item.objects.bulk_create(
        Item(benchmark=made, key=f"item-{n}", position=n, type=kind, subtype=subtype)
        for n, (kind, subtype) in enumerate(kinds)
    )
    Caption.objects.bulk_create(
        Caption(item=row, role=role, text=f"The {role} caption of item {row.position}.")
        for row in rows
        for role in ("positive", "negative")
    )
    shared = Image.objects.bulk_create(
        Image(sha256=f"{made.pk:032x}{number:032x}", format="JPEG", width=512, height=512, size=1000)
        for number in range(candidates + 1)
    )
    places = [("positive", 0), *(("candidate", number) for number in range(candidates))]
    used = [
        ItemImage(item=row, image=image, role=role, position=number, source_name=f"{row.key}/{role}{number}.jpg")
        for row in rows
        for (role, number), image in zip(places, shared, strict=True)
    ]
    ItemImage.objects.bulk_create(used, batch_size=3000)
    return made


def stage(items: int = 12, people: int = 4, overlap: int = 2, seed: int = 1, **settings) -> Stage:
    source = settings.pop("benchmark", None) or benchmark(items)
    made = studies.study(benchmark=source, overlap=overlap, pay_per_hour=12, **settings)
    return work(made, people, seed)


def work(study: Study, people: int = 4, seed: int = 1, undone: float = 0.1, close: bool = False) -> Stage:
    """Everybody works in every stage in turn, on what has come there; returns the first stage.

    `close` closes each stage after its work, which promotes what waits for that.
    """
    dice = random.Random(seed)
    crowd = studies.people(study, people, ready=False, simulated=True)
    clock = START
    for stage in study.stages.order_by("position"):
        clock = work_in(stage, crowd, dice, undone, clock)
        if close:
            study_lifecycle.move_stage(stage=stage, to="closed", by="test")
    return study.stages.get(position=1)


def work_in(stage: Stage, crowd: list[Annotator], dice: random.Random, undone: float, clock: datetime) -> datetime:
    """Sit down, judge what is there, take the next batch where there are batches; returns when they were done."""
    read, left, fits = stage.instructions.latest("version"), set(), {}
    while True:
        studies.seat(stage, crowd)
        Seat.objects.filter(stage=stage).update(read=read, ready_at=START)
        busy = Shift(dice, crowd, read, fits, clock)
        free = Slot.objects.filter(stage=stage, judgment=None, live=True, task__kind="judge").exclude(pk__in=left)
        free = free if stage.strategy == "pool" else free.exclude(reserved=None)
        for slot in free.select_related("task", "stage").order_by("rank", "number"):
            left.add(slot.pk)
            if dice.random() >= undone:
                busy.judge(slot)
        busy.save(stage)
        clock = busy.clock
        if not busy.slots or stage.strategy == "pool":
            return clock


class Shift:
    """Collects rows in memory and writes them at the end, leases before judgments before slots."""

    def __init__(self, dice: random.Random, crowd: list[Annotator], read, fits: dict, clock: datetime):
        self.dice, self.crowd, self.read, self.fits = dice, crowd, read, fits
        self.leases, self.judgments, self.flags, self.slots = [], [], [], []
        self.had: dict[int, set[int]] = {}
        self.clock = clock

    def judge(self, slot: Slot, error: float | None = None) -> None:
        free = [person for person in self.crowd if person.pk not in self.had.setdefault(slot.task_id, set())]
        free = [person for person in free if slot.reserved_id in (None, person.pk)]
        if not free:
            return
        person = self.dice.choice(free)
        if len(free) > 1 and self.dice.random() < 0.05:
            self.lease(slot, free[free.index(person) - 1], LeaseState.SKIPPED)
        if len(free) > 2 and self.dice.random() < 0.05:
            late = self.lease(slot, free[free.index(person) - 2], LeaseState.LAPSED)
            self.answer(late, self.pick(slot, 0.2), surplus=True)
        lease = self.lease(slot, person, LeaseState.JUDGED)
        if self.dice.random() < 0.05:
            self.answer(lease, self.pick(slot, 0.5))
            self.answer(lease, "", withdrawn=True)
        if self.dice.random() < 0.05:
            self.flags.append(Flag(lease=lease, reason="The sentence has a typing error."))
        error = 0.05 * (1 + self.crowd.index(person)) if error is None else error
        self.fill(slot, lease, self.pick(slot, error))

    def judged(self, slot: Slot, person: Annotator, answer: str, **marks) -> Judgment:
        """The slot's counted judgment, by this person."""
        return self.fill(slot, self.lease(slot, person, LeaseState.JUDGED), answer, **marks)

    def fill(self, slot: Slot, lease: Lease, answer: str, **marks) -> Judgment:
        slot.annotator, slot.judgment = lease.annotator, self.answer(lease, answer, **marks)
        self.slots.append(slot)
        return slot.judgment

    def lease(self, slot: Slot, person: Annotator, state: str) -> Lease:
        self.had.setdefault(slot.task_id, set()).add(person.pk)
        shown = self.dice.sample(slot.task.options, len(slot.task.options))
        lease = Lease(slot=slot, task=slot.task, annotator=person, state=state, shown=shown, granted_at=self.clock)
        lease.token, lease.revisions = uuid.uuid4(), 0
        self.leases.append(lease)
        return lease

    def pick(self, slot: Slot, error: float) -> str:
        fixed = [choice.identity for choice in protocol_named(slot.stage.protocol).fixed]
        fits = self.fits.setdefault(slot.task_id, self.dice.choice([*slot.task.options, *fixed, *fixed]))
        if self.dice.random() < error:
            return self.dice.choice([*slot.task.options, *fixed, *fixed, "cannot_judge"])
        return fits

    def answer(self, lease: Lease, answer: str, **marks) -> Judgment:
        lease.revisions += 1
        self.clock += timedelta(seconds=self.dice.uniform(2, 30))
        active = 0 if not answer else int(self.dice.lognormvariate(9, 0.5))
        judgment = Judgment(
            lease=lease, revision=lease.revisions, key=uuid.uuid4(), digest="0" * 64,
            instructions=self.read, answer=answer, active_ms=active, elapsed_ms=active + 500, created_at=self.clock,
            reason="I do not know the word." if answer == "cannot_judge" else "", **marks,
        )  # fmt: skip
        self.judgments.append(judgment)
        return judgment

    def save(self, stage: Stage) -> None:
        Lease.objects.bulk_create(self.leases, batch_size=5000)
        Judgment.objects.bulk_create(self.judgments, batch_size=3000)
        Flag.objects.bulk_create(self.flags)
        rows = [(slot.pk, slot.annotator_id, slot.judgment.pk) for slot in self.slots]
        with connection.cursor() as cursor:
            cursor.execute(FILL, [list(column) for column in zip(*rows, strict=True)] or [[], [], []])
        for task in Task.objects.filter(pk__in={slot.task_id for slot in self.slots}):
            outcomes.settle(task, stage)
