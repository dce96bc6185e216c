"""The figures of an export as far as they are public: whatever is left out, rests on what is not there. Pure."""

from collections.abc import Collection, Mapping

# What rests on when judgments were given and on how long they took; the order of an annotator's screens is of it too.
TIMED_STAGE = {"pace", "cost", "series"}
TIMED_SEAT = {"median_seconds", "active_minutes", "paid"}
TIMED_PAGE = {"median_seconds", "bands", "times"}
TIMED_ROW = {
    "active_minutes", "per_hour", "paid", "median_seconds", "log_time", "quick", "quick_share", "bands", "runs", "away",
}  # fmt: skip
TIMED_SIGNS = {"fast", "far", "runs"}
GOLD_ROW, GOLD_SIGNS = {"checks"}, {"checks"}


def of_study(figures: Mapping, public: Collection[str]) -> dict:
    people = "annotators" in public
    found = {
        "funnel": figures["funnel"],
        "stages": [of_stage(stage, public) for stage in figures["stages"]],
        "baselines": figures["baselines"] if people else [less(one, {"annotators"}) for one in figures["baselines"]],
    }
    return found | ({"annotators": pages(figures["annotators"], public)} if people else {})


def less(part: Mapping, names: Collection[str]) -> dict:
    return {name: value for name, value in part.items() if name not in names}


def of_stage(stage: Mapping, public: Collection[str]) -> dict:
    times = "times" in public
    found = less(stage, () if times else TIMED_STAGE)
    if not times:
        found["study"] = {**stage["study"], "pay_per_hour": None}
    if "annotators" in public:
        return found | {"annotators": [_seat(row, times) for row in stage["annotators"]]}
    found["agreement"] = [less(view, {"kappa_pairs"}) for view in stage["agreement"]]
    if "paper" in found:
        found["paper"] = less(found["paper"], {"annotators"})
    return less(found, {"annotators"})


def _seat(row: Mapping, times: bool) -> dict:
    """An annotator on a stage's page, whose signs are words alone."""
    if times:
        return dict(row)
    return less(row, TIMED_SEAT) | {"signs": [sign for sign in row["signs"] if sign not in TIMED_SIGNS]}


def pages(figures: Mapping, public: Collection[str]) -> dict:
    """Those of annotators."""
    times = "times" in public
    found = {
        "stages": [
            less(stage, () if times else TIMED_PAGE) | {"rows": [_row(row, public) for row in stage["rows"]]}
            for stage in figures["stages"]
        ],
        "whole": [_row(row, public) for row in figures["whole"]],
    }
    return found | ({"speed": figures["speed"]} if times else {})


def _row(row: Mapping, public: Collection[str]) -> dict:
    fields, signs = set(), set()
    for part, of_row, of_signs in (("times", TIMED_ROW, TIMED_SIGNS), ("gold", GOLD_ROW, GOLD_SIGNS)):
        if part not in public:
            fields |= of_row
            signs |= of_signs
    return less(row, fields) | {"signs": [sign for sign in row["signs"] if sign["kind"] not in signs]}
