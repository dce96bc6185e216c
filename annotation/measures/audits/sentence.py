"""Describe an audit for a paper: the items judged, how they were chosen, the result and its guarantee."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotation.measures.audits.judges import Corrected
from annotation.measures.audits.plan import Target
from annotation.measures.audits.replay import Audited
from annotation.measures.audits.running import Progress
from annotation.wording import counted

GUARANTEES = {
    False: "Wilson’s interval with the correction for a finite population, nominal for an audit that stops by the "
    "interval’s width alone",
    True: "the prior-posterior-ratio confidence sequence for sampling without replacement, valid whenever the audit "
    "stops",
}

WITH_SCORES = {
    False: "the regression estimate on a model’s scores, with Wilson’s interval and the correction for a finite "
    "population, nominal for an audit that stops by the interval’s width alone",
    True: "what the prior-posterior ratio and bets with a model’s scores as control variate leave, valid whenever the "
    "audit stops",
}
RARE = 0.005  # below this share of wrong items, intervals by width can miss the truth too often


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the target, in the same unit, after `judged` items counted (None if unknown)."""

    before: float
    after: float
    judged: int | None


@dataclass(frozen=True, slots=True)
class Work:
    """Who decided the items behind the result: `annotators`, some of them `simulated`, and adjudicators, by number of
    items. `undecided` items were dropped for a reason that leaves open whether they are wrong. `closed`: the stage is.
    """

    annotators: int
    simulated: int = 0
    adjudicated: int = 0
    undecided: int = 0
    closed: bool = False


def aim(target: Target) -> str:
    """Describe the target in words."""
    if target.half_width is not None:
        return f"± {percent(target.half_width)}"
    return f"at most {percent(target.at_most or 0)} wrong"


def reached(found: Progress, target: Target) -> str:
    """Describe what the audit has reached, in the terms of `aim`; empty before the first judged item."""
    if found.half_width is None or found.high is None:
        return ""
    return f"± {percent(found.half_width)}" if target.half_width is not None else f"at most {percent(found.high)} wrong"


def standing(met: bool | None, ended: bool, futile: bool = False, closed: bool = False) -> str:
    """Return the target's state (`Progress.met`) in words, to follow “the target is”."""
    if met is None:
        state = "not met, and with 95% confidence out of reach" if futile else "not met" if closed else "not met yet"
        return f"{state}: the stage was closed before" if closed else state
    return "met" if met else "not met" if ended else "not met, and cannot be met any more"


def verdict(found: Progress | Audited, target: Target) -> str:
    """State in a sentence whether the target is met, and if not, why."""
    said = f"The target is {standing(found.met, found.ended, found.futile)}"
    bound = percent(target.at_most or 0)
    if target.is_missed(found.wrong, found.items):
        of = f"{found.wrong:,} of {'all ' if found.n == found.items else ''}{found.items:,} items are wrong"
        return f"{said}: {of}, more than {bound}{'' if found.n == found.items else ' even if no other is'}."
    if found.futile and found.low is not None:
        return f"{said}: at least {percent(found.low)} of the items are wrong (95% interval), more than {bound}."
    return f"{said}."


def dropped_how(wrong_reasons: Iterable[str]) -> str:
    """Describe which dropped items count as wrong."""
    reasons = " or ".join(f"“{one.replace('_', ' ')}”" for one in wrong_reasons)
    return f"dropped as {reasons}" if reasons else "dropped for any reason"


def percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def changed(changes: Sequence[Change], *, bound: bool, any_look: bool) -> str:
    """Describe the changes of the target, and the effect of a looser one on an interval by width; empty if none."""
    sign = "" if bound else "± "
    told = [
        f"from {sign}{percent(one.before)} to {sign}{percent(one.after)}"
        + ("" if one.judged is None else f" after {counted(one.judged, 'item')}")
        for one in changes
    ]
    loosened = any(one.after > one.before for one in changes) and not any_look
    less = ", so the audit did not stop at a width set in advance and the interval is not nominal"
    return f"The target was changed {' and '.join(told)}{less if loosened else ''}." if told else ""


