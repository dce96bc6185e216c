"""Every number of the agreement page, which stands in no file: of a stage, by type, week, pair and annotator.

pandas groups and `krippendorff` gives alpha of what was judged; resamples are counted one by one, by the formulas of
docs/reference/measures.md.
"""

import itertools
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from tests.independent import agreeing
from tests.independent.reading import lines

SEED, RESAMPLES = 20240601, 1000
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
    last = rows.groupby(["stage", "task"]).created_at.max()
    rows["week"] = [week(last[key]) for key in zip(rows.stage, rows.task, strict=True)]
    return dict(iter(rows.groupby("stage")))


def week(moment: pd.Timestamp) -> tuple[str, str]:
    day = moment.tz_convert("UTC").date() if moment.tzinfo else moment.date()
    year, number, weekday = day.isocalendar()
    return f"{year}-W{number:02d}", str(date.fromordinal(day.toordinal()) - timedelta(days=weekday - 1))


def figures(rows: pd.DataFrame, see=str) -> dict:
    """As the app's: the whole, and a list of rows for each breakdown. `see` makes the label of an answer."""
    rows = rows.assign(label=rows.answer.map(see))
    labels = sorted(set(rows.label))
    found = {"labels": labels, "whole": part(rows, labels)}
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
        "percent": over(pairable, percent), "fleiss": over(pairable, fleiss) if even(counts) else None,
        "alpha_nominal": over(pairable, alpha), "ac1": over(counts, ac1),
        "cohen_mean": cohen(several),
    }  # fmt: skip
    sizes = {"n_items": len(items), "n_annotators": rows.who.nunique(), "n_ratings": len(rows)}
    return sizes | {"measures": found}


def tally(given: list[tuple[int, str]], labels: list[str]) -> tuple[int, ...]:
    said = Counter(label for _, label in given)
    return tuple(said[label] for label in labels)


def even(counts: list[tuple]) -> bool:
    return len({sum(row) for row in counts}) == 1 and sum(counts[0]) > 1


def drawn(kinds: Counter) -> tuple[list, np.ndarray]:
    """The different items in order, and how often each of them comes up in each resample."""
    order = sorted(kinds)
    times = np.array([kinds[kind] for kind in order])
    return order, np.random.default_rng(SEED).multinomial(times.sum(), times / times.sum(), RESAMPLES)


def span(values: list[float]) -> tuple[float, float] | tuple[None, None]:
    values = [value for value in values if value is not None]
    return tuple(np.percentile(values, [2.5, 97.5])) if values else (None, None)


def over(counts: list[tuple], measure) -> tuple | None:
    """(value, low, high) of rows of label counts; None where there is no value."""
    value = measure(np.array(counts), exact=True) if counts else None
    if value is None:
        return None
    if len(counts) < 2:
        return value, None, None
    order, times = drawn(Counter(counts))
    patterns = np.array(order)
    return value, *span([measure(np.repeat(patterns, row, axis=0)) for row in times])


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


def ac1(counts: np.ndarray, exact: bool = False) -> float | None:
    sizes = counts.sum(axis=1)
    several = sizes > 1
    if not several.any() or (counts.sum(axis=0) > 0).sum() < 2:
        return None
    observed = np.mean((counts * (counts - 1)).sum(axis=1)[several] / (sizes * (sizes - 1))[several])
    shares = np.mean(counts / sizes[:, None], axis=0)
    chance = (shares * (1 - shares)).sum() / (counts.shape[1] - 1)
    return (observed - chance) / (1 - chance)


def cohen(given: list[list], only: int | None = None) -> tuple | None:
    """(mean of the pairs, low, high), of items with two judgments or more; of the pairs with `only`."""
    value = mean_kappa([(one, 1) for one in given], only)
    if value is None:
        return None
    order, times = drawn(Counter(tuple(one) for one in given))
    ends = span([mean_kappa(zip(order, row, strict=True), only) for row in times]) if len(given) > 1 else (None, None)
    if ends[0] is None:
        return value, None, None
    return value, max(-1, 2 * value - ends[1]), min(1, 2 * value - ends[0])


def mean_kappa(given, only: int | None) -> float | None:
    """`given` are (who said what of an item, how many times)."""
    of_pair: dict[tuple, Counter] = {}
    for one, times in given:
        for (first, said), (second, other) in itertools.combinations(one, 2) if times else ():
            if only in (None, first, second):
                of_pair.setdefault((first, second), Counter())[said, other] += int(times)
    kappas = [agreeing.kappa(said) for said in of_pair.values()]
    kappas = [value for value in kappas if value is not None]
    return float(np.mean(kappas)) if kappas else None


def against(rows: pd.DataFrame, who: int, labels: list[str]) -> dict:
    """Each pair of their judgment and another's on one item is a unit with two ratings; items are resampled."""
    theirs = rows[rows.task.isin(rows[rows.who == who].task)]
    several = [given for given in by_item(theirs).values() if len(given) > 1]
    units = [[tuple(sorted([dict(given)[who], label])) for other, label in given if other != who] for given in several]
    flat = [unit for of in units for unit in of]
    measures = {"percent": percent, "fleiss": fleiss, "alpha_nominal": alpha, "ac1": ac1}
    found = {name: unit_span(units, flat, measure, labels) for name, measure in measures.items()}
    people = {other for given in several for other, _ in given}
    sizes = {"n_items": len(several), "n_annotators": len(people), "n_ratings": len(several) + len(flat)}
    return sizes | {"measures": found | {"cohen_mean": cohen(several, who)}}


def unit_span(units: list[list], flat: list[tuple], measure, labels: list[str]) -> tuple | None:
    counts = {unit: tally([(0, unit[0]), (1, unit[1])], labels) for unit in flat}
    value = measure(np.array([counts[unit] for unit in flat]), exact=True) if flat else None
    if value is None or len(units) < 2:
        return None if value is None else (value, None, None)
    kinds = sorted(counts)
    order, times = drawn(Counter(tuple(of.count(kind) for kind in kinds) for of in units))
    held = times @ np.array(order)
    patterns = np.array([counts[kind] for kind in kinds])
    return value, *span([measure(np.repeat(patterns, row, axis=0)) for row in held])
