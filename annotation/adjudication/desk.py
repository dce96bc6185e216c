"""What is around a case on the desk: its queue, the adjudicator's last decisions, and queued cases with equal votes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.adjudication import answers_shown, decisions
from annotation.adjudication.answers_shown import Seen
from annotation.adjudication.disagreement_list import Listed
from annotation.models import Outcome, Stage, Task
from annotation.protocols.decision_rule import ADJUDICATOR

NEXT, LAST = 40, 2  # queued cases shown, and decided cases before them
SITTING = timedelta(hours=12)  # decisions this recent count in the queue position, and one key undoes them


@dataclass(frozen=True, slots=True)
class Waiting:
    """The tasks waiting for an adjudicator, in order, each with its reason; same interface as Listed."""

    queue: Sequence[tuple[int, str]]
    count: int  # all waiting tasks; the queue may have fewer

    @property
    def order(self) -> list[int]:
        return [task for task, _ in self.queue]

    def place(self, task: Task | None) -> int:
        """Return the position, from 0; -1 if not listed."""
        return self.order.index(task.pk) if task and task.pk in self.order else -1

    def place_with(self, task: Task, decided: Sequence[int]) -> dict[str, int]:
        """Return the task's `number` from 1 and the `total`, after those just decided; {} if it is not listed."""
        done, place = len(decided), self.place(task)
        return {"number": done + place + 1, "total": done + self.count} if place >= 0 else {}

    def first(self, asked: int) -> int:
        """Return the requested task if it is listed, otherwise the first; 0 if there is none."""
        return asked if asked in self.order else next(iter(self.order), 0)

    def after(self, task: Task | None) -> int:
        """Return the next task, or the first again; 0 if there is no other task."""
        return next(iter(self.following(task, 1)), 0)

    def following(self, task: Task | None, count: int) -> list[int]:
        """Return the next `count` tasks, continuing with the first ones after the last."""
        order, place = self.order, self.place(task)
        return [*order[place + 1 :], *order[: max(place, 0)]][:count]


@dataclass(frozen=True, slots=True)
class Row:
    """A case in the queue. `also` is the form value that selects it to be decided together with the current case; "" if
    its votes differ.
    """

    seen: Seen
    url: str
    here: bool
    why: str
    also: str


def beside(
    user: User, stage: Stage, task: Task | None, order: Listed | Waiting, link: Callable[..., str]
) -> dict[str, object]:
    """Return the queue's `rows`, the `number` of the case and the `total` if known, the cases `last` decided, and the
    one to `undo` with its state as seen.
    """
    mine = Outcome.objects.filter(
        by=ADJUDICATOR, adjudicator=user, task__stage=stage, task__live=True, decided_at__gt=timezone.now() - SITTING
    ).order_by("-decided_at")
    decided = list(mine.values_list("task", flat=True))
    last = decided[:LAST]
    ahead = [*([task.pk] if task else []), *order.following(task, NEXT)]
    seen = {one.task: one for one in answers_shown.as_seen(stage, [*last, *ahead], agreed=True, drawn=True)}
    digests = decisions.seen_of(list(seen))
    why = dict(order.queue) if isinstance(order, Waiting) else {}
    front = seen.get(task.pk) if task else None

    def row(pk: int) -> Row:
        one = seen[pk]
        alike = front and pk != front.task and one.votes and one.votes == front.votes
        return Row(one, link(task=pk), one is front, why.get(pk, ""), f"{pk}:{digests[pk]}" if alike else "")

    rows = [row(pk) for pk in ahead if pk in seen]
    return {
        "rows": rows, "alike": sum(bool(one.also) for one in rows), "front": front,
        **(order.place_with(task, decided) if task else {}),
        "last": [row(pk) for pk in reversed(last) if pk not in ahead and pk in seen],
        "undo": {"task": last[0], "seen": digests[last[0]]} if last and last[0] in digests else None,
    }  # fmt: skip
