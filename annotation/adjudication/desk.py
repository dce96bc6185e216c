"""What stands beside a case on the desk: the queue around it, what its adjudicator decided last, and the cases of the
queue whose votes are alike.
"""

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

NEXT, LAST = 40, 2  # cases of the queue that are shown, and decided ones before them
SITTING = timedelta(hours=12)  # decisions of so long count into the place in the queue, and can be undone by one key


@dataclass(frozen=True, slots=True)
class Waiting:
    """The tasks that wait for an adjudicator, in order, each with the reason; with the interface of Listed."""

    queue: Sequence[tuple[int, str]]
    count: int  # of all that wait; the queue may have fewer

    @property
    def order(self) -> list[int]:
        return [task for task, _ in self.queue]

    def place(self, task: Task | None) -> int:
        """From 0; -1 if it is not listed."""
        return self.order.index(task.pk) if task and task.pk in self.order else -1

    def place_with(self, task: Task, decided: Sequence[int]) -> dict[str, int]:
        """The task's `number` from 1 and the `total`, after those just decided; {} if it is not listed."""
        done, place = len(decided), self.place(task)
        return {"number": done + place + 1, "total": done + self.count} if place >= 0 else {}

    def first(self, asked: int) -> int:
        """The requested task if it is listed, otherwise the first; 0 if there is none."""
        return asked if asked in self.order else next(iter(self.order), 0)

    def after(self, task: Task | None) -> int:
        """The following task, or the first again; 0 if there is no other."""
        return next(iter(self.following(task, 1)), 0)

    def following(self, task: Task | None, count: int) -> list[int]:
        """That many tasks that follow, and the first ones again after the last."""
        order, place = self.order, self.place(task)
        return [*order[place + 1 :], *order[: max(place, 0)]][:count]


@dataclass(frozen=True, slots=True)
class Row:
    """A case of the queue. `also` is what selects it to be decided together with the case in front; "" if its votes are
    others.
    """

    seen: Seen
    url: str
    here: bool
    why: str
    also: str


def beside(
    user: User, stage: Stage, task: Task | None, order: Listed | Waiting, link: Callable[..., str]
) -> dict[str, object]:
    """The queue's `rows`, the `number` of the case and the `total` if known, the cases `last` decided, and the one to
    `undo` with what is seen of it.
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
