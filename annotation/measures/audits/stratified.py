"""Stratified audits with a proportional order (`order.sampling_order`), stopped by width.

The estimate is Σ W_h p_h, with W_h the stratum's share of the benchmark and p_h the share of wrong ones among its
judged items (Cochran 1977, §5). Its interval is Wilson's on the sample that a plain estimate would need for the same
variance: p (1 − p) / (Σ W_h s_h² + 10 p (1 − p) / n) times as many, and never fewer, with s_h² = p_h (1 − p_h) n_h /
(n_h − 1). The second term is the variance of ten more items without strata. Without it an audit would stop at zero
width if no stratum had shown both wrong and right items yet, which does not prove that none has both.
"""

import numpy as np

from annotation.measures.audits import intervals
from annotation.measures.audits.intervals import Bounds
from annotation.measures.types import Array

_ENOUGH = 5  # wrong items, right items, and two items per stratum, before strata count


def by_width(wrong: Array, strata: Array) -> Bounds:
    """Return the interval after each draw, from `wrong` (0 or 1) of those drawn and `strata` (from 0) of all, in order.

    Nominal if one stops only by width. It is the plain interval until five wrong items, five right ones and two of each
    stratum are drawn.
    """
    size, n = len(strata), np.arange(1, len(wrong) + 1)
    everyone = strata[:, None] == np.arange(strata.max() + 1)
    member = everyone[: len(wrong)]
    drawn, found = np.cumsum(member, axis=0), np.cumsum(member * wrong[:, None], axis=0)
    weights = everyone.mean(axis=0)
    share = np.cumsum(wrong) / n
    rates = found / np.maximum(drawn, 1)
    estimate = rates @ weights
    variance = (rates * (1 - rates) * drawn / np.maximum(drawn - 1, 1)) @ weights
    plain = estimate * (1 - estimate)
    gain = np.maximum(1, plain / np.maximum(variance + intervals.CAUTIOUS * plain / n, 1e-12))
    seen = np.cumsum(wrong)
    enough = (np.minimum(seen, n - seen) >= _ENOUGH) & (drawn >= np.minimum(2, everyone.sum(axis=0))).all(axis=1)
    return intervals.wilson(
        np.where(enough | (n == size), estimate, share), intervals.effective(n, size) * np.where(enough, gain, 1)
    )
