"""What the answers of a declared protocol come to: scores, right answers and groups of them, strengths and mean ranks.

Pure. docs/reference/measures.md defines the figures. Judgments are counted ones of live tasks; those that say “cannot
judge”, or have no value, have no part and are counted aside.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from annotation.measures.bradley_terry import Compared, NoStrengths, bradley_terry
from annotation.measures.counts import TaskRow
from annotation.measures.exact_tests import student_t_95
from annotation.measures.judgments import JudgmentRow, TaskKey
from annotation.measures.types import Figures
from annotation.protocols import answers, rankings, schema, values
from annotation.protocols.base import CANNOT_JUDGE
from annotation.protocols.compile import in_own_names, is_plain
from annotation.protocols.measuring import Attributes, parents_of, seen_through
from annotation.protocols.rankings import mean_ranks
from annotation.protocols.schema import ProtocolFile
from benchmarks.metrics.base import wilson

NO_ATTRIBUTE = "no item has this attribute"
_MEAN = "mean"
_ROUNDING = 1e-24  # what may be left of a variance that is 0, of a scale from 0 to 1


class Said(NamedTuple):
    """An answer to one question of a screen, in the file's words."""

    row: JudgmentRow
    value: str


class Scored(NamedTuple):
    """One judgment's contribution to a score."""

    item: int
    type: str
    subtype: str
    question: str
    value: float


def scores(
    file: ProtocolFile, rows: Sequence[JudgmentRow], tasks: Sequence[TaskRow], attributes: Mapping[int, Attributes]
) -> Figures:
    """JSON-able: `answers` with a score or a right answer, `groups` of tasks, `strengths` and `mean_ranks` over an
    attribute. `attributes` are by the item's position.
    """
    found: Figures = {"answers": [], "groups": [], "strengths": [], "mean_ranks": []}
    said = {one.name: _said(file, one.name, rows) for one in file.answers}
    addresses = [*said, *(one for one in file.measure if "." in one)]
    for address in addresses:
        measure = file.measure.get(address)
        if (measure and measure.score) or address in file.right:
            mine = said[address] if address in said else _said(file, address, rows)
            found["answers"].append(_answer(file, address, mine, attributes))
    for name, of in file.scores.items():
        found["answers"].append(_combination(file, name, of, rows, attributes))
    if file.group:
        found["groups"] = [_group(file, name, said, tasks) for name in file.group]
    for rule in file.decide:
        if isinstance(rule, schema.BradleyTerry):
            found["strengths"].append(_strengths(file, rule, said[rule.answer], attributes))
        elif isinstance(rule, schema.MeanRank) and rule.over:
            found["mean_ranks"].append(_mean_ranks(file, rule.answer, rule.over, said[rule.answer], attributes))
    return found


def _said(file: ProtocolFile, address: str, rows: Iterable[JudgmentRow]) -> list[Said]:
    """Of those who were asked."""
    found = []
    for row in rows:
        if row.answer == CANNOT_JUDGE:
            found.append(Said(row, CANNOT_JUDGE))
        elif value := _value(file, address, row.answer):
            found.append(Said(row, value))
    return found


def _value(file: ProtocolFile, address: str, label: str) -> str:
    """What a stored answer, not *cannot judge*, says to one question, in the file's words; "" if it was not asked."""
    return answers.given(in_own_names(file, label), address, file)


# Scores


def _answer(file: ProtocolFile, address: str, said: Sequence[Said], attributes: Mapping[int, Attributes]) -> Figures:
    measure, answer = file.measure.get(address), file.answer(address.partition(".")[0])
    found: Figures = {"answer": address, "ask": _asked(file, address), "cannot_judge": 0, "no_value": 0}
    found["cannot_judge"] = sum(one.value == CANNOT_JUDGE for one in said)
    if measure and measure.score:
        number = _number(file, address, measure.score)
        scored = [(one, number(one.value, _of(attributes, one))) for one in said if one.value != CANNOT_JUDGE]
        found["no_value"] = sum(value is None for _, value in scored)
        rows = [_scored(one, value) for one, value in scored if value is not None]
        ends = _ends(answer) if measure.score == _MEAN else (0.0, 1.0)
        share = measure.score != _MEAN
        found |= {"score": measure.score, "is_share": share, "from": ends[0], "to": ends[1]}
        found |= _broken_down(rows, ends, share)
        found["by"] = {name: _by_attribute(file, name, rows, attributes, ends, share) for name in file.item.attributes}
        found["by"] = {name: of for name, of in found["by"].items() if of}
    if address in file.right:
        found["right"] = _right(file, address, said)
    return found


