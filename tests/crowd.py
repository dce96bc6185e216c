"""A study that many have worked on, written in bulk: for figures, exports and pages at any size.

`work(study)` gives a study judgments as people leave them: mistakes, None, answers taken back and changed, surplus
answers, skips, flags, a task that is not done. The same seed gives the same work.
"""

import random
import uuid
from datetime import UTC, datetime, timedelta

from django.db import connection

from annotation import outcomes, studies
from annotation.models import Annotator, Flag, Judgment, Lease, LeaseState, Seat, Slot, Stage, Study, Task
from benchmarks.models import Benchmark, Caption, Image, Item, ItemImage
from tests import make

TYPES = [("replace", "obj"), ("replace", "att"), ("replace", "rel"), ("swap", "obj"), ("swap", "att"), ("add", "obj")]
FILL = """
UPDATE annotation_slot SET annotator_id = of.annotator, held_until = NULL, judgment_id = of.judgment
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) of (slot, annotator, judgment) WHERE annotation_slot.id = of.slot
"""
START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def benchmark(items: int = 12, candidates: int = 4) -> Benchmark:
    """Image rows without files, all in bulk."""
    made = Benchmark.objects.create(name=f"Crowd {next(make.serial)}", source="jsonl")
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
    ItemImage.objects.bulk_create(
        ItemImage(item=row, image=image, role=role, position=number, source_name=f"{row.key}/{role}{number}.jpg")
        for row in rows
        for (role, number), image in zip(places, shared, strict=True)
    )
    return made


def stage(items: int = 12, people: int = 4, overlap: int = 2, seed: int = 1, **settings) -> Stage:
    source = settings.pop("benchmark", None) or benchmark(items)
    made = make.study(benchmark=source, overlap=overlap, pay_per_hour=12, **settings)
    return work(made, people, seed)


def work(study: Study, people: int = 4, seed: int = 1, undone: float = 0.1) -> Stage:
    dice = random.Random(seed)
    one = study.stages.get()
    crowd = [studies.join(study=study, by="test", simulated=True) for _ in range(people)]
    read = one.instructions.latest("version")
    Seat.objects.filter(stage=one).update(read=read, ready_at=START)
    busy = Shift(dice, crowd, read, fits={})
    for slot in Slot.objects.filter(stage=one).select_related("task").order_by("rank", "number"):
        if dice.random() >= undone:
            busy.judge(slot)
    busy.save()
    return one


class Shift:
    """Collects rows in memory and writes them at the end, leases before judgments before slots."""

    def __init__(self, dice: random.Random, crowd: list[Annotator], read, fits: dict):
        self.dice, self.crowd, self.read, self.fits = dice, crowd, read, fits
        self.leases, self.judgments, self.flags, self.slots = [], [], [], []
        self.had: dict[int, set[int]] = {}
        self.clock = START

    def judge(self, slot: Slot) -> None:
        free = [person for person in self.crowd if person.pk not in self.had.setdefault(slot.task_id, set())]
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
        slot.annotator = person
        slot.judgment = self.answer(lease, self.pick(slot, 0.05 * (1 + self.crowd.index(person))))
        self.slots.append(slot)

    def lease(self, slot: Slot, person: Annotator, state: str) -> Lease:
        self.had.setdefault(slot.task_id, set()).add(person.pk)
        shown = self.dice.sample(slot.task.options, len(slot.task.options))
        lease = Lease(slot=slot, task=slot.task, annotator=person, state=state, shown=shown, granted_at=self.clock)
        lease.token, lease.revisions = uuid.uuid4(), 0
        self.leases.append(lease)
        return lease

    def pick(self, slot: Slot, error: float) -> str:
        fits = self.fits.setdefault(slot.task_id, self.dice.choice([*slot.task.options, "none", "none"]))
        if self.dice.random() < error:
            return self.dice.choice([*slot.task.options, "none", "none", "cannot_judge"])
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

    def save(self) -> None:
        Lease.objects.bulk_create(self.leases, batch_size=5000)
        Judgment.objects.bulk_create(self.judgments, batch_size=4000)
        Flag.objects.bulk_create(self.flags)
        rows = [(slot.pk, slot.annotator_id, slot.judgment.pk) for slot in self.slots]
        with connection.cursor() as cursor:
            cursor.execute(FILL, [list(column) for column in zip(*rows, strict=True)])
        for slot in self.slots[:1]:
            for task in Task.objects.filter(stage=slot.stage_id):
                outcomes.settle(task, slot.stage)
