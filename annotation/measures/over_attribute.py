"""Strengths and mean ranks in a declared protocol's comparisons and rankings, by an attribute of the things compared.

Pure. docs/reference/measures.md defines the statistics.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from annotation.measures.bradley_terry import Compared, NoStrengths, bradley_terry
from annotation.measures.scored import NONE, Range, Said, Scored, summary, with_intervals
from annotation.measures.types import Figures
from annotation.protocols import rankings, schema, values
from annotation.protocols.base import CANNOT_JUDGE, Attributes
from annotation.protocols.rankings import mean_ranks
from annotation.protocols.schema import ProtocolFile

_NO_ATTRIBUTE = "no item has this attribute"


def strengths(
    file: ProtocolFile, rule: schema.BradleyTerry, said: Sequence[Said], attributes: Mapping[int, Attributes]
) -> Figures:
    """Estimate the Bradley–Terry strengths of the attribute's values (measures/bradley_terry.py). Tied and *both bad*
    count as ties; comparisons of equal or unknown values are left out.
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
                compared.append(Compared(one.row.task[0], str(names[0]), str(names[1]), score, one.row.annotator))
                counts["ties"] += score == 0.5
    found = {"answer": rule.answer, "over": rule.over, "n": len(compared), **counts, "rows": [], "differences": []}
    if not compared:
        return {**found, "reason": _NO_ATTRIBUTE if counts["unknown"] or not said else "nothing was compared"}
    rates = _rates(compared)
    try:
        estimated = bradley_terry(compared)
    except NoStrengths as problem:
        none = with_intervals(None, NONE, None)
        rows = [{"name": name, **none, "n": sum(of.values()), **of} for name, of in rates.items()]
        return {**found, "rows": rows, "reason": str(problem)}
    found["rows"] = [{"name": one.name, **one.measured, "n": one.n, **rates[one.name]} for one in estimated.rows]
    found["differences"] = estimated.differences
    without: dict[str, list[str]] = defaultdict(list)
    for strength in estimated.rows:
        if strength.reason:
            without[strength.reason].append(strength.name)
    return {**found, "reason": "; ".join(f"no interval for {', '.join(of)}: {why}" for why, of in without.items())}


def _rates(compared: Sequence[Compared]) -> dict[str, dict[str, int]]:
    """Count how often each thing won, tied and lost."""
    wins: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in compared:
        for name, score in ((pair.first, pair.score), (pair.second, 1 - pair.score)):
            wins[name]["ties" if score == 0.5 else "won" if score == 1 else "lost"] += 1
    return {name: {key: of_name[key] for key in ("won", "ties", "lost")} for name, of_name in sorted(wins.items())}


def _pairs(file: ProtocolFile, name: str, one: Said) -> Iterator[tuple[str, str, float]]:
    """Yield (first option, second, score of the first) for a comparison, or for every two options of a ranking."""
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
    """Map each option to its value of the attribute."""
    return {values.option_name(file, identity): str(said[name]) for identity, said in of_item.items() if name in said}


def ranks(
    file: ProtocolFile, name: str, over: str, said: Sequence[Said], attributes: Mapping[int, Attributes]
) -> Figures:
    """Return the mean rank, from 1, of each attribute value over all rankings; ties share the mean rank."""
    groups, most = defaultdict(list), 1
    for one in said:
        if one.value == CANNOT_JUDGE:
            continue
        position, question, _ = one.row.task
        placed = mean_ranks([one.value])
        most = max(most, len(placed))
        for option, value in _values_of(file, attributes.get(position, {}), over).items():
            if option in placed:
                groups[value].append(
                    Scored(position, one.row.type, one.row.subtype, question, placed[option], one.row.annotator)
                )
    ends = Range(1.0, float(most))
    rows = [{"name": value, **summary(of, ends)} for value, of in sorted(groups.items())]
    rows.sort(key=lambda row: row["value"])
    return {"answer": name, "over": over, "rows": rows, "reason": "" if rows or not said else _NO_ATTRIBUTE}
