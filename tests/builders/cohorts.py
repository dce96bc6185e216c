"""Made-up annotators of stated habits, and studies in which they have worked, written in bulk as
tests/builders/crowds.py does.

A screen has one true answer: one of the images, or None for a third of the items. The same seed gives the same study.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from annotation.checks import attention_checks
from annotation.models import Annotator, Seat, Slot, Stage, Task
from tests.builders import crowds, studies

SPREAD, OWN = 0.5, 0.15  # sigma of the log of times: within an annotator, and between them
NONE = "none"
CHECKS = 12

Pick = Callable[[random.Random, Sequence[str], str], str]  # dice, the options as shown, the true answer → the answer


def any_of(dice: random.Random, shown: Sequence[str], truth: str) -> str:
    return dice.choice([*shown, NONE])


def erring(rate: float) -> Pick:
    """The true answer, but for so many screens, which get any other."""

    def pick(dice: random.Random, shown: Sequence[str], truth: str) -> str:
        wrong = [answer for answer in (*shown, NONE) if answer != truth]
        return dice.choice(wrong) if dice.random() < rate else truth

    return pick


def half(dice: random.Random, shown: Sequence[str], truth: str) -> str:
    """Half of the screens are not looked at."""
    return any_of(dice, shown, truth) if dice.random() < 0.5 else truth


@dataclass(frozen=True)
class Cohort:
    seconds: float  # the median of their times
    pick: Pick
    bad: bool = True  # to be recognised


COHORTS = {
    "honest": Cohort(6.0, erring(0.1), bad=False),
    "fast honest": Cohort(2.5, erring(0.1), bad=False),
    "random": Cohort(3.5, any_of),
    "always left": Cohort(2.0, lambda dice, shown, truth: shown[0]),
    "always None": Cohort(1.5, lambda dice, shown, truth: NONE),
    "careless": Cohort(3.5, half),
    "mistaken": Cohort(6.0, erring(1)),
    "hasty": Cohort(0.9, erring(0.1)),
}
TWELVE = ("honest",) * 6 + ("fast honest",) * 2 + ("random", "always left", "always None", "careless")
HONEST = ("honest",) * 10 + ("fast honest",) * 2


def study(who: Sequence[str] = TWELVE, judgments: int = 100, overlap: int = 3, seed: int = 1) -> tuple[Stage, dict]:
    """A stage in which each has given about so many judgments, and answered the checks; their cohorts by number."""
    dice, items = random.Random(f"cohorts {seed}"), math.ceil(len(who) * judgments / overlap)
    stage = studies.stage(
        benchmark=crowds.benchmark(items), overlap=overlap, pay_per_hour=12, check_rate=0.1, seed=seed
    )
    known = {item: [dice.choice(["candidate-0", "candidate-1", NONE])] for item in crowds.benchmark(CHECKS).items.all()}
    attention_checks.set_checks(stage=stage, answers=known, by="test")
    people = studies.people(stage.study, len(who), ready=False, simulated=True)
    read = stage.instructions.latest("version")
    Seat.objects.filter(stage=stage).update(read=read, ready_at=crowds.START)
    attention_checks.top_up(stage=stage)
    shift = Shift(dice, people, read, [COHORTS[name] for name in who])
    for slot, person in shared_out(stage, people, dice):
        shift.work(slot, person)
    shift.save(stage)
    return stage, {person.number: name for person, name in zip(people, who, strict=True)}


def shared_out(stage: Stage, people: Sequence[Annotator], dice: random.Random) -> list[tuple[Slot, Annotator]]:
    """Every slot with whom it goes to, in the order of working: checks as reserved, tasks to whoever has had least."""
    load = {person.pk: 0 for person in people}
    found, of_task, by_pk = [], {}, {person.pk: person for person in people}
    for slot in Slot.objects.filter(stage=stage).select_related("task", "stage").order_by("task", "number"):
        had = of_task.setdefault(slot.task_id, set())
        free = [pk for pk in load if pk not in had]
        least = slot.reserved_id or min(free, key=lambda pk: (load[pk], dice.random()))
        had.add(least)
        load[least] += slot.reserved_id is None
        found.append((slot, by_pk[least]))
    dice.shuffle(found)
    return found


class Shift(crowds.Shift):
    def __init__(self, dice: random.Random, people: Sequence[Annotator], read, cohorts: Sequence[Cohort]):
        super().__init__(dice, list(people), read, {}, crowds.START)
        self.cohorts = {person.pk: cohort for person, cohort in zip(people, cohorts, strict=True)}
        self.pace = {person.pk: math.exp(dice.gauss(0, OWN)) for person in people}
        self.truths: dict[int, str] = {}

    def truth(self, task: Task) -> str:
        fits = NONE if self.dice.random() < 1 / 3 else self.dice.choice(task.options)
        return task.gold[0] if task.gold else self.truths.setdefault(task.pk, fits)

    def work(self, slot: Slot, person: Annotator) -> None:
        cohort, lease = self.cohorts[person.pk], self.lease(slot, person, "judged")
        judgment = self.fill(slot, lease, cohort.pick(self.dice, lease.shown, self.truth(slot.task)))
        median = 1000 * cohort.seconds * self.pace[person.pk]
        judgment.active_ms = max(1, round(self.dice.lognormvariate(math.log(median), SPREAD)))
        judgment.elapsed_ms, self.clock = judgment.active_ms + 500, self.clock + timedelta(seconds=1)
