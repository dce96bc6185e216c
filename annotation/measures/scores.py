"""Results of a declared protocol's answers: scores, right answers and groups of them, strengths and mean ranks.

Pure. docs/reference/measures.md defines the statistics. Only counted judgments of live tasks are used; “cannot judge”
and answers without a value are left out and counted separately.
"""

import itertools
import math
from collections import ChainMap, Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from annotation.measures import over_attribute, right_answers
from annotation.measures.counts import TaskRow
from annotation.measures.judgments import JudgmentRow
from annotation.measures.scored import (
    SHARE,
    Range,
    Said,
    Scored,
    broken_down,
    differences,
    said_to,
    scored,
    summary,
    value_of,
)
from annotation.measures.types import Figures
from annotation.protocols import answers, option_sets, schema, values
from annotation.protocols.base import CANNOT_JUDGE, ITEM, RIGHT, Attributes
from annotation.protocols.in_words import combination_in_words
from annotation.protocols.measuring import is_set, parents_of, seen_as
from annotation.protocols.schema import ProtocolFile

_MEAN = "mean"


def scores(
    file: ProtocolFile, rows: Sequence[JudgmentRow], tasks: Sequence[TaskRow], attributes: Mapping[int, Attributes]
) -> Figures:
    """Return `answers` with a score or a right answer, for a scale with counts of its `points`; `groups` of tasks;
    `strengths` and `mean_ranks` over an attribute; JSON-able. `attributes` are by the item's position.
    """
    found: Figures = {"answers": [], "groups": [], "strengths": [], "mean_ranks": []}
    right_of = right_answers.Rights(file, attributes)
    said = {one.name: said_to(file, one.name, rows) for one in file.answers}
    addresses = [*said, *(one for one in file.measure if "." in one)]
    for address in addresses:
        measure = file.measure.get(address)
        if (measure and measure.score) or address in file.right:
            mine = said[address] if address in said else said_to(file, address, rows)
            found["answers"].append(_answer(file, address, mine, attributes, right_of))
    for name, of in file.scores.items():
        found["answers"].append(_combination(file, name, of, rows, attributes))
    if file.group:
        found["groups"] = [right_answers.group(file, name, said, tasks, right_of, attributes) for name in file.group]
    for rule in file.decide:
        if isinstance(rule, schema.BradleyTerry):
            found["strengths"].append(over_attribute.strengths(file, rule, said[rule.answer], attributes))
        elif isinstance(rule, schema.MeanRank) and rule.over:
            found["mean_ranks"].append(
                over_attribute.ranks(file, rule.answer, rule.over, said[rule.answer], attributes)
            )
    return found


def _answer(
    file: ProtocolFile,
    address: str,
    said: Sequence[Said],
    attributes: Mapping[int, Attributes],
    right_of: right_answers.Rights,
) -> Figures:
    measure = file.measure.get(address)
    unable = sum(one.value == CANNOT_JUDGE for one in said)
    found: Figures = {"answer": address, "ask": _asked(file, address), "cannot_judge": unable, "no_value": 0}
    if measure and measure.score:
        number = _number(file, address, measure.score)
        answer = file.answer(address.partition(".")[0])
        values_said = [(one, number(one.value, _of(attributes, one))) for one in said if one.value != CANNOT_JUDGE]
        ends = _ends(answer) if measure.score == _MEAN else SHARE
        found |= _scores(file, measure.score, values_said, ends, attributes)
        if measure.score == _MEAN and isinstance(answer, schema.Scale):
            times = Counter(value for _, value in values_said)
            found["points"] = [[float(one), times[float(one)]] for one in values.points(answer)]
    if address in file.right:
        found["right"] = right_answers.right_share(file, address, said, right_of)
        if "." not in address and is_set(file.answer(address)):
            found |= right_answers.set_scores(file, address, said, right_of)
    return found


def _combination(
    file: ProtocolFile,
    name: str,
    of: schema.Combined,
    rows: Sequence[JudgmentRow],
    attributes: Mapping[int, Attributes],
) -> Figures:
    """Return the combined score of each judgment that has a number for all of its answers."""
    names = list(of.weights)
    by_answer = {one: {(said.row.task, said.row.annotator): said for said in said_to(file, one, rows)} for one in names}
    numbers = {one: _number(file, one, _MEAN) for one in names}
    judged: list[tuple[Said, float | None]] = []
    unable = 0
    for key, first in ChainMap(*by_answer.values()).items():  # a judgment with any of these answers
        if first.value == CANNOT_JUDGE:
            unable += 1
            continue
        given = [by_answer[one].get(key) for one in names]
        parts = [
            None if said is None else numbers[one](said.value, _of(attributes, first))
            for one, said in zip(names, given, strict=True)
        ]
        known = [part for part in parts if part is not None]
        judged.append((first, combined(of, known) if len(known) == len(parts) else None))
    return {
        "answer": name,
        "ask": f"{combination_in_words(of)}.",
        "cannot_judge": unable,
        **_scores(file, _MEAN, judged, _ends_of(of, [_ends(file.answer(one)) for one in names]), attributes),
    }


