"""A declared protocol's right and wrong answers, as defined by its file or the item: their share, and groups that must
be right as a whole.

Pure. docs/reference/measures.md defines the statistics.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from annotation.measures.counts import TaskRow
from annotation.measures.judgments import TaskKey
from annotation.measures.over_annotators import ITEMS, interval
from annotation.measures.scored import NONE, SHARE, Range, Said, Scored, broken_down, scored, summary, with_intervals
from annotation.measures.types import Figures
from annotation.protocols import answers, option_sets, schema, values
from annotation.protocols.base import CANNOT_JUDGE, ITEM, NO_ATTRIBUTES, Attributes
from annotation.protocols.compile import is_plain
from annotation.protocols.measuring import is_set
from annotation.protocols.numbers import span_of
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.own.mapping import as_text
from benchmarks.metrics.base import wilson


class Rights:
    """Each task's right answer, by construction or by its item; `attributes` are by the item's position."""

    def __init__(self, file: ProtocolFile, attributes: Mapping[int, Attributes]):
        self._file, self._attributes = file, attributes

    def __call__(self, address: str, task: TaskKey) -> str:
        position, question, _ = task
        return answers.right_answer(self._file, address, question, self._attributes.get(position, NO_ATTRIBUTES))


def right_share(file: ProtocolFile, address: str, said: Sequence[Said], right_of: Rights) -> Figures:
    """Return the share of right answers, and `chance`, the expected share when picking at random."""
    chances = [
        chance_of(file, address, right, one.row.places, one.value) for one, right in _judged(address, said, right_of)
    ]
    found = broken_down(right_rows(file, address, said, right_of), lambda of: summary(of, SHARE))
    return {**found, "chance": math.fsum(chances) / len(chances) if chances else None}


def right_rows(file: ProtocolFile, address: str, said: Sequence[Said], right_of: Rights) -> list[Scored]:
    """Return 1 for each judgment with the right answer, 0 for the other judgments of tasks that have one."""
    return [scored(one, float(_is(file, address, one.value, right))) for one, right in _judged(address, said, right_of)]


def _judged(address: str, said: Sequence[Said], right_of: Rights) -> Iterator[tuple[Said, str]]:
    """Yield the judgments of tasks that have a right answer, with that answer."""
    for one in said:
        if one.value != CANNOT_JUDGE and (right := right_of(address, one.row.task)):
            yield one, right


_Options = tuple[frozenset[str], frozenset[str], list[str]]  # chosen, right, and all on the screen


def _sets(file: ProtocolFile, name: str, said: str, right: str) -> _Options | None:
    """Return None if the answer does not show how many options there were."""
    answer = file.answer(name)
    there = option_sets.all_options(file, answer, said)
    if there is None:
        return None
    wanted = right.split(",")
    return option_sets.chosen(said), frozenset(one for one in there if values.in_table(one, wanted) in wanted), there


def set_scores(file: ProtocolFile, name: str, said: Sequence[Said], right_of: Rights) -> Figures:
    """Score a pick of several options: `jaccard`, the mean over judgments of the overlap of the options chosen and the
    right ones, and `kappa`, Cohen's for chosen and right over the `n` options of all judgments.
    """
    rows, cells = [], Counter[tuple[bool, bool]]()
    for one in said:
        right = right_of(name, one.row.task)
        found = _sets(file, name, one.value, right) if right and one.value != CANNOT_JUDGE else None
        if found:
            chosen, wanted, there = found
            rows.append(scored(one, option_sets.jaccard(chosen, wanted)))
            cells.update((option in chosen, option in wanted) for option in there)
    return {"jaccard": broken_down(rows, lambda of: summary(of, Range(0.0, 1.0))), "kappa": _kappa(cells)}


def _kappa(cells: Mapping[tuple[bool, bool], int]) -> Figures:
    """Return Cohen's kappa (1960) of two binary classifications; None if agreement by chance is certain."""
    n, both = sum(cells.values()), cells.get((True, True), 0)
    chosen, wanted = both + cells.get((True, False), 0), both + cells.get((False, True), 0)
    same, chance = n * (both + cells.get((False, False), 0)), chosen * wanted + (n - chosen) * (n - wanted)
    return {"value": (same - chance) / (n * n - chance) if n * n > chance else None, "n": n}