def _combination(
    file: ProtocolFile,
    name: str,
    of: schema.Combined,
    rows: Sequence[JudgmentRow],
    attributes: Mapping[int, Attributes],
) -> Figures:
    """The geometric mean of several answers of each judgment that has a number for all of them."""
    names = of.geometric_mean
    by_answer = {
        one: {(one_of.row.task, one_of.row.annotator): one_of for one_of in _said(file, one, rows)} for one in names
    }
    numbers = {one: _number(file, one, _MEAN) for one in names}
    judged, unable, without = [], 0, 0
    for key, first in by_answer[names[0]].items():
        if first.value == CANNOT_JUDGE:
            unable += 1
            continue
        given = [
            numbers[one](by_answer[one][key].value, _of(attributes, first)) if key in by_answer[one] else None
            for one in names
        ]
        parts = [part for part in given if part is not None]
        if len(parts) < len(names) or min(parts) < 0:
            without += 1
        else:
            judged.append(_scored(first, math.prod(parts) ** (1 / len(parts))))
    low, high = zip(*(_ends(file.answer(one)) for one in names), strict=True)
    ends = tuple(max(0, math.prod(of_ends)) ** (1 / len(names)) for of_ends in (low, high))
    by = {one: _by_attribute(file, one, judged, attributes, ends, False) for one in file.item.attributes}
    return {
        "answer": name, "ask": f"The geometric mean of {' and '.join(names)}.", "cannot_judge": unable,
        "no_value": without, "score": _MEAN, "is_share": False, "from": ends[0], "to": ends[1],
        **_broken_down(judged, ends, False), "by": {one: of_one for one, of_one in by.items() if of_one},
    }  # fmt: skip


def _asked(file: ProtocolFile, address: str) -> str:
    name, _, statement = address.partition(".")
    answer = file.answer(name)
    return answer.statements[statement] if statement else answer.ask or file.ask


def _of(attributes: Mapping[int, Attributes], one: Said) -> Attributes:
    return attributes.get(one.row.task[0], {})


def _scored(one: Said, value: float) -> Scored:
    position, question, _ = one.row.task
    return Scored(position, one.row.type, one.row.subtype, question, value)


def _number(file: ProtocolFile, address: str, score: str) -> Callable[[str, Attributes], float | None]:
    """What a value counts in an item with these attributes: its number, or 1 where it has the value that is counted,
    itself or through a view.
    """
    answer = file.answer(address.partition(".")[0])
    if score == _MEAN:
        return lambda value, of_item: answers.number(answer, value, parents_of(answer, of_item))
    through = [view for view in file.measure[address].views.values() if score in view.values()]

    def counts(value: str, of_item: Attributes) -> float:
        named = values.in_table(value, [score]) == score
        return float(named or any(seen_through(view, value) == score for view in through))

    return counts


def task_scores(file: ProtocolFile, labels: Iterable[str], of_item: Attributes) -> dict[str, tuple[float, int]]:
    """Answer with a score → the mean of a task's counted judgments, by their labels, and their number."""
    found, given = {}, [label for label in labels if label != CANNOT_JUDGE]
    for address, measure in file.measure.items():
        if measure.score:
            number = _number(file, address, measure.score)
            said = [value for label in given if (value := _value(file, address, label))]
            numbers = [one for value in said if (one := number(value, of_item)) is not None]
            if numbers:
                found[address] = math.fsum(numbers) / len(numbers), len(numbers)
    return found


def _ends(answer: schema.Answer) -> tuple[float, float]:
    if isinstance(answer, schema.Scale):
        points = [float(one) for one in values.points(answer)]
        return points[0], points[-1]
    return 0.0, 1.0


def _broken_down(rows: Sequence[Scored], ends: tuple[float, float], share: bool) -> Figures:
    groups: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for row in rows:
        groups[row.type, row.subtype].append(row)
    by_type = [
        {"type": kind, "subtype": subtype, **summary(of, ends, share)} for (kind, subtype), of in sorted(groups.items())
    ]
    return {"whole": summary(rows, ends, share), "by_type": by_type}


