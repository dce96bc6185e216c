"""Annotators in this process who work as the judging page lets them: sit, hold, submit, take back, go on to the next
stage. Every step is the verb that the page calls; only HTTP is left out. For runs of thousands of judgments.
"""

import random
import uuid
from collections.abc import Callable, Iterable, Iterator

from annotation import permissions
from annotation.assignment import leases, seats
from annotation.judging import next_step, submissions
from annotation.models import Annotator, Lease, Stage, Study, Task
from annotation.models.choices import POOLED
from annotation.protocols.registry import PROTOCOLS
from annotation.screens import read_answer
from annotation.sql import fetch
from benchmarks.models import Benchmark, ItemImage
from tests.builders import crowds, studies

SITS = """
SELECT FROM annotation_seat seat JOIN annotation_annotator annotator ON annotator.id = seat.annotator_id
WHERE annotator.id = %(annotator)s AND annotator.stage_id = %(stage)s AND seat.stage_id = %(stage)s
  AND seat.read_id = (SELECT max(id) FROM annotation_instructions WHERE stage_id = %(stage)s)
"""  # having read what is newest
Answer = Callable[[random.Random, Task, str], str]  # dice, task, the stage's protocol -> an option's identity


class Worker:
    """One annotator. `step` is one screen; `slip` is how often they answer at random first, and take it back."""

    def __init__(self, study: Study, answer: Answer, seed: object, slip: float = 0.0):
        self.answer, self.slip, self.dice = answer, slip, random.Random(f"{seed}")
        token = seats.join(study=study, by="test", simulated=True).token
        self.desk, self.leases = permissions.desk(token), []
        self.judged = 0

    @property
    def annotator(self) -> Annotator:
        return self.desk.annotator

    def step(self) -> bool:
        """Judge one screen. False: there is nothing for them now."""
        if not self.leases:
            self._look()
        if not self.leases:
            return False
        if self.slip and self.dice.random() < self.slip:
            self._slip(self.leases[0])
        self._judge(self.leases[0], self.answer(self.dice, self.leases[0].task, self.desk.stage.protocol))
        self.judged += 1
        return True

    def _look(self) -> None:
        """What the page shows where there is no screen yet, past rules and moves to the next stage."""
        for _ in range(6):
            self.desk = permissions.desk(self.annotator.token)
            turn = next_step.claim_next(self.desk)
            if turn.state == "rules":
                newest = self.desk.stage.instructions.latest("version").version
                seats.accept_instructions(annotator=self.annotator, stage=self.desk.stage, version=newest)
            elif turn.state != "moved":
                self.leases = turn.leases
                return
        raise AssertionError("an annotator was sent from stage to stage without end")

    def _judge(self, lease: Lease, identity: str, wanted: int = 2) -> None:
        active = round(self.dice.lognormvariate(8.7, 0.5))
        submission = submissions.Submission(
            token=lease.token, key=uuid.uuid4(), active_ms=active, elapsed_ms=active,
            shown_answer=read_answer.place_on_screen(lease, identity),
            reason="I cannot tell." if identity == "cannot_judge" else "",
        )  # fmt: skip
        _, self.leases = submissions.submit_and_hold(
            annotator=self.annotator, stage=self.desk.stage, wanted=wanted, submission=submission
        )

    def _slip(self, lease: Lease) -> None:
        """Some other answer, taken back at once; the same screen is in front again."""
        self._judge(lease, self.dice.choice(lease.task.options))
        submissions.undo(annotator=self.annotator, key=uuid.uuid4())
        self.leases = [lease, *(other for other in self.leases if other.pk != lease.pk)]


def rounds(workers: Iterable[Worker]) -> Iterator[int]:
    """All of them in turn, a screen each, until nobody has anything; yields the number of judgments so far."""
    workers, judged = list(workers), 0
    while active := [worker for worker in workers if worker.step()]:
        while active:
            judged += len(active)
            yield judged
            active = [worker for worker in active if worker.step()]


def finish(workers: Iterable[Worker]) -> int:
    """How many judgments they gave until nobody had anything more."""
    return max(rounds(workers), default=0)


def benchmark_of_pairs(items: int) -> Benchmark:
    """Items with a positive and a negative image: rows without files."""
    made = crowds.benchmark(items, candidates=0)
    image = studies.image()
    ItemImage.objects.bulk_create(
        ItemImage(item=item, image=image, role="negative", source_name=f"{item.key}/negative.jpg")
        for item in made.items.all()
    )
    return made


def right_at(share: float) -> Answer:
    """Right answers to this share of the questions of a human baseline, at random."""

    def answer(dice: random.Random, task: Task, protocol: str) -> str:
        right = PROTOCOLS[protocol].right_answer(task.question, task.options)
        return right if dice.random() < share else next(one for one in task.options if one != right)

    return answer


def held(annotator: Annotator, stage: Stage, wanted: int = 50) -> list[Lease]:
    """Every screen that the annotator can have in the stage at once."""
    if stage.strategy not in POOLED or not fetch(SITS, annotator=annotator.pk, stage=stage.pk):
        seats.sit(annotator=annotator, stage=stage)
        studies.read(annotator, stage)
    return leases.hold(annotator=annotator, stage=stage, wanted=wanted)