def _is(file: ProtocolFile, name: str, value: str, right: str) -> bool:
    if "." not in name and is_set(file.answer(name)):
        found = None if value == CANNOT_JUDGE else _sets(file, name, value, right)
        return found is not None and found[0] == found[1]
    return values.in_table(value, [right]) == right


def chance_of(file: ProtocolFile, name: str, right: str, places: int, said: str) -> float:
    """Return the probability that a random answer is right; `places` is the number of options on the screen, which for
    a set of options follows from the answer given (`said`).
    """
    answer = file.answer(name.partition(".")[0])
    fixed = len(values.fixed_of(answer))
    match answer:
        case schema.Pick() if answer.many:
            found = None if said == CANNOT_JUDGE else _sets(file, name, said, right)
            fits = found is not None and option_sets.is_allowed(answer, found[1])
            return 1 / option_sets.how_many_sets(answer, found[2]) if found and fits else 0.0
        case schema.Number():
            return 1 / (span_of(answer).size + fixed)
        case schema.Scale():
            return 1 / (len(values.points(answer)) + fixed)
        case schema.Check():
            return 1 / (3 if answer.unsure else 2)
        case schema.Pick() | schema.Pair():
            roles = {
                role.partition(".")[2]: values.member_count(file, role) for role in values.options_of(file, answer)
            }
            options = places if is_plain(file) else sum(roles.values())
            others = sum(count for role, count in roles.items() if role != right)
            return (max(1, options - others) if right in roles else 1) / max(1, options + fixed)
    return 0.0


def group(
    file: ProtocolFile,
    name: str,
    said: Mapping[str, Sequence[Said]],
    tasks: Sequence[TaskRow],
    right_of: Rights,
    attributes: Mapping[int, Attributes],
) -> Figures:
    """Score groups of tasks that count only if all are right: an item's tasks with the same parts in the names listed,
    or all items' tasks with the same values.

    In a comparison the group is an item: the tasks whose right answer is `compare` must have got it from a larger share
    of annotators than all others with the same part. It has no chance level, because shares can tie.
    """
    is_right, chance_that = _rule(file, file.group[name], said, right_of)
    groups: dict[tuple[object, ...], list[TaskRow]] = defaultdict(list)
    for task in tasks:
        if (shared := shared_by(file, name, task.task, attributes)) is not None:
            groups[shared].append(task)
    judged_by: dict[TaskKey, list[int]] = defaultdict(list)
    for row in {(one.row.task, one.row.annotator) for address in file.right for one in said[address]}:
        judged_by[row[0]].append(row[1])
    rows, chances, waiting = [], [], 0
    for of_group in sorted(groups.values(), key=lambda tasks: tasks[0].task):
        if any(task.state is None for task in of_group):
            waiting += 1
            continue
        kinds = {(task.type, task.subtype) for task in of_group}
        kind, subtype = kinds.pop() if len(kinds) == 1 else ("", "")
        # For several items, the group is the sampling unit; no two groups over the same columns share an item.
        people = [who for task in of_group for who in judged_by[task.task]]
        rows.append(Unit(of_group[0].task[0], kind, subtype, bool(is_right(of_group)), people))
        if chance_that:
            chances.append(chance_that(of_group))
    chance = math.fsum(chances) / len(chances) if chances else None
    return {"group": name, "waiting": waiting, **broken_down(rows, share_of_units), "chance": chance}


class Unit(NamedTuple):
    """A group; `item` is its first item, `judged_by` has the annotator of each judgment of its tasks."""

    item: int
    type: str
    subtype: str
    right: bool
    judged_by: Sequence[int]


def share_of_units(rows: Sequence[Unit]) -> Figures:
    """Return the share of right groups. A group depends on several annotators, so the intervals are those of the human
    baseline (`over_annotators.interval`), with fewer groups if groups of the same items are dependent.
    """
    n, right = len(rows), [row.right for row in rows]
    people = {who for row in rows for who in row.judged_by}
    counts = {"n_items": n, "n_judgments": n, "n_annotators": len(people)}
    if not n:
        return {**with_intervals(None, NONE, None), **counts}
    share = sum(right) / n
    totals: dict[int, float] = defaultdict(float)
    for row in rows:
        totals[row.item] += row.right - share
    squares, items = math.fsum(one**2 for one in totals.values()), len(totals)
    together = squares * items / (items - 1) * (n - 1) / n**2 / (share * (1 - share)) if items > 1 and squares else 1.0
    found = interval(right, [row.judged_by for row in rows])
    these, others = (wilson(share * of, of) for of in (n / max(1, together), found["effective"] / max(1, together)))
    return {**with_intervals(share, these, None if found["over"] == ITEMS else others), **counts}


