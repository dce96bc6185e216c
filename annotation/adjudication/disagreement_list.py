"""A stage's tasks with disagreement: filtered, sorted and paginated.

It uses the summary that each task keeps of its answers (pipeline/disagreement.py); only the filters of `ONLY` count
votes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import urlencode

from django.db.models import Max

from annotation.models import Stage, Task
from annotation.pipeline.disagreement import KIND, OPTION
from annotation.protocols.decision_rule import ADJUDICATOR
from annotation.sql import fetch
from benchmarks import queries
from benchmarks.models import Item
from benchmarks.naming import kind_name

SPLIT, NEWEST, ITEM = "split", "newest", "item"
OPEN, DECIDED, ALL = "open", "decided", "all"
SORTS = {SPLIT: "most disagreement first", NEWEST: "newest answer first", ITEM: "item order"}
DIFFER = {KIND: "about the kind of answer", OPTION: "only about the option"}
CASES = {OPEN: "not decided by hand", DECIDED: "decided by hand", ALL: "either"}
THREE, CLOSE = "three", "close"
MOST = 1_000  # in a longer list, a task's place is not counted
ONLY = {"": "All", THREE: "Three answers", CLOSE: "One vote from being dropped"}
# CLOSE: the answer that keeps the item has at most one vote more than all other answers combined.
OF_ONLY = {
    "": "",
    THREE: """AND 2 < (
  SELECT count(DISTINCT judgment.answer) FROM annotation_slot slot
  JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id WHERE slot.task_id = task.id)""",
    CLOSE: """AND EXISTS (
  SELECT FROM annotation_outcome outcome JOIN annotation_slot slot ON slot.task_id = task.id
  JOIN annotation_judgment judgment ON judgment.id = slot.judgment_id
  WHERE outcome.task_id = task.id AND outcome.state = 'kept' AND outcome.by <> %(adjudicator)s
  HAVING count(*) FILTER (WHERE judgment.answer = outcome.outcome)
         BETWEEN 1 AND (count(*) + 1) / 2)""",
}

# Each order has its own index (models.SPLIT), and a condition for what follows a task.
ORDERS = {SPLIT: "task.entropy DESC, task.newest DESC", NEWEST: "task.newest DESC", ITEM: "task.item_id, task.id"}
AFTER = {
    SPLIT: "(task.entropy, task.newest) < (%(entropy)s, %(newest)s)",
    NEWEST: "task.newest < %(newest)s",
    ITEM: "(task.item_id, task.id) > (%(item_id)s, %(id)s)",
}
BY_HAND = "EXISTS (SELECT FROM annotation_outcome WHERE task_id = task.id AND by = %(adjudicator)s)"
OF_CASE = {OPEN: f"AND NOT {BY_HAND}", DECIDED: f"AND {BY_HAND}", ALL: ""}
OF_TYPE = """AND EXISTS (
  SELECT FROM benchmarks_item item WHERE item.id = task.item_id
    AND (%(type)s = '' OR item.type = %(type)s) AND (%(subtype)s = '' OR item.subtype = %(subtype)s))"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The filters; empty means any."""

    sort: str = SPLIT
    type: str = ""
    subtype: str = ""
    differs: str = ""
    only: str = ""
    case: str = OPEN

    def link(self, **more: object) -> str:
        """Return the URL query with further parameters. It always has the order, which shows that it is from a list."""
        mine = {field.name: getattr(self, field.name) for field in fields(self)}
        named = {name: value for name, value in mine.items() if value != PLAIN[name] or name == "sort"}
        return urlencode({**{name: value for name, value in more.items() if value}, **named})


PLAIN: Mapping[str, object] = MappingProxyType({field.name: field.default for field in fields(Wanted)})


def wanted_from_query(query: Mapping[str, str]) -> Wanted:
    """Parse a URL query; unknown values are ignored."""
    return Wanted(
        sort=_known(query, "sort", SORTS, SPLIT),
        type=query.get("type", "")[:60],
        subtype=query.get("subtype", "")[:60],
        differs=_known(query, "differs", DIFFER),
        only=_known(query, "only", ONLY),
        case=_known(query, "case", CASES, OPEN),
    )


def _known(query: Mapping[str, str], name: str, choices: Mapping[str, str], otherwise: str = "") -> str:
    return query[name] if query.get(name) in choices else otherwise


def in_words(wanted: Wanted) -> str:
    """Describe the filters: "swap att, three answers, most disagreement first"."""
    found = [
        kind_name(wanted.type, wanted.subtype, ""),
        f"disagreeing {DIFFER[wanted.differs]}" if wanted.differs else "",
        ONLY[wanted.only].lower() if wanted.only else "",
        "" if wanted.case == ALL else CASES[wanted.case],
        SORTS[wanted.sort],
    ]
    return ", ".join(words for words in found if words)