def _by_attribute(
    file: ProtocolFile, name: str, rows: Sequence[Scored], attributes: Mapping[int, Attributes],
    ends: tuple[float, float], share: bool,
) -> list[Figures]:  # fmt: skip
    """A row for each value, of the tasks whose parts have that value and no other."""
    known: dict[tuple[int, str], str] = {}
    groups: dict[str, list[Scored]] = defaultdict(list)
    for row in rows:
        key = row.item, row.question
        if key not in known:
            known[key] = _attribute(file, attributes.get(row.item, {}), row.question, name)
        if known[key]:
            groups[known[key]].append(row)
    return [{"name": value, **summary(of, ends, share)} for value, of in sorted(groups.items())]


def _attribute(file: ProtocolFile, of_item: Attributes, question: str, name: str) -> str:
    """The value of the attribute that the task's parts share; "" if they have none, or several."""
    about = _parts_of_task(file, question)
    found = {
        str(said[name])
        for identity, said in of_item.items()
        if name in said and (about is None or values.option_name(file, identity) in about)
    }
    return found.pop() if len(found) == 1 else ""


def _parts_of_task(file: ProtocolFile, question: str) -> set[str] | None:
    """The names of the parts that the task goes through; None: all of the item."""
    match file.tasks:
        case schema.Each() | schema.Pairs():
            return set(question.split("/"))
        case schema.Rows(rows=rows) if question in rows:
            return {role.partition(".")[2] for role in rows[question].values()}
    return None


def summary(rows: Sequence[Scored], ends: tuple[float, float], share: bool) -> Figures:
    """The mean of the judgments with its 95 % interval. Items are the sampling units: the standard error is that of a
    ratio (Cochran 1977, §6.4). Of a share, Wilson's interval for as many answers as carry that much information. Where
    the items of a mean are all alike, there is no error to estimate: the interval reaches to where the mean would be if
    as many items as n alike ones leave possible were at either end of the scale (`_unseen`).
    """
    of_item: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        of_item[row.item].append(row.value)
    n, judged = len(of_item), len(rows)
    if not judged:
        return {"value": None, "low": None, "high": None, "n_items": 0, "n_judgments": 0}
    value = math.fsum(row.value for row in rows) / judged
    squares = math.fsum((math.fsum(given) - value * len(given)) ** 2 for given in of_item.values())
    variance = squares * n / (n - 1) / judged**2 if n > 1 else 0.0
    is_alike = variance <= _ROUNDING * (ends[1] - ends[0]) ** 2
    low: float | None
    high: float | None
    if share:
        effective = n if is_alike else min(judged, value * (1 - value) / variance)
        low, high = wilson(value * effective, effective)
    elif n < 2:
        low, high = None, None
    elif is_alike:
        low, high = value - _unseen(n) * (value - ends[0]), value + _unseen(n) * (ends[1] - value)
    else:
        away = student_t_95(n - 1) * math.sqrt(variance)
        low, high = max(ends[0], value - away), min(ends[1], value + away)
    return {"value": value, "low": low, "high": high, "n_items": n, "n_judgments": judged}


def _unseen(n: int) -> float:
    """The largest share of other items of which n items in a row show none with a probability of 2.5 %."""
    return 1 - math.pow(0.025, 1 / n)


# Right answers


def _right(file: ProtocolFile, address: str, said: Sequence[Said]) -> Figures:
    """The share of right answers, and `chance`: what picking among everything on the screen gets right on average."""
    rows, chances = [], []
    for one in said:
        right = answers.right_answer(file, address, one.row.task[1])
        if right and one.value != CANNOT_JUDGE:
            rows.append(_scored(one, float(_is(one.value, right))))
            chances.append(chance_of(file, address, right, one.row.places))
    found = _broken_down(rows, (0.0, 1.0), share=True)
    return {**found, "chance": math.fsum(chances) / len(chances) if chances else None}


def _is(value: str, right: str) -> bool:
    return values.in_table(value, [right]) == right


def chance_of(file: ProtocolFile, name: str, right: str, places: int) -> float:
    """The probability that a random answer is the right one; `places` is the number of options on the screen."""
    answer = file.answer(name.partition(".")[0])
    fixed = len(values.fixed_of(answer))
    match answer:
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


