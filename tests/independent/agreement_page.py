"""Every number of the agreement page, which stands in no file: of a stage, by type, week, pair and annotator.

pandas groups and `krippendorff` gives alpha of what was judged; for intervals each item is left out in turn, by the
formulas of docs/reference/measures.md.
"""

import itertools
import json
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from tests.independent import agreeing
from tests.independent.reading import lines

Items = dict  # item -> [(annotator, label), ...] in the annotators' order


def stages(folder: Path) -> dict[str, pd.DataFrame]:
    """What counts of each stage: rows with item, annotator (a number), answer, type, subtype and day."""
    rows = pq.read_table(folder / "judgments.parquet").to_pandas()
    rows = rows[rows.counted & rows.live & (rows.kind == "judge")].copy()
    rows["task"] = list(zip(rows.position, rows.question, rows["round"], strict=True))
    rows["who"] = rows.annotator.str[2:].astype(int)
    tasks = pd.DataFrame(lines(folder / "tasks.jsonl"))
    kinds = {(row.position, row.question, row.round): (row.type, row.subtype) for row in tasks.itertuples()}
    rows["type"], rows["subtype"] = zip(*[kinds[task] for task in rows.task], strict=True)
    manifest = json.loads((folder / "manifest.json").read_text())
    fixed = {stage["name"]: stage["fixed_answers"] for stage in manifest["stages"]}
    asked = tasks[(tasks.kind == "judge") & tasks.live]
    options = {stage: {one for of in some.options for one in of} for stage, some in asked.groupby("stage")}
    last = rows.groupby(["stage", "task"]).created_at.max()
    rows["week"] = [week(last[key]) for key in zip(rows.stage, rows.task, strict=True)]
    found = {}
    for stage, some in rows.groupby("stage"):
        found[stage] = some.copy()
        found[stage].attrs["offered"] = sorted(options[stage] | set(fixed[stage]))
    return found


def week(moment: pd.Timestamp) -> tuple[str, str]:
    day = moment.tz_convert("UTC").date() if moment.tzinfo else moment.date()
    year, number, weekday = day.isocalendar()
    return f"{year}-W{number:02d}", str(date.fromordinal(day.toordinal()) - timedelta(days=weekday - 1))


def figures(rows: pd.DataFrame, see=str) -> dict:
    """As the app's: the whole, and a list of rows for each breakdown. `see` makes the label of an answer. Only where an
    answer is a pick.
    """
    rows = rows.assign(label=rows.answer.map(see))
    given = sorted(set(rows.label))
    labels = sorted({*given, *map(see, rows.attrs["offered"])})
    found = {"labels": given, "whole": part(rows, labels)}
    for name, keys in (("type", ["type"]), ("subtype", ["type", "subtype"])):
        found[name] = [dict(zip(keys, of, strict=True)) | part(some, labels) for of, some in rows.groupby(keys)]
    found["week"] = [{"week": of[0], "from": of[1]} | part(some, labels) for of, some in rows.groupby("week")]
    people = sorted(set(rows.who))
    found["annotator"] = [{"annotator": pseudonym(who)} | against(rows, who, labels) for who in people]
    pairs = {pair: both(rows, *pair) for pair in itertools.combinations(people, 2)}
    pairs = {pair: some for pair, some in pairs.items() if len(some)}
    ordered = sorted(pairs, key=lambda pair: (-len(pairs[pair]), pair))
    found["pair"] = [{"first": pseudonym(a), "second": pseudonym(b)} | part(pairs[a, b], labels) for a, b in ordered]
    return found


def pseudonym(who: int) -> str:
    return f"A-{who:02d}"


def both(rows: pd.DataFrame, first: int, second: int) -> pd.DataFrame:
    """What two annotators said of the items that both judged."""
    some = rows[rows.who.isin([first, second])]
    return some[some.groupby("task").who.transform("size") == 2]


def by_item(rows: pd.DataFrame) -> Items:
    ordered = rows.sort_values(["task", "who"])
    return {task: list(zip(of.who, of.label, strict=True)) for task, of in ordered.groupby("task", sort=False)}


def part(rows: pd.DataFrame, labels: list[str]) -> dict:
    items = by_item(rows)
    several = [given for given in items.values() if len(given) > 1]
    counts = [tally(given, labels) for given in items.values()]
    pairable = [tally(given, labels) for given in several]
    found = {
        "percent": over(pairable, percent),
        "fleiss": over(pairable, fleiss) if even(counts) else None,
        "alpha_nominal": over(pairable, alpha),
        "ac1": over(counts, ac1),
        "bennett": over(pairable, bennett),
        "cohen_mean": agreeing.cohen(several),
    }
    sizes = {"n_items": len(items), "n_annotators": rows.who.nunique(), "n_ratings": len(rows)}
    return sizes | {"measures": found}


def tally(given: list[tuple[int, str]], labels: list[str]) -> tuple[int, ...]:
    said = Counter(label for _, label in given)
    return tuple(said[label] for label in labels)


