"""The two stages of a human baseline: image to text and text to image, two questions each of every sampled item. Pure.

BiVLC (§4, App. H) drew 500 items and gave 25 of them to each of 20 annotators: 100 questions a person, the half from
image to text first. That is the design `one`: all four questions of an item go to one annotator. They meet the same
captions and images four times, so their four answers are not independent. In the design `different` nobody gets two
questions of one item: each question is answered on its own, at the price of more annotators.
"""

from collections.abc import Mapping, Sequence

from annotation.designs.plan import StagePlan
from annotation.measures.human_baseline import DIFFERENT, I2T, ONE, PROTOCOL, T2I

DESIGNS = (ONE, DIFFERENT)
QUESTIONS = 2  # of an item in each of the stages


def baseline_plans(
    *,
    source: str = "",
    sample: int | None = 500,
    design: str = ONE,
    batch_items: int = 25,
    stratify: bool = False,
    seed_settings: Mapping[str, object] | None = None,
    apart: Sequence[str] = (),
) -> list[StagePlan]:
    """Plans of both stages, to stand after the stage `source` (none: the benchmark's own items are asked about).

    The sample is drawn when the source is closed; both stages draw the same items, since they have one seed. In both
    designs an annotator answers at most `batch_items` times two questions in a stage. `seed_settings` are further
    settings of both stages (a seed of their own, a lease); `apart` names stages before them whose annotators do not get
    the items that they met there. In the design `one`, where none is named, the protocol says which (`leaks`).
    """
    if design not in DESIGNS:
        raise ValueError(f"there is no design {design!r}; there are {', '.join(DESIGNS)}")
    settings = {"sample": sample, "stratify": stratify, "promotion": "closing", "quota": QUESTIONS * batch_items}
    settings |= {"strategy": "batches", "batch_size": batch_items} if design == ONE else {"strategy": "pool"}
    settings |= dict(seed_settings or {})
    one = list(apart) or None
    from_i2t, from_t2i = ([*apart, I2T], [*apart, I2T, T2I]) if design == DIFFERENT else (one, one)
    return [
        StagePlan(PROTOCOL[I2T], I2T, source, apart_from=from_i2t, settings=settings),
        StagePlan(PROTOCOL[T2I], T2I, source, after=I2T, apart_from=from_t2i, settings=settings),
    ]