def _group(file: ProtocolFile, name: str, said: Mapping[str, Sequence[Said]], tasks: Sequence[TaskRow]) -> Figures:
    """Groups of tasks that count only if all are right: those of an item with the same parts in the names listed."""
    of = file.group[name]
    if isinstance(of, schema.Comparison):
        return _compared(file, name, of, said, tasks)
    places = _places(file, of)
    wanted: dict[tuple[Any, ...], list[TaskRow]] = defaultdict(list)
    for task in tasks:
        position, question, round_ = task.task
        if (key := places(question)) is not None:
            wanted[(position, round_, key)].append(task)
    verdicts = {address: _verdicts(file, address, said[address]) for address in file.right}
    chances = {address: _chances(file, address, said[address]) for address in file.right}
    groups, waiting, chance = [], 0, []
    for (position, _, _), of_group in sorted(wanted.items()):
        if any(task.state is None for task in of_group):
            waiting += 1
            continue
        judged = [found[task.task] for found in verdicts.values() for task in of_group if task.task in found]
        right = bool(judged) and all(judged)
        first = of_group[0]
        groups.append(Scored(position, first.type, first.subtype, "", float(right)))
        chance.append(math.prod(of.get(task.task, 1.0) for of in chances.values() for task in of_group))
    return {
        "group": name,
        "waiting": waiting,
        **_broken_down(groups, (0.0, 1.0), share=True),
        "chance": math.fsum(chance) / len(chance) if chance else None,
    }


def _compared(
    file: ProtocolFile, name: str, of: schema.Comparison, said: Mapping[str, Sequence[Said]], tasks: Sequence[TaskRow]
) -> Figures:
    """Items whose tasks with the right answer `compare` got it from a larger share of annotators than all others with
    the same part. There is no chance to tell: shares can tie.
    """
    shares = _shares(file, of.compare, said)
    items: dict[tuple[int, int], list[TaskRow]] = defaultdict(list)
    for task in tasks:
        items[task.task[0], task.task[2]].append(task)
    rows, waiting = [], 0
    for (position, _), of_item in sorted(items.items()):
        if any(task.state is None for task in of_item):
            waiting += 1
            continue
        right = all(_is_above(shares, _places(file, [part]), of_item) for part in of.within)
        rows.append(Scored(position, of_item[0].type, of_item[0].subtype, "", float(right)))
    return {"group": name, "waiting": waiting, **_broken_down(rows, (0.0, 1.0), share=True), "chance": None}


_Shares = Mapping[TaskKey, tuple[float, bool]]  # of judgments with the value, and whether it is the right one


def _shares(file: ProtocolFile, value: str, said: Mapping[str, Sequence[Said]]) -> _Shares:
    given: dict[TaskKey, list[bool]] = defaultdict(list)
    is_right = {}
    for address in file.right:
        for one in said[address]:
            if one.value != CANNOT_JUDGE:
                given[one.row.task].append(_is(one.value, value))
                is_right[one.row.task] = answers.right_answer(file, address, one.row.task[1]) == value
    return {task: (sum(hits) / len(hits), is_right[task]) for task, hits in given.items()}


