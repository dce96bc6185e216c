"""SugarCrepe's refinement of a benchmark by two blind runs."""

from collections.abc import Sequence
from math import tanh

from benchmarks.construction.refinement import Refined, refine
from benchmarks.models import Run
from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE, KINDS, VISLA

# The question with the correct and wrong captions to compare; `caption` for other kinds.
WEIGHED = {BIVLC.name: "i_pos2t", VISLA.name: "p1_n", HARD_POSITIVE.name: "original"}


class CannotRefine(ValueError):
    """The message explains why in a sentence."""


def refined(first: Run, second: Run, seed: int) -> tuple[list[str], Refined]:
    """Return the keys of items that both runs scored, in the benchmark's order, and which of them to keep."""
    if (first.benchmark_id, first.kind) != (second.benchmark_id, second.kind):
        raise CannotRefine("The two runs are of different benchmarks.")
    if first.pk == second.pk or not (first.blind and second.blind):
        raise CannotRefine("A refinement needs two runs of models that do not see images.")
    one, other = weighed(first), weighed(second)
    keys = [key for key in one if key in other]
    if not keys:
        raise CannotRefine("No item has scores from both runs.")
    found = [gaps(*zip(*(scores[key] for key in keys), strict=True)) for scores in (one, other)]
    return keys, refine(list(zip(*found, strict=True)), seed)


def weighed(run: Run) -> dict[str, tuple[float, float]]:
    """Map each item to the scores of its correct and wrong captions, in the benchmark's order."""
    (names,) = KINDS[run.kind].measured.questions[WEIGHED.get(run.kind, "caption")]
    rows = run.predictions.filter(question__in=names).order_by("item__position")
    found: dict[str, dict[str, float]] = {}
    for key, name, score in rows.values_list("item__key", "question", "score"):
        if score is not None:
            found.setdefault(key, {})[name] = score
    return {key: (of[names[0]], of[names[1]]) for key, of in found.items() if len(of) == len(names)}


def gaps(right: Sequence[float], wrong: Sequence[float]) -> list[float]:
    """Return a model's preference for each correct caption, from -1 to 1, as in SugarCrepe's refinement (App. D.3).

    Scores between 0 and 1, as in that paper, are subtracted. Log-probabilities with difference d give tanh(d / 2): p -
    (1 - p), where p is the probability of the correct caption, given that it is one of the two.
    """
    plain = all(0 <= score <= 1 for score in (*right, *wrong))
    return [one - other if plain else tanh((one - other) / 2) for one, other in zip(right, wrong, strict=True)]
