"""Models scored on all audited items and on the valid ones: the effect of wrong items on a ranking.

Only items that every model answers count, each once, as right or wrong.

- A share's 95% interval is Wilson's, with items as units (`benchmarks.metrics.base.wilson`).
- The difference of two models on the valid items is paired by item (`annotation.measures.paired`).
- The certainty of an order is the share of `RESAMPLES` resamples of the valid items with it; a tie counts half.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.measures.paired import difference
from annotation.measures.types import Array
from benchmarks.metrics.base import wilson

RESAMPLES, SEED = 2000, 20240601
_DECIMALS = 4  # shares equal after rounding to this share one rank


@dataclass(frozen=True, slots=True)
class Model:
    """`everywhere`: its share on the whole benchmark; `right`: its result on each audited item that it answers. Models
    `asked_in_both_orders` must be consistent to be right, so they are ranked separately.
    """

    name: str
    everywhere: float
    right: Mapping[int, bool]
    asked_in_both_orders: bool = False


@dataclass(frozen=True, slots=True)
class Share:
    share: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """A model's shares, and its ranks on the whole benchmark and on the valid items."""

    name: str
    everywhere: float
    audited: Share
    valid: Share
    rank: int
    valid_rank: int
    asked_in_both_orders: bool = False


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two models on the valid items, the first minus the second. `changed`: on the whole benchmark
    their order is reversed.
    """

    first: str
    second: str
    value: float
    low: float
    high: float
    sure: float
    changed: bool


@dataclass(frozen=True, slots=True)
class Corrected:
    audited: int
    valid: int
    rows: list[Row]
    differences: list[Difference]


def corrected(models: Sequence[Model], wrong: Mapping[int, bool], lower: bool = False) -> Corrected:
    """Rank models on audited items (`wrong`) and on the valid ones. `lower`: lower is better. Rows follow the ranking
    on valid items, models asked in both orders last; differences are between neighbours and between models whose order
    changed.
    """
    items = [item for item in wrong if all(item in model.right for model in models)] if models else []
    valid = [item for item in items if not wrong[item]]
    on_valid = {model.name: np.array([model.right[item] for item in valid], int) for model in models}
    rows: list[Row] = []
    differences: list[Difference] = []
    for twice in (False, True):
        own = [model for model in models if model.asked_in_both_orders == twice]
        ranks = _ranks({model.name: model.everywhere for model in own}, lower)
        shares = {model.name: float(on_valid[model.name].mean()) if valid else model.everywhere for model in own}
        valid_ranks = _ranks(shares, lower)
        found = [
            Row(
                model.name, model.everywhere, _share([model.right[item] for item in items]),
                _share(on_valid[model.name].tolist()), ranks[model.name], valid_ranks[model.name], twice,
            )
            for model in own
        ]  # fmt: skip
        found.sort(key=lambda row: (row.valid_rank, row.rank, row.name))
        rows += found
        differences += _differences(found, on_valid, lower) if valid and found else []
    return Corrected(len(items), len(valid), rows, differences)


def _share(right: Sequence[int]) -> Share:
    return Share(sum(right) / len(right) if right else None, *wilson(sum(right), len(right)))


def _ranks(shares: Mapping[str, float], lower: bool) -> dict[str, int]:
    rounded = {name: round(-share if lower else share, _DECIMALS) for name, share in shares.items()}
    return {name: 1 + sum(other > share for other in rounded.values()) for name, share in rounded.items()}


def _differences(rows: Sequence[Row], on_valid: Mapping[str, Array], lower: bool) -> list[Difference]:
    names, n = [row.name for row in rows], len(next(iter(on_valid.values())))
    weights = np.random.default_rng(SEED).multinomial(n, np.full(n, 1 / n), RESAMPLES)
    drawn = {name: weights @ on_valid[name] * (-1 if lower else 1) for name in names}
    found = []
    for place, first in enumerate(rows):
        for step, second in enumerate(rows[place + 1 :], 1):
            changed = first.rank > second.rank and first.valid_rank < second.valid_rank
            if step == 1 or changed:
                one, other = on_valid[first.name], on_valid[second.name]
                ahead = drawn[first.name] - drawn[second.name]
                sure = float(((ahead > 0) + (ahead == 0) / 2).mean())
                found.append(Difference(first.name, second.name, *difference(one, other), sure, changed))
    return found
