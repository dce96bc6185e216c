"""The evidence for each warning sign: a sentence with what was measured, and how many screens are behind it.

The counts match the statistics, and the screens that the annotator's page shows (figures/annotator_screens.py).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from annotation.figures import annotators
from annotation.measures import few_annotators, warning_signs
from annotation.wording import readable_label

OUTLIERS = {few_annotators.AGREEMENT: "low agreement", few_annotators.FAST: "very fast"}
BY_CHANCE = f"Chance alone would hardly do this (p\u00a0<\u00a0{warning_signs.TEST_LEVEL})."
Said = tuple[str, int | None]  # a sentence, and the number of screens behind it, None if there are none to show


@dataclass(frozen=True, slots=True)
class Evidence:
    """`show` is the kind of screens behind it, and `count` their number; None if there are none to show."""

    number: int  # the annotator's
    kind: str
    label: str
    sentence: str
    count: int | None = None
    stage: Mapping | None = None  # its statistics
    tested: bool = True
    size: float = 0.0

    @property
    def position(self) -> int | None:
        return self.stage["position"] if self.stage else None


def evidence(data: Mapping) -> dict[int, list[Evidence]]:
    """Return, by annotator, the signs in all stages' statistics, then how they stand out among few."""
    found = {row["number"]: [_of_sign(data, row["number"], sign) for sign in row["signs"]] for row in data["whole"]}
    signed = {(one.number, one.kind) for of_one in found.values() for one in of_one}
    for one in outliers(data):
        if (one.number, one.kind) not in signed:
            found[one.number].append(one)
    return found


def _of_sign(data: Mapping, number: int, sign: Mapping) -> Evidence:
    kind, label = sign["kind"], warning_signs.KINDS[sign["kind"]]
    stage = stage_of(data, sign["stage"])
    row = stage and row_of(stage["rows"], number)
    if stage is None or row is None or kind not in SENTENCES:
        return Evidence(number, kind, label, f"{sign['words'][:1].upper()}{sign['words'][1:]}.", stage=stage)
    sentence, count = SENTENCES[kind](data, stage, row)
    return Evidence(number, kind, label, sentence, count, stage)


def outliers(data: Mapping) -> list[Evidence]:
    """Return who differs greatly from the others in a stage with few annotators (measures/few_annotators.py): lowest
    agreement first, then the fastest.
    """
    found = []
    for stage, row, view, one in annotators.outlying(data):
        told = _agreement(stage, row, view) if one["kind"] == few_annotators.AGREEMENT else _fast(data, stage, row)
        found.append(Evidence(row["number"], one["kind"], OUTLIERS[one["kind"]], *told, stage, False, one["size"]))
    return sorted(found, key=lambda one: (list(OUTLIERS).index(one.kind), -one.size, one.number))


def compared(stage: Mapping, row: Mapping, view: str) -> str:
    """Compare an annotator with the others in words, with the same counts as tile, test and filter."""
    mine, test = row["majority"][view], row["agreement"]
    gave = "Was close to the others on" if stage.get("level") else "Gave the common answer on"
    rest = test["others_share"] if test["p"] is not None else _share_of_others(stage, row, view)
    others = f"; the others on {rest:.0%}" if rest is not None else ""
    share = f" ({mine['same'] / mine['n']:.0%})" if mine["n"] else ""
    of_view = f" ({view})" if len(stage["views"]) > 1 else ""
    return f"{gave} {mine['same']:,} of {mine['n']:,} screens compared{share}{others}{of_view}."


def _share_of_others(stage: Mapping, row: Mapping, view: str) -> float | None:
    found = [one["majority"][view] for one in stage["rows"] if one["number"] != row["number"]]
    shares = [one["same"] / one["n"] for one in found if one["n"] >= few_annotators.FROM]
    return median(shares) if shares else None


def _agreement(stage: Mapping, row: Mapping, view: str) -> Said:
    mine = row["majority"][view]
    single = mine["n"] <= row["judged"]  # else several statements per screen were compared
    return compared(stage, row, view), mine["n"] - mine["same"] if single else None