def even(counts: list[tuple]) -> bool:
    return len({sum(row) for row in counts}) == 1 and sum(counts[0]) > 1


def over(counts: list[tuple], measure) -> tuple | None:
    """(value, low, high) of rows of label counts; None where there is no value."""
    value = measure(np.array(counts), exact=True) if counts else None
    if value is None:
        return None
    totals = np.append(np.sum(counts, axis=0), 0)
    first, second = sorted(range(len(totals)), key=lambda place: (-totals[place], place))[:2]
    size, more = max(map(sum, counts)), [0] * len(totals)
    more[first], more[second] = size - size // 2, size // 2
    if second == len(totals) - 1:  # the only label that there is, and another
        counts = [(*row, 0) for row in counts]
    else:
        more.pop()
    return value, *agreeing.interval(
        counts, lambda rows: measure(np.array(rows)), tuple(more), least_of(measure, len(counts[0]))
    )


def least_of(measure, labels: int) -> float:
    return {percent: 0.0, bennett: -1 / max(1, labels - 1)}.get(measure, -1.0)


def percent(counts: np.ndarray, exact: bool = False) -> float | None:
    same, pairs = (counts * (counts - 1)).sum(), (counts.sum(axis=1) * (counts.sum(axis=1) - 1)).sum()
    return same / pairs if pairs else None


def fleiss(counts: np.ndarray, exact: bool = False) -> float | None:
    judges = counts[0].sum()
    observed = np.mean((counts * (counts - 1)).sum(axis=1) / (judges * (judges - 1)))
    chance = ((counts.sum(axis=0) / counts.sum()) ** 2).sum()
    return None if np.isclose(chance, 1) else (observed - chance) / (1 - chance)


def alpha(counts: np.ndarray, exact: bool = False) -> float | None:
    counts = counts[counts.sum(axis=1) > 1]
    if (counts.sum(axis=0) > 0).sum() < 2:
        return None
    if exact:
        return krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
    sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
    apart = ((counts * (sizes[:, None] - counts)).sum(axis=1) / (sizes - 1)).sum()
    return 1 - (totals.sum() - 1) * apart / (totals.sum() ** 2 - (totals**2).sum())


def bennett(counts: np.ndarray, exact: bool = False) -> float | None:
    """(q P − 1) / (q − 1), with P the mean over items of the share of pairs that agree, and q labels."""
    shares = [
        np.mean([a == b for a, b in itertools.combinations(np.repeat(np.arange(len(row)), row), 2)]) for row in counts
    ]
    q = counts.shape[1]
    return None if q < 2 or not shares else (q * np.mean(shares) - 1) / (q - 1)


def ac1(counts: np.ndarray, exact: bool = False) -> float | None:
    sizes = counts.sum(axis=1)
    several = sizes > 1
    if not several.any() or (counts.sum(axis=0) > 0).sum() < 2:
        return None
    observed = np.mean((counts * (counts - 1)).sum(axis=1)[several] / (sizes * (sizes - 1))[several])
    shares = np.mean(counts / sizes[:, None], axis=0)
    chance = (shares * (1 - shares)).sum() / (counts.shape[1] - 1)
    return (observed - chance) / (1 - chance)


def against(rows: pd.DataFrame, who: int, labels: list[str]) -> dict:
    """Each pair of their judgment and another's on one item is a unit with two ratings; items are resampled."""
    theirs = rows[rows.task.isin(rows[rows.who == who].task)]
    several = [given for given in by_item(theirs).values() if len(given) > 1]
    units = [[tuple(sorted([dict(given)[who], label])) for other, label in given if other != who] for given in several]
    flat = [unit for of in units for unit in of]
    measures = {"percent": percent, "fleiss": fleiss, "alpha_nominal": alpha, "ac1": ac1, "bennett": bennett}
    found = {name: unit_span(units, flat, measure, labels) for name, measure in measures.items()}
    people = {other for given in several for other, _ in given}
    sizes = {"n_items": len(several), "n_annotators": len(people), "n_ratings": len(several) + len(flat)}
    return sizes | {"measures": found | {"cohen_mean": agreeing.cohen(several, who)}}


def unit_span(units: list[list], flat: list[tuple], measure, labels: list[str]) -> tuple | None:
    counts = {unit: tally([(0, unit[0]), (1, unit[1])], labels) for unit in flat}
    value = measure(np.array([counts[unit] for unit in flat]), exact=True) if flat else None
    if value is None or len(units) < 2:
        return None if value is None else (value, None, None)
    totals = np.sum([counts[unit] for unit in flat], axis=0)
    first, second = sorted(range(len(labels)), key=lambda place: (-totals[place], place))[:2]
    more = (tuple(sorted((labels[first], labels[second]))),)
    counts |= {more[0]: tally([(0, labels[first]), (1, labels[second])], labels)}

    def of(items: list[tuple]) -> float | None:
        rows = [counts[unit] for item in items for unit in item]
        return measure(np.array(rows)) if rows else None

    least = least_of(measure, len(labels))
    return value, *agreeing.interval([tuple(sorted(item)) for item in units], of, more, least)
