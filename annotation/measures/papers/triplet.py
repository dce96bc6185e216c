"""visla-triplet: what became of the triplets, and how often each guideline held. Pure.

Source: VISLA §3.3 and App. A.1.
"""

from collections.abc import Sequence

from annotation.measures.counts import ratio
from annotation.measures.papers import edits
from annotation.measures.papers.base import JudgedTask
from annotation.measures.types import Figures
from annotation.protocols.decision_rule import Rule


def figures(tasks: Sequence[JudgedTask], rule: Rule) -> Figures:
    return {
        **edits.figures(tasks, rule),
        "holds": _guidelines_held(tasks, [one.code for one in rule.protocol.guidelines]),
    }


def _guidelines_held(tasks: Sequence[JudgedTask], codes: Sequence[str]) -> list[Figures]:
    """For each guideline, the judgments that say that it holds, among those that mention it."""
    said = [answer.content.get("guidelines", {}) for task in tasks for _, answer in task.judgments]
    found = {code: [lines[code] for lines in said if code in lines] for code in codes}
    return [
        {"code": code, "holds": sum(one), "n": len(one), "share": ratio(sum(one), len(one))}
        for code, one in found.items()
    ]