def _agreement_tested(data: Mapping, stage: Mapping, row: Mapping) -> Said:
    sentence, count = _agreement(stage, row, annotators.compared_on(data, stage, row))
    return f"{sentence} {BY_CHANCE}", count


def _checks(_: Mapping, stage: Mapping, row: Mapping) -> Said:
    found = row["checks"]
    wrong = found["n"] - found["right"]
    by_chance = f"guessing would get {found['n'] * found['guess']:.1f}"
    return f"{found['right']:,} of {found['n']:,} checks correct, {wrong:,} wrong; {by_chance}.", wrong


def _answers(_: Mapping, stage: Mapping, row: Mapping) -> Said:
    test = row["labels_test"]
    count = row["labels"].get(test["label"], 0)
    given = f"Answered “{readable_label(test['label'])}” on {count:,} of {row['judged']:,} screens."
    beside = f"{test['share']:.0%} of those that others judged too; the others {test['others_share']:.0%}."
    return f"{given} {beside} {BY_CHANCE}", count


def _side(_: Mapping, stage: Mapping, row: Mapping) -> Said:
    test, place = row["side"], warning_signs.top_place(row["side"])
    if place is None:
        return "No picks.", None
    count, by_chance = test["counts"][place - 1], test["expected"][place - 1]
    shares = f"({count / test['n']:.0%}); without a habit it would be {by_chance:.0f}"
    return f"Chose {_nth(place)} on {count:,} of {test['n']:,} screens {shares}. {BY_CHANCE}", count


def _runs(_: Mapping, stage: Mapping, row: Mapping) -> Said:
    test = row["runs"]
    longest = f"Chose {_nth(test['place'])} {test['longest']:,} times in a row."
    if test["p_longest"] < test["p_repeats"]:
        return f"{longest} {BY_CHANCE}", test["longest"]
    again, by_chance = test["repeats"], test["chance"] * (test["n"] - 1)
    same = f"Chose the same position as on the screen before {again:,} times; by chance it would be {by_chance:.0f}"
    return f"{same}. {longest}", test["longest"]


def _nth(place: int) -> str:
    """Put a position on the screen into words."""
    return f"the {('first', 'second', 'third')[place - 1] if place <= 3 else f'{place}th'} position"


def _fast(data: Mapping, stage: Mapping, row: Mapping) -> Said:
    usual, apart = usual_time(data, stage, row), _fast_outlier(data, stage, row)
    count = apart["screens"] if apart else row["quick"]
    whose = "the others" if apart else "everybody"
    times = f"{row['median_seconds']:.1f} s a screen; {whose} {usual or 0:.1f} s."
    return f"{times} {count:,} of {sum(row['bands']):,} screens took less than half of that.", count


SENTENCES: dict[str, Callable[[Mapping, Mapping, Mapping], Said]] = {
    "agreement": _agreement_tested,
    "checks": _checks,
    "answers": _answers,
    "side": _side,
    "runs": _runs,
    "fast": _fast,
}


def usual_time(data: Mapping, stage: Mapping, row: Mapping) -> float | None:
    """Return the usual seconds, less than half of which is fast: the stage's median, or the others' median for somebody
    who is very fast only compared with the others.
    """
    apart = _fast_outlier(data, stage, row)
    return stage["median_seconds"] if apart is None else row["median_seconds"] / (1 - apart["size"])


def _fast_outlier(data: Mapping, stage: Mapping, row: Mapping) -> Mapping | None:
    few = data["few"][str(stage["position"])]
    mine = [one for one in few["views"][few["first"]]["outliers"] if one["number"] == row["number"]]
    return next((one for one in mine if one["kind"] == few_annotators.FAST), None)


def stage_of(data: Mapping, position: int | None) -> Mapping | None:
    return next((stage for stage in data["stages"] if stage["position"] == position), None)


def row_of(rows: Sequence[Mapping], number: int) -> Mapping | None:
    return next((row for row in rows if row["number"] == number), None)