def shared_by(
    file: ProtocolFile, name: str, task: TaskKey, attributes: Mapping[int, Attributes]
) -> tuple[object, ...] | None:
    """Return what the task has in common with the others of its group; None if it is in none."""
    of, (position, question, round_) = file.group[name], task
    if isinstance(of, schema.Over):
        said = attributes.get(position, NO_ATTRIBUTES).get(ITEM, {})
        if not all(column in said for column in of.over or ()):
            return None
        return (of.every and position // of.every, *(as_text(said[column]) for column in of.over or ()))
    part = "" if isinstance(of, schema.Comparison) else _places(file, of)(question)
    return None if part is None else (position, round_, part)


_OfGroup = Callable[[Sequence[TaskRow]], float]


def _rule(
    file: ProtocolFile, of: schema.Group, said: Mapping[str, Sequence[Said]], right_of: Rights
) -> tuple[_OfGroup, _OfGroup | None]:
    """Return functions for whether a group is right, and for how likely that is at random."""
    if isinstance(of, schema.Comparison):
        shares = _shares(file, of.compare, said, right_of)
        parts = [_places(file, [part]) for part in of.within]
        return lambda tasks: all(_is_above(shares, part, tasks) for part in parts), None
    verdicts = [_verdicts(file, address, said[address], right_of) for address in file.right]
    chances = [_chances(file, address, said[address], right_of) for address in file.right]

    def is_right(tasks: Sequence[TaskRow]) -> bool:
        judged = [found[task.task] for found in verdicts for task in tasks if task.task in found]
        return bool(judged) and all(judged)

    def chance_that(tasks: Sequence[TaskRow]) -> float:
        return math.prod(found.get(task.task, 1.0) for found in chances for task in tasks)

    return is_right, chance_that


_Shares = Mapping[TaskKey, tuple[float, bool]]  # share of judgments with the value, and whether it is the right one


def _shares(file: ProtocolFile, value: str, said: Mapping[str, Sequence[Said]], right_of: Rights) -> _Shares:
    given: dict[TaskKey, list[bool]] = defaultdict(list)
    is_right = {}
    for address in file.right:
        for one in said[address]:
            if one.value != CANNOT_JUDGE:
                given[one.row.task].append(_is(file, address, one.value, value))
                is_right[one.row.task] = right_of(address, one.row.task) == value
    return {task: (sum(hits) / len(hits), is_right[task]) for task, hits in given.items()}


def _is_above(shares: _Shares, part_of: Callable[[str], str | None], tasks: Sequence[TaskRow]) -> bool:
    """Return whether, among tasks with the same part, those whose right answer is the value have larger shares."""
    parts: dict[str | None, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for task in tasks:
        share, right = shares.get(task.task, (0.0, False))
        parts[part_of(task.task[1])][not right].append(share)
    return all(bool(rights) and min(rights) > max(others, default=-1.0) for rights, others in parts.values())


def _places(file: ProtocolFile, over: Sequence[str]) -> Callable[[str], str | None]:
    """Return a function from a task's question to what it shares with its group; None if it is in none."""
    match file.tasks:
        case schema.Rows():
            return lambda question: "" if not over or question in over else None
        case schema.Each(each=each):
            at = [list(each).index(one) for one in over]
            return lambda question: "/".join(question.split("/")[place] for place in at)
    return lambda question: ""


def _verdicts(file: ProtocolFile, address: str, said: Iterable[Said], right_of: Rights) -> dict[TaskKey, bool]:
    """Return, for each task with a right answer, whether that is the most frequent one, without a tie."""
    given: dict[TaskKey, Counter[str]] = defaultdict(Counter)
    for one in said:
        right = right_of(address, one.row.task)
        if right:
            given[one.row.task][right if _is(file, address, one.value, right) else one.value] += 1
    found = {}
    for task, counts in given.items():
        right = right_of(address, task)
        found[task] = all(counts[right] > n for value, n in counts.items() if value != right) and counts[right] > 0
    return found


def _chances(file: ProtocolFile, address: str, said: Iterable[Said], right_of: Rights) -> dict[TaskKey, float]:
    found = {}
    for one in said:
        right = right_of(address, one.row.task)
        if right and one.row.task not in found:
            found[one.row.task] = chance_of(file, address, right, one.row.places, one.value)
    return found
