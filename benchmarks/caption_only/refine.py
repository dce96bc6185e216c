"""SugarCrepe's refinement of a benchmark by two blind runs."""

from benchmarks.caption_only import shares
from benchmarks.construction.refinement import Refined, refine
from benchmarks.models import Run


class CannotRefine(ValueError):
    """The message says why in a sentence."""


def refined(first: Run, second: Run, seed: int) -> tuple[list[str], Refined]:
    """The keys of items that both runs scored, in the benchmark's order, and which of them stay."""
    if (first.benchmark_id, first.kind) != (second.benchmark_id, second.kind):
        raise CannotRefine("The two runs are of different benchmarks.")
    if first.pk == second.pk or not (first.blind and second.blind):
        raise CannotRefine("A refinement needs two runs of models that see no images.")
    one, other = weighed(first), weighed(second)
    keys = [key for key in one if key in other]
    if not keys:
        raise CannotRefine("No item has scores from both runs.")
    found = [shares.gaps(*zip(*(scores[key] for key in keys), strict=True)) for scores in (one, other)]
    return keys, refine(list(zip(*found, strict=True)), seed)


def weighed(run: Run) -> dict[str, tuple[float, float]]:
    """Item → scores of the correct and the wrong caption, in the benchmark's order."""
    names = shares.weighed(run.kind)
    rows = run.predictions.filter(question__in=names).order_by("item__position")
    found: dict[str, dict[str, float]] = {}
    for key, name, score in rows.values_list("item__key", "question", "score"):
        if score is not None:
            found.setdefault(key, {})[name] = score
    return {key: (of[names[0]], of[names[1]]) for key, of in found.items() if len(of) == len(names)}
