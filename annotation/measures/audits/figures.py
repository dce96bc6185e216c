"""An audit's result, for the statistics of its stage."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.measures.audits.judges import Corrected
from annotation.measures.audits.plan import Target
from annotation.measures.audits.running import progress
from annotation.measures.types import Figures


def stratum(type: str, subtype: str) -> str:
    return f"{type}/{subtype}"


def is_stratified(settings: Mapping[str, Any]) -> bool:
    """Return whether to stratify by type and subtype: not at any look, which needs equally likely orders."""
    return bool(settings["stratify"] and not settings["any_look"])


def target_of(settings: Mapping[str, Any]) -> Target:
    futile = settings.get("stops_if_futile", False)
    return Target(settings["target_half_width"], settings["target_bound"], settings["any_look"], futile)


def to_come(missing: Iterable[int], settled: int, needed: int, holding: int, ended: bool) -> list[int]:
    """Return the judgments still missing for each open item that an audit of `needed` items will judge. `missing` has

    them for all open items; items that lack few were begun first. `settled`: the number of all others;
    `holding`: the number of open items that keep later settled ones from counting.
    """
    return sorted(missing)[: 0 if ended else max(holding, needed - settled)]


def audit_figures(
    wrong: Sequence[bool | None], strata: Sequence[str], settings: Mapping[str, Any], sha256: str,
    scores: Sequence[float] | None = None, scores_sha256: str = "",
    without_errors: Callable[[int], Corrected | None] = lambda n: None,
) -> Figures:  # fmt: skip
    """Return an audit's result, JSON-able. `wrong` has all items in order, None while open; `strata` and, if the audit
    uses them, a model's `scores` likewise. `settings` are the stage's; the hashes are of the order and the scores;
    `without_errors` corrects the result of the first n items for annotators' errors (`judges.corrected`).
    """
    found = progress(wrong, target_of(settings), strata if is_stratified(settings) else None, scores=scores)
    ahead = {} if found.ahead is None else {"ahead": asdict(found.ahead)}
    return {
        "order_sha256": sha256,
        **({"scores_sha256": scores_sha256} if scores else {}),
        "items": found.items,
        "judged": found.n,
        "wrong": found.wrong,
        "met": found.met,
        "expected": found.plan.expected,
        "most": found.plan.most,
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        **({"futile": True} if found.futile else {}),
        **ahead,
        **({} if (one := without_errors(found.n)) is None else {"corrected": asdict(one)}),
    }
