"""What an adjudicator is shown: which tasks wait for a decision, and one of them with all that was said of it.

Nobody's name stands here. Options come in an order drawn for the task, so that it says nothing either; they are known
by their place in it, from 1.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation import adjudication, placing, review
from annotation.decisions import ADJUDICATOR
from annotation.models import Flag, Judgment, Kind, Outcome, Slot, Stage, Task
from annotation.protocols.base import CANNOT_JUDGE, Choice
from annotation.protocols.registry import PROTOCOLS
from annotation.review import Part
from annotation.rows import fetch
from benchmarks import events, queries
from benchmarks.models import Event, Item

AWAITING, FLAGGED, KIND, OPTION = "awaiting", "flagged", "kind", "option"
WHY = {
    AWAITING: "tied, and the rule leaves it to you",
    FLAGGED: "flagged",
    KIND: "differ in the kind of answer",
    OPTION: "differ in which option",
}

# Of the stage's live tasks those that wait for an adjudicator, and why; or those that one has decided, newest first.
QUEUE = """
WITH judged AS (
  SELECT slot.task_id, count(*) AS n, count(DISTINCT judgment.answer) AS answers,
         count(DISTINCT CASE WHEN %(alike)s AND judgment.answer <> ALL(%(fixed)s) THEN '' ELSE judgment.answer END)
           AS kinds
  FROM annotation_slot slot JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
  WHERE slot.stage_id = %(stage)s GROUP BY slot.task_id
), flagged AS (
  SELECT DISTINCT lease.task_id FROM annotation_flag flag JOIN annotation_lease lease ON lease.id = flag.lease_id
  JOIN annotation_task task ON task.id = lease.task_id
  WHERE task.stage_id = %(stage)s AND flag.settled_at IS NULL
), waiting AS (
  SELECT task.id, task.rank, outcome.by, outcome.decided_at,
         CASE WHEN judged.n >= task.overlap AND outcome.task_id IS NULL THEN 'awaiting'
              WHEN flagged.task_id IS NOT NULL THEN 'flagged'
              WHEN judged.n >= task.overlap AND judged.kinds > 1 THEN 'kind'
              WHEN judged.n >= task.overlap AND judged.answers > 1 THEN 'option' END AS why
  FROM annotation_task task LEFT JOIN judged ON judged.task_id = task.id
  LEFT JOIN flagged ON flagged.task_id = task.id LEFT JOIN annotation_outcome outcome ON outcome.task_id = task.id
  WHERE task.stage_id = %(stage)s AND task.kind = 'judge' AND task.live
)
SELECT id, why FROM waiting
WHERE CASE WHEN %(decided)s THEN by = %(adjudicator)s ELSE why IS NOT NULL AND by IS DISTINCT FROM %(adjudicator)s END
ORDER BY CASE WHEN %(decided)s THEN decided_at END DESC,
         array_position(ARRAY['awaiting', 'flagged', 'kind', 'option'], why), rank
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """Something that may be answered: `value` is what a form sends, an option's place or a fixed answer's identity."""

    value: str
    label: str
    count: int  # of the annotators whose judgments count
    part: Part | None = None
    keys: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A task as the adjudicator sees it; `seen` says what the decision rests on."""

    task: Task
    item: Item
    seen: str
    shown: Sequence[Part]
    options: Sequence[Answer]
    fixed: Sequence[Answer]
    reasons: Sequence[str]
    flags: Sequence[Flag]
    wanted: int  # judgments that are still to come
    outcome: Outcome | None
    came: str  # the outcome's answer as it is labelled here
    said_before: Sequence[Event]

    @property
    def adjudicated(self) -> bool:
        return self.outcome is not None and self.outcome.by == ADJUDICATOR

    @property
    def open_flags(self) -> int:
        return sum(flag.settled_at is None for flag in self.flags)


def queue(stage: Stage, decided: bool = False) -> list[tuple[int, str]]:
    """Tasks and why each is here, in the order in which they come. One query."""
    alike, fixed = PROTOCOLS[stage.protocol].alike, review.fixed_answers(stage)
    return fetch(QUEUE, stage=stage.pk, alike=alike, fixed=fixed, decided=decided, adjudicator=ADJUDICATOR)


def find(stage: Stage, pk: int) -> Task | None:
    """A task that can be adjudicated."""
    return Task.objects.filter(stage=stage, pk=pk, kind=Kind.JUDGE, live=True).first()


def case(task: Task, stage: Stage) -> Case:
    """A few queries, whatever was said of it."""
    item = queries.with_material(Item.objects.all()).get(pk=task.item_id)
    there, seen = review.parts(item), adjudication.seen(task)
    judgments = list(Judgment.objects.filter(counted_on__task=task).order_by("created_at", "pk"))
    counts = Counter(judgment.answer for judgment in judgments)
    options, fixed = _options(task, there, counts), _fixed(stage, counts)
    outcome = Outcome.objects.filter(task=task).select_related("adjudicator").first()
    labels = dict(zip(drawn(task), (one.label for one in options), strict=True))
    labels |= {one.value: one.label for one in fixed}
    return Case(
        task=task, item=item, seen=seen, options=options, fixed=fixed, outcome=outcome,
        shown=[there.get(identity) or Part(identity) for identity in task.shows],
        reasons=[judgment.reason for judgment in judgments if judgment.reason],
        flags=list(Flag.objects.filter(lease__task=task).order_by("settled_at", "created_at", "pk")),
        wanted=Slot.objects.filter(task=task, judgment=None).count(),
        came=labels.get(outcome.outcome, "") if outcome else "",
        said_before=_said_before(task),
    )  # fmt: skip


def drawn(task: Task) -> list[str]:
    """The task's options in the order in which an adjudicator sees them."""
    return sorted(task.options, key=lambda option: placing.draw("adjudicate", task.pk, option))


def answer_of(task: Task, value: str) -> str:
    """From what the form sends to the answer's identity; what is neither is left as it is."""
    order = drawn(task)
    if value.isascii() and value.isdecimal() and len(value) < 4 and 1 <= int(value) <= len(order):
        return order[int(value) - 1]
    return value if value not in order else ""


def _options(task: Task, there: Mapping[str, Part], counts: Mapping[str, int]) -> list[Answer]:
    found = []
    for place, identity in enumerate(drawn(task), 1):
        part = there.get(identity) or Part(identity)
        label = f"{'picture' if part.image else 'sentence'} {place}"
        found.append(Answer(str(place), label, counts.get(identity, 0), part, str(place)))
    return found


def _fixed(stage: Stage, counts: Mapping[str, int]) -> list[Answer]:
    choices = [*PROTOCOLS[stage.protocol].fixed, Choice(CANNOT_JUDGE, "Cannot judge", ("c",))]
    return [Answer(one.identity, one.label, counts.get(one.identity, 0), None, " ".join(one.keys)) for one in choices]


def _said_before(task: Task) -> list[Event]:
    verbs = (adjudication.DECIDED, adjudication.SENT_BACK, adjudication.WITHDREW)
    return list(Event.objects.filter(subject=events.named(task), verb__in=verbs).order_by("at", "pk"))


def tally(waiting: Sequence[tuple[int, str]]) -> list[tuple[str, int]]:
    """Why tasks are here, in words, and how many for each reason."""
    counts: dict[str, int] = defaultdict(int)
    for _, why in waiting:
        counts[why] += 1
    return [(words, counts[why]) for why, words in WHY.items() if counts[why]]