def _is_above(shares: _Shares, part_of: Callable[[str], str | None], tasks: Sequence[TaskRow]) -> bool:
    """Whether among the tasks with the same part, those where the value is right have larger shares than the others."""
    parts: dict[str | None, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for task in tasks:
        share, right = shares.get(task.task, (0.0, False))
        parts[part_of(task.task[1])][not right].append(share)
    return all(bool(rights) and min(rights) > max(others, default=-1.0) for rights, others in parts.values())


def _places(file: ProtocolFile, over: Sequence[str]) -> Callable[[str], str | None]:
    """The question of a task → what it shares with the others of its group; None if it is in none."""
    match file.tasks:
        case schema.Rows():
            return lambda question: "" if not over or question in over else None
        case schema.Each(each=each):
            at = [list(each).index(one) for one in over]
            return lambda question: "/".join(question.split("/")[place] for place in at)
    return lambda question: ""


def _verdicts(file: ProtocolFile, address: str, said: Iterable[Said]) -> dict[TaskKey, bool]:
    """Task with a right answer → whether it is the one given most, more often than any other."""
    given: dict[TaskKey, Counter[str]] = defaultdict(Counter)
    for one in said:
        right = answers.right_answer(file, address, one.row.task[1])
        if right:
            given[one.row.task][right if _is(one.value, right) else one.value] += 1
    found = {}
    for task, counts in given.items():
        right = answers.right_answer(file, address, task[1])
        found[task] = all(counts[right] > n for value, n in counts.items() if value != right) and counts[right] > 0
    return found


def _chances(file: ProtocolFile, address: str, said: Iterable[Said]) -> dict[TaskKey, float]:
    found = {}
    for one in said:
        right = answers.right_answer(file, address, one.row.task[1])
        if right and one.row.task not in found:
            found[one.row.task] = chance_of(file, address, right, one.row.places)
    return found


# Over an attribute


def _strengths(
    file: ProtocolFile, rule: schema.BradleyTerry, said: Sequence[Said], attributes: Mapping[int, Attributes]
) -> Figures:
    """Bradley and Terry's strengths of the attribute's values (measures/bradley_terry.py). Tied and *both bad* count as
    ties; comparisons of equal or unknown values have no part.
    """
    compared, counts = [], Counter({"ties": 0, "same": 0, "unknown": 0})
    for one in said:
        if one.value == CANNOT_JUDGE:
            continue
        of = _values_of(file, attributes.get(one.row.task[0], {}), rule.over)
        for first, second, score in _pairs(file, rule.answer, one):
            names = of.get(first), of.get(second)
            if None in names:
                counts["unknown"] += 1
            elif names[0] == names[1]:
                counts["same"] += 1
            else:
                compared.append(Compared(one.row.task[0], str(names[0]), str(names[1]), score))
                counts["ties"] += score == 0.5
    found = {"answer": rule.answer, "over": rule.over, "n": len(compared), **counts, "rows": [], "reason": ""}
    if not compared:
        return {**found, "reason": NO_ATTRIBUTE if counts["unknown"] or not said else "nothing was compared"}
    wins: dict[str, Counter[str]] = defaultdict(Counter)
    for one_pair in compared:
        for name, score in ((one_pair.first, one_pair.score), (one_pair.second, 1 - one_pair.score)):
            wins[name]["ties" if score == 0.5 else "won" if score == 1 else "lost"] += 1
    rates = {name: {key: of_name[key] for key in ("won", "ties", "lost")} for name, of_name in sorted(wins.items())}
    try:
        strengths = bradley_terry(compared)
    except NoStrengths as problem:
        rows = [{"name": name, "value": None, "low": None, "high": None, "n": sum(of.values()), **of}
                for name, of in rates.items()]  # fmt: skip
        return {**found, "rows": rows, "reason": str(problem)}
    found["rows"] = [
        {"name": one.name, "value": one.value, "low": one.low, "high": one.high, "n": one.n, **rates[one.name]}
        for one in strengths
    ]
    without: dict[str, list[str]] = defaultdict(list)
    for strength in strengths:
        if strength.reason:
            without[strength.reason].append(strength.name)
    return {**found, "reason": "; ".join(f"no interval for {', '.join(of)}: {why}" for why, of in without.items())}


def _pairs(file: ProtocolFile, name: str, one: Said) -> Iterator[tuple[str, str, float]]:
    """(first option, second, score of the first) of a comparison, or of every two options of a ranking."""
    answer = file.answer(name)
    if isinstance(answer, schema.Rank):
        tiers = rankings.tiers(one.value)
        placed = [(option, place) for place, tier in enumerate(tiers) for option in tier]
        for at, (first, rank) in enumerate(placed):
            for second, other in placed[at + 1 :]:
                yield first, second, 0.5 if rank == other else 1.0
        return
    if answer.of == "pair":
        first, second = one.row.task[1].split("/")
    else:
        first, second = [name for role in answer.of for name in values.member_names(file, role)]
    yield first, second, 0.5 if one.value in values.fixed_of(answer) else float(one.value == first)


def _values_of(file: ProtocolFile, of_item: Attributes, name: str) -> dict[str, str]:
    """Option → its value of the attribute."""
    return {values.option_name(file, identity): str(said[name]) for identity, said in of_item.items() if name in said}


def _mean_ranks(
    file: ProtocolFile, name: str, over: str, said: Sequence[Said], attributes: Mapping[int, Attributes]
) -> Figures:
    """The mean rank of each value of the attribute over all rankings, from 1; tied options share the mean rank."""
    groups, most = defaultdict(list), 1
    for one in said:
        if one.value == CANNOT_JUDGE:
            continue
        position, question, _ = one.row.task
        ranks = mean_ranks([one.value])
        most = max(most, len(ranks))
        for option, value in _values_of(file, attributes.get(position, {}), over).items():
            if option in ranks:
                groups[value].append(Scored(position, one.row.type, one.row.subtype, question, ranks[option]))
    ends = 1.0, float(most)
    rows = [{"name": value, **summary(of, ends, share=False)} for value, of in sorted(groups.items())]
    rows.sort(key=lambda row: row["value"])
    return {"answer": name, "over": over, "rows": rows, "reason": "" if rows or not said else NO_ATTRIBUTE}
