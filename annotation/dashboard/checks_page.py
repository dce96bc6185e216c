"""Items from which a manager picks checks and practice: what each would ask, with its right answers if known."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from annotation.adjudication.answers_shown import Seen, as_asked
from annotation.checks import gold_items, setup
from annotation.checks.attention_checks import Result
from annotation.dashboard import item_list
from annotation.measures import pass_rules
from annotation.models import Kind, Stage, Task
from annotation.protocols.base import Protocol, UnsuitableItem
from annotation.protocols.registry import protocol_named
from annotation.templatetags.figures import whole_percent
from annotation.wording import counted
from benchmarks import queries
from benchmarks.models import Item
from benchmarks.tables import Column, Table, exact, number


@dataclass(slots=True)
class Row:
    """An item, and its `task` as a check or practice. `right` are identities of its right answers. Without `picks`, no
    answer can be picked; if it cannot be used either, `reason` explains why."""

    case: Seen
    task: Task | None = None
    right: Sequence[str] = ()
    fixed: Sequence[tuple[str, str]] = ()  # further answers: identity, words
    picks: bool = False
    known: bool = False  # it can be used, but only without picking an answer
    several: int = 0  # how many questions it asks, if more than one
    reason: str = ""
    result: Result | None = None

    @property
    def anchor(self) -> str:
        return f"item-{self.case.item.pk}" if self.task is None or not self.task.question else ""

    @property
    def answers(self) -> list[tuple[str, str]]:
        """Return all answers that could be right: identity, words."""
        return [*((side.part.identity, side.role) for side in self.case.sides), *self.fixed]

    @property
    def many(self) -> bool:
        """Return whether more than one answer can be right."""
        return self.picks and len(self.answers) > 2


def picked_rows(stage: Stage, results: Iterable[tuple[Task, Result | None]]) -> list[Row]:
    """Return a row for each of these tasks."""
    found = list(results)
    items = queries.with_material(Item.objects.select_related("benchmark"))
    there = items.in_bulk({task.item_id for task, _ in found})
    return [_of_task(stage, there[task.item_id], task, result) for task, result in found]


def _of_task(stage: Stage, item: Item, task: Task, result: Result | None = None) -> Row:
    protocol = protocol_named(stage.protocol)
    case = as_asked(protocol, item, task.shows, task.options, task.carried)
    return Row(case, task, task.gold, _fixed(protocol), result=result)


def _fixed(protocol: Protocol) -> list[tuple[str, str]]:
    return [(choice.identity, choice.label) for choice in protocol.fixed]


def rows_to_pick(stage: Stage, items: Sequence[Item]) -> list[Row]:
    """Return rows of items, read `with_material`, as the stage would ask them; checks and practice are marked."""
    tasks: dict[int, list[Task]] = defaultdict(list)
    for task in Task.objects.filter(stage=stage, item__in=items, corrected=None).order_by("-live", "pk"):
        tasks[task.item_id].append(task)
    carried = gold_items.carried_to(stage, items)
    return [_to_pick(stage, item, tasks[item.pk], carried[item.pk]) for item in items]


def _to_pick(stage: Stage, item: Item, tasks: Sequence[Task], carried: gold_items.Carried) -> Row:
    known = [task for task in tasks if task.kind != Kind.JUDGE]
    if len(known) == 1:
        return _of_task(stage, item, known[0])
    try:
        asks = gold_items.questions_of(stage, item, known or [task for task in tasks if task.live], carried)
    except UnsuitableItem as unsuitable:
        why = str(unsuitable)
        return Row(item_list.as_row(item), reason=f"{why[0].upper()}{why[1:]}.")
    right = [gold_items.answers_known(stage, item, ask) for ask, _ in asks]
    if len(asks) > 1:
        unknown = f"It asks {len(asks)} questions here, and their answers are not known."
        can, reason = not known and all(right), "" if known or all(right) else unknown
        return Row(item_list.as_row(item), next(iter(known), None), known=can, several=len(asks), reason=reason)
    [(ask, task)] = asks
    protocol = protocol_named(stage.protocol)
    case = as_asked(protocol, item, ask.shows, ask.options, task.carried if task else carried)
    return Row(case, None, right[0], _fixed(protocol), picks=True)


def picked(stage: Stage, kind: Kind) -> str:
    """Describe how many items are picked, and how many checks the screens need."""
    noun, share = ("check", stage.check_rate) if kind == Kind.CHECK else ("practice screen", None)
    found = f"{counted(stage.tasks.filter(kind=kind, live=True).count(), noun)} picked."
    if not share:
        return found if share is None else f"{found} None are shown while the share of checks is 0."
    screens = stage.batch_size or 100
    return f"{found} At {whole_percent(share)}, {screens:,} screens need {pass_rules.number_of_checks(screens, share)}."


def departure(stage: Stage, items: Collection[int] | None = None, done: bool = False) -> str:
    """Describe how many of these items leave the study (`done`: have left) and how many stay; or any pick."""
    gone, left = setup.departing(stage, items or ())
    if items is not None and not gone:
        return "No item leaves the study."
    verb = "left" if done else "leaves" if gone == 1 else "leave"
    these = "This item" if gone == 1 else f"These {gone:,} items" if gone else "Items that you pick"
    place = "study" if stage.study.stages.count() == 1 else "stage"
    more = " Other items take their places in the sample." if stage.sample else ""
    return f"{these} {verb} the {place}: {left:,} {'is' if left == 1 else 'are'} left.{more}"


def _shares(kind: str) -> Callable[[Mapping[str, Any]], str]:
    """Return the share correct in each attempt."""
    return lambda row: ", ".join(map(whole_percent, row[kind].shares)) if kind in row else ""


def _interval(row: Mapping[str, Any]) -> str:
    ends = row["checks"].interval if row["checks"] else ()
    return format_html_join(" – ", "{}", ((exact(end, whole_percent),) for end in ends))


def _signs(row: Mapping[str, Any]) -> SafeString:
    failed = {
        "failed checks": row["checks"] and row["checks"].failed,
        "failed questions": "comprehension" in row and row["comprehension"].passed is False,
        "failed practice": "practice" in row and row["practice"].passed is False,
    }
    signs = format_html_join(" ", '<span class="warn">{}</span>', ((sign,) for sign, has in failed.items() if has))
    return format_html('{} <span class="quiet">screened out</span>', signs) if row["out"] else signs


PEOPLE = [
    Column("annotator", "annotator.pseudonym"),
    number("checks", lambda row: row["checks"].n if row["checks"] else 0),
    number("correct", "checks.share", whole_percent),
    number("95%", html=_interval),
    Column("questions", html=_shares("comprehension")),
    Column("practice", html=_shares("practice")),
    Column("warning signs", html=_signs),
]


def people_table(stage: Stage) -> Table:
    rows = setup.screening_results(stage)
    none = "Nobody has answered a check, a question or a practice screen yet."
    return Table("people", PEOPLE, rows, label="people-title", empty=none)
