"""Mean scores of the captions of hard positives, c, cp and cn (Hard Positive Truth, Tables 2 and 9). Pure.

A model that ranks them well may still have lowered the scores of all three. The means are over items with all three
scores, by type and subtype.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from benchmarks.predictions.kinds import HARD_POSITIVE, Kind

Scored = tuple[str, str, Mapping[str, float]]  # an item's type, subtype and scores by name


def mean_scores(items: Iterable[Scored], kind: Kind) -> dict[str, dict[str, float]]:
    """Map `replace` or `replace_att` → name of a score → its mean. Empty for other kinds, and for choices."""
    groups: dict[str, list[list[float]]] = defaultdict(list)
    for type, subtype, scores in items if kind is HARD_POSITIVE else ():
        if all(name in scores for name in kind.scores):
            for group in {type, f"{type}_{subtype}" if subtype else type}:
                groups[group].append([scores[name] for name in kind.scores])
    return {
        group: dict(zip(kind.scores, map(fmean, zip(*rows, strict=True)), strict=True))
        for group, rows in sorted(groups.items())
    }


def in_words(means: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Write a sentence for each group."""
    return [
        f"Mean scores{f' of {group}' if group else ''}: "
        + ", ".join(f"{name} {mean:.3f}" for name, mean in of.items())
        + "."
        for group, of in means.items()
    ]
