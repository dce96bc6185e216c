"""An audit in a paragraph for a paper: what was judged, how it was chosen, what was found, and what is guaranteed."""

from collections.abc import Iterable

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


def aim(target: Target) -> str:
    """The target in words."""
    if target.half_width is not None:
        return f"± {percent(target.half_width)}"
    return f"at most {percent(target.at_most or 0)} wrong"


def reached(found: Progress, target: Target) -> str:
    """What the audit knows so far, as `aim` names the target; empty before the first judged item."""
    if found.half_width is None or found.high is None:
        return ""
    return f"± {percent(found.half_width)}" if target.half_width is not None else f"at most {percent(found.high)} wrong"


def standing(met: bool | None, ended: bool) -> str:
    """The target's state (`Progress.met`) after “the target is”."""
    if met is None:
        return "not met yet"
    return "met" if met else "not met" if ended else "not met, and cannot be met any more"


def verdict(found: Progress | Audited, target: Target) -> str:
    """The target's state in a sentence, and why it is not met."""
    said = f"The target is {standing(found.met, found.ended)}"
    if found.met is not False:
        return f"{said}."
    of = f"{found.wrong:,} of {'all ' if found.ended else ''}{found.items:,} items are wrong"
    return f"{said}: {of}, more than {percent(target.at_most or 0)}{'' if found.ended else ' even if no other is'}."


def dropped_how(wrong_reasons: Iterable[str]) -> str:
    """Which of the dropped items count as wrong, in words."""
    reasons = " or ".join(f"“{one.replace('_', ' ')}”" for one in wrong_reasons)
    return f"dropped as {reasons}" if reasons else "dropped for any reason"


def percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + " %"


def sentence(
    found: Progress, target: Target, *, benchmark: str, stratified: bool, seed: int, sha256: str, annotators: int,
    decision: str, scores: tuple[str, str] | None = None,
) -> str:  # fmt: skip
    """`decision` is the stage's decision rule in words; `scores`: whose, and their SHA-256. Empty before the first
    judged item.
    """
    if found.estimate is None or found.low is None or found.high is None:
        return ""
    kinds = ", in proportion to types and subtypes," if stratified else ""
    given = "was wrong" if found.wrong == 1 else "were wrong"
    share = "an estimated" if stratified or scores else ""
    guarantee = (WITH_SCORES if scores else GUARANTEES)[target.at_any_look]
    side = f" Side information: scores of {scores[0]}, SHA-256 {scores[1]}." if scores else ""
    rate = f"{share} {100 * found.estimate:.1f} %".strip()
    return (
        f"Of the {found.items:,} items of {benchmark}, {found.n:,} were judged, drawn without replacement in a random "
        f"order{kinds} that was fixed before the first judgment (seed {seed}, SHA-256 {sha256}). {found.wrong:,} "
        f"{given} ({rate}; 95 % interval {100 * found.low:.1f} to {100 * found.high:.1f} %: "
        f"{guarantee}; target {aim(target)}, {standing(found.met, found.ended)}).{side} Judged by "
        f"{counted(annotators, 'annotator')}: {decision}"
    )