def combined(of: schema.Combined, parts: Sequence[float]) -> float | None:
    """Return the score of numbers in the order of its answers; None if one in a geometric mean is below 0."""
    weights = of.weights.values()
    terms = [weight * part for weight, part in zip(weights, parts, strict=True)]
    match of.rule:
        case "mean":
            return math.fsum(terms) / math.fsum(weights)
        case "sum":
            return math.fsum(terms)
        case "min":
            return min(terms)
        case "product":
            return math.prod(terms)
    return math.prod(terms) ** (1 / len(terms)) if min(terms) >= 0 else None


def _ends_of(of: schema.Combined, every: Sequence[Range]) -> Range:
    """Combine the ranges; each rule is monotone in each number, so its extremes lie at the ranges' ends."""
    ends = [(one.least, one.most) for one in every]
    if of.rule == "geometric_mean":
        ends = [(max(0, low), max(0, high)) for low, high in ends]
    found = [one for parts in itertools.product(*ends) if (one := combined(of, parts)) is not None]
    return Range(min(found), max(found))


def _scores(
    file: ProtocolFile,
    score: str,
    judged: Sequence[tuple[Said, float | None]],
    ends: Range,
    attributes: Mapping[int, Attributes],
) -> Figures:
    """Return the means of the judgments that have a number: overall, by type, and by each attribute of the items, with
    the `differences` between its values.
    """
    rows = [scored(one, value) for one, value in judged if value is not None]
    by = {name: of for name in file.item.attributes if (of := _by_attribute(file, name, rows, attributes))}
    return {
        "no_value": len(judged) - len(rows),
        "score": score,
        "is_share": ends.share,
        "from": ends.least,
        "to": ends.most,
        **broken_down(rows, lambda of: summary(of, ends)),
        "by": {name: [{"name": value, **summary(own, ends)} for value, own in of.items()] for name, of in by.items()},
        "differences": {name: apart for name, of in by.items() if (apart := differences(of, ends))},
    }


def _asked(file: ProtocolFile, address: str) -> str:
    name, _, statement = address.partition(".")
    answer = file.answer(name)
    return answer.statements[statement] if statement else answer.ask or file.ask


def _number(file: ProtocolFile, address: str, score: str) -> Callable[[str, Attributes], float | None]:
    """Return a function that scores a value in an item with these attributes: its number, or 1 if it is the value that
    is counted, itself or through a view.
    """
    answer = file.answer(address.partition(".")[0])
    if score == _MEAN:
        return lambda value, of_item: answers.number(answer, value, parents_of(answer, of_item))
    through = [view for view in file.measure[address].views.values() if score in view.values()]

    def counts(value: str, of_item: Attributes) -> float:
        given = option_sets.chosen(value) if "." not in address and is_set(answer) else [value]
        named = any(values.in_table(one, [score]) == score for one in given)
        return float(named or any(seen_as(answer, view, value) == score for view in through))

    return counts


def task_scores(file: ProtocolFile, labels: Iterable[str], of_item: Attributes) -> dict[str, tuple[float, int]]:
    """Map each answer with a score to the mean of a task's counted judgments, given their labels, and their number."""
    found, given = {}, [label for label in labels if label != CANNOT_JUDGE]
    for address, measure in file.measure.items():
        if measure.score:
            number = _number(file, address, measure.score)
            said = [value for label in given if (value := value_of(file, address, label))]
            numbers = [one for value in said if (one := number(value, of_item)) is not None]
            if numbers:
                found[address] = math.fsum(numbers) / len(numbers), len(numbers)
    return found


def _ends(answer: schema.Answer) -> Range:
    if isinstance(answer, schema.Number):
        return Range(answer.least, answer.most)
    if isinstance(answer, schema.Scale):
        points = [float(one) for one in values.points(answer)]
        return Range(points[0], points[-1])
    return Range(0.0, 1.0)


def _of(attributes: Mapping[int, Attributes], one: Said) -> Attributes:
    return attributes.get(one.row.task[0], {})


def _by_attribute(
    file: ProtocolFile, name: str, rows: Sequence[Scored], attributes: Mapping[int, Attributes]
) -> dict[str, list[Scored]]:
    """Group by value the judgments of tasks whose parts all have the same value."""
    known: dict[tuple[int, str], str] = {}
    groups: dict[str, list[Scored]] = defaultdict(list)
    for row in rows:
        key = row.item, row.question
        if key not in known:
            known[key] = _attribute(file, attributes.get(row.item, {}), row.question, name)
        if known[key]:
            groups[known[key]].append(row)
    return dict(sorted(groups.items()))


def _attribute(file: ProtocolFile, of_item: Attributes, question: str, name: str) -> str:
    """Return the attribute value that the task's parts share; "" if they have none or several."""
    about = _parts_of_task(file, question)
    found = {
        str(said[name])
        for identity, said in of_item.items()
        if name in said and identity not in (ITEM, RIGHT)
        if about is None or values.option_name(file, identity) in about
    }
    if not found and name in of_item.get(ITEM, {}):
        return str(of_item[ITEM][name])
    return found.pop() if len(found) == 1 else ""


def _parts_of_task(file: ProtocolFile, question: str) -> set[str] | None:
    """Return the names of the parts that the task goes through; None means the whole item."""
    match file.tasks:
        case schema.Each() | schema.Pairs():
            return set(question.split("/"))
        case schema.Rows(rows=rows) if question in rows:
            return {role.partition(".")[2] for role in rows[question].values()}
    return None
