"""An audit in a paragraph for a paper: what was judged, how it was chosen, what was found, and what is guaranteed."""

from annotation.measures.audits.plan import Target
from annotation.measures.audits.running import Progress

GUARANTEES = {
    False: "Wilson’s interval with the correction for a finite population, nominal for an audit that stops by the "
    "interval’s width alone",
    True: "the prior-posterior-ratio confidence sequence for sampling without replacement, valid whenever the audit "
    "stops",
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


def percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + " %"


def sentence(
    found: Progress, target: Target, *, benchmark: str, stratified: bool, seed: int, sha256: str, annotators: int,
    decision: str,
) -> str:  # fmt: skip
    """`decision` is the stage's decision rule in words; empty before the first judged item."""
    if found.estimate is None or found.low is None or found.high is None:
        return ""
    kinds = ", in proportion to types and subtypes" if stratified else ""
    given = "was wrong" if found.wrong == 1 else "were wrong"
    share = "an estimated" if stratified else ""
    rate = f"{share} {100 * found.estimate:.1f} %".strip()
    return (
        f"Of the {found.items:,} items of {benchmark}, {found.n:,} were judged, drawn without replacement in a random "
        f"order{kinds} that was fixed before the first judgment (seed {seed}, SHA-256 {sha256}). {found.wrong:,} "
        f"{given} ({rate}; 95 % interval {100 * found.low:.1f} to {100 * found.high:.1f} %: "
        f"{GUARANTEES[target.at_any_look]}; target {aim(target)}{'' if found.met else ', not met yet'}). Judged by "
        f"{annotators:,} annotator{'' if annotators == 1 else 's'}: {decision}"
    )