def sentence(
    found: Progress, target: Target, work: Work, *, benchmark: str, stratified: bool, seed: int, sha256: str,
    decision: str, scores: tuple[str, str] | None = None, changes: Sequence[Change] = (),
    corrected: Corrected | None = None,
) -> str:  # fmt: skip
    """Write the paragraph; empty before the first judged item. `decision` is the stage's decision rule in words;
    `scores`: whose, and their SHA-256.
    """
    if found.estimate is None or found.low is None or found.high is None:
        return _later(found)
    kinds = ", in proportion to types and subtypes," if stratified else ""
    given = "was judged wrong" if found.wrong == 1 else "were judged wrong"
    share = "an estimated" if stratified or scores else ""
    guarantee = (WITH_SCORES if scores else GUARANTEES)[target.at_any_look]
    if found.estimate < RARE and not target.at_any_look and found.n < found.items:
        guarantee += "; below 0.5% wrong such intervals miss the truth in up to 12% of audits"
    rate = f"{share} {100 * found.estimate:.1f}%".strip()
    state = standing(found.met, found.ended, found.futile, work.closed)
    said = [
        f"Of the {found.items:,} items of {benchmark}, {found.n:,} {'was' if found.n == 1 else 'were'} judged, drawn "
        f"without replacement in a random order{kinds} that was fixed before the first judgment (seed {seed}, SHA-256 "
        f"{sha256}).",
        f"{found.wrong:,} {given} ({rate}; 95% interval {100 * found.low:.1f} to {100 * found.high:.1f}%: "
        f"{guarantee}; target {aim(target)}, {state}).",
        _undecided(work.undecided),
        corrected_in_words(corrected),
        changed(changes, bound=target.at_most is not None, any_look=target.at_any_look),
        _later(found),
        f"Side information: scores of {scores[0]}, SHA-256 {scores[1]}." if scores else "",
        f"Judged by {_who(work)}. {decision}",
    ]
    return " ".join(filter(None, said))


def _undecided(count: int) -> str:
    if not count:
        return ""
    does = "was dropped for another reason and does" if count == 1 else "were dropped for other reasons and do"
    return f"{count:,} more {does} not count as wrong."


def _later(found: Progress) -> str:
    """Describe judged items that do not count yet, with the bounds that the open items leave."""
    if not found.later:
        return ""
    are, do = ("is", "does") if found.later == 1 else ("are", "do")
    if found.ended:
        return f"{counted(found.later, 'later item')} {are} also judged but {do} not count: the audit had ended."
    said = f"{counted(found.later, 'later item')} {are} also judged but {do} not count yet: an earlier one is open."
    if one := found.ahead:
        said += (
            f" Of the first {one.items:,}, {one.open:,} {'is' if one.open == 1 else 'are'} open: "
            f"{100 * one.if_right:.1f}% are wrong if none of these is, {100 * one.if_wrong:.1f}% if all are (95% "
            f"interval, whatever they are, {100 * one.low:.1f} to {100 * one.high:.1f}%)."
        )
    return said


def corrected_in_words(corrected: Corrected | None) -> str:
    """Describe the estimate without judges' errors and its basis; empty if there is none."""
    if corrected is None or corrected.estimate is None or corrected.low is None or corrected.high is None:
        return ""
    of = [
        *([f"{counted(corrected.gold, 'judgment')} of items with a known answer"] if corrected.gold else []),
        *(["the agreement of judgments of the same item"] if corrected.overlapping else []),
    ]
    misses = f"misses {100 * (corrected.missed or 0):.1f}% of wrong items and " if corrected.estimate >= 0.0005 else ""
    return (
        f"Corrected for annotators’ errors, {100 * corrected.estimate:.1f}% are wrong (95% interval "
        f"{100 * corrected.low:.1f} to {100 * corrected.high:.1f}%, for the sample and the error rates together): by "
        f"{' and '.join(of)}, a judgment {misses}takes {100 * (corrected.false_alarms or 0):.1f}% of right items for "
        "wrong."
    )


def _who(work: Work) -> str:
    said = counted(work.annotators, "annotator")
    if work.simulated:
        said += f" ({'' if work.simulated == work.annotators else f'{work.simulated:,} of them '}simulated)"
    decided = counted(work.adjudicated, "item")
    return f"{said}; adjudicators decided {decided}" if work.adjudicated else said