def list_disagreements(stage: Stage, count: int, start: int = 0, wanted: Wanted = Wanted()) -> list[int]:
    """Return tasks in the chosen order. Makes one query."""
    return _tasks(stage, wanted, f"ORDER BY {ORDERS[wanted.sort]} OFFSET {start:d} LIMIT {count:d}")


def count_disagreements(stage: Stage, wanted: Wanted, most: int) -> int:
    """Return the number of tasks, or `most` + 1 if there are more. Makes one query."""
    return len(_tasks(stage, wanted, f"ORDER BY {ORDERS[wanted.sort]} LIMIT {most + 1:d}"))


@dataclass(frozen=True, slots=True)
class Listed:
    """The list, for going through one task at a time."""

    stage: Stage
    wanted: Wanted

    def first(self, asked: int) -> int:
        """Return the requested task, or the next if no longer listed; otherwise the first; 0 if there is none."""
        if asked and _tasks(self.stage, self.wanted, "AND task.id = %(id)s", id=asked):
            return asked
        return self.after(Task.objects.filter(stage=self.stage, pk=asked).first())

    def place_with(self, task: Task, decided: Sequence[int]) -> dict[str, int]:
        """Return the task's `number` from 1 and the `total`, after those just decided that have left the list; {} if it
        is not listed, or the list is long.
        """
        order = list_disagreements(self.stage, MOST, wanted=self.wanted)
        if len(order) == MOST or task.pk not in order:
            return {}
        # CLOSE uses the rule's outcome, which a decision has replaced.
        left = replace(self.wanted, case=DECIDED, only="" if self.wanted.only == CLOSE else self.wanted.only)
        mine = "AND task.id = ANY(%(decided)s)"
        done = len(_tasks(self.stage, left, mine, decided=[*decided])) if self.wanted.case == OPEN and decided else 0
        return {"number": done + order.index(task.pk) + 1, "total": done + len(order)}

    def after(self, task: Task | None) -> int:
        """Return the next task, or the first again; 0 if there is no other."""
        return next(iter(self.following(task, 1)), 0)

    def following(self, task: Task | None, count: int) -> list[int]:
        """Return the next `count` tasks, or the first ones again after the last. At most two queries."""
        order = f"ORDER BY {ORDERS[self.wanted.sort]} LIMIT {count:d}"
        if task is None:
            return _tasks(self.stage, self.wanted, order)
        mine = {"id": task.pk, "item_id": task.item_id, "entropy": task.entropy, "newest": task.newest}
        found = _tasks(self.stage, self.wanted, f"AND {AFTER[self.wanted.sort]} {order}", **mine)
        return found or _tasks(self.stage, self.wanted, f"AND task.id <> %(id)s {order}", id=task.pk)


def _tasks(stage: Stage, wanted: Wanted, rest: str, **values: object) -> list[int]:
    """Return the tasks of the list; `rest` is the SQL after its conditions."""
    conditions = [
        OF_TYPE if wanted.type or wanted.subtype else "",
        "AND task.differs = %(differs)s" if wanted.differs else "",
        OF_ONLY[wanted.only],
        OF_CASE[wanted.case],
    ]
    statement = f"""
SELECT task.id FROM annotation_task task WHERE task.stage_id = %(stage)s AND task.live AND task.entropy > 0
{" ".join(conditions)} {rest}
"""
    mine = {"type": wanted.type, "subtype": wanted.subtype, "differs": wanted.differs}
    found = fetch(statement, stage=stage.pk, adjudicator=ADJUDICATOR, **mine, **values)
    return [task for (task,) in found]


def types_of(stage: Stage) -> dict[str, list[str]]:
    """Return the types and subtypes for the filters."""
    benchmark = stage.study.benchmark_id
    kinds = _kinds_of(benchmark, Item.objects.filter(benchmark=benchmark).aggregate(last=Max("position"))["last"])
    names = zip(("types", "subtypes"), zip(*kinds, strict=True) if kinds else ((), ()), strict=True)
    return {name: sorted({*found} - {""}) for name, found in names}


@lru_cache
def _kinds_of(benchmark: int, last: int) -> list[tuple[str, str]]:
    """Return types with subtypes. An item's type never changes, so they are valid until `last` changes."""
    return [(row["type"], row["subtype"]) for row in queries.kinds(Item.objects.filter(benchmark=benchmark))]
