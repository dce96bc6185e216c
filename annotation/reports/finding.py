"""A study's findings as the opening sentences of its report: results, annotators and agreement."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotation.dashboard.agreement_words import agreement_in_words
from annotation.dashboard.headline_tiles import baseline_tiles, score_tiles
from annotation.templatetags.figures import percent, to_percent
from annotation.wording import counted
from benchmarks.metrics.base import wilson

Found = Mapping[str, Any]


def finding(report: Found) -> list[str]:
    """Write the findings of a report (report.py) as plain sentences."""
    selecting = [one for one in report["stages"] if not one["protocol"]["measures"]]
    stage, totals = (selecting or report["stages"])[-1], report["totals"]
    by_hand = f"; {counted(totals['adjudicated'], 'item')} decided by hand" if totals["adjudicated"] else ""
    who = counted(totals["annotators_who_count"], "annotator")
    given = f"{who} gave {counted(totals['judgments_counted'], 'counted judgment')}{by_hand}."
    agreed = agreement_in_words(stage["figures"], stage.get("shares", ()))
    on = stage["figures"]["by_type_on"]
    beyond = f"Agreement beyond chance{'' if on == 'answer' else f' on “{on}”'}"
    agree = [f"{agreed.lead}.", agreed.rest, f"{beyond}: {agreed.basis}."] if agreed and "shares" in stage else []
    return [one for one in (*_came_out(report, stage), given, *agree) if one]


def _came_out(report: Found, stage: Found) -> Iterator[str]:
    audit = stage["figures"].get("audit") or {}
    if audit.get("estimate") is not None:
        ends = to_percent(audit["low"], audit["high"])
        yield (
            f"About {percent(audit['estimate'])} of the {audit['items']:,} items are wrong (95% interval {ends}; "
            f"{audit['wrong']:,} of {audit['judged']:,} judged)."
        )
    elif stage["protocol"]["measures"] or not stage["protocol"]["drops"]:
        scores = stage["figures"].get("scores") or {}
        tiles = score_tiles(scores) if any(scores.values()) else baseline_tiles((report["baselines"] or [None])[-1])
        for tile in tiles:
            yield f"{tile.label}: {tile.value}, {tile.lead} ({tile.basis})."
    else:
        yield from _kept(report["funnel"])


def _kept(funnel: Found) -> Iterator[str]:
    settled = funnel["kept"] + funnel["dropped"]
    if not settled:
        yield f"None of {counted(funnel['imported'], 'item')} has been decided yet."
        return
    share, ends = percent(funnel["kept"] / settled), to_percent(*wilson(funnel["kept"], settled))
    still = f" Still open: {counted(funnel['open'], 'item')}." if funnel["open"] else ""
    kept = f"{share} of the {settled:,} settled items are kept: {funnel['kept']:,}"
    yield f"{kept} (95% interval over items {ends}).{still}"
