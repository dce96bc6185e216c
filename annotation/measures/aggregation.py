"""One label per item from several annotators' labels: by majority, or by Dawid and Skene (1979).

Rows are (item, annotator, label); if an annotator read an item several times, every reading counts, as in Dawid
and Skene's own data (§2: the number of times that observer k gives label l to patient i).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.measures.ratings import Rating, RatingColumns

_TIE_MARGIN = 1e-6  # posteriors closer than this are tied
_MAX_STEPS = 1000
_CONVERGENCE = 1e-10  # stop when an item's mean log-likelihood changes by less than this
_SMALLEST = 1e-300  # replaces a probability of 0 in a logarithm
NO_LABEL, FIRST_LABEL = "none", "first"  # the label for a tied item

_Shares = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One label per item: None if tied, unless the tie rule chose one; `ties` has the tied labels of such items.

    `class_shares` is the mean of the posteriors. `confusion`, for Dawid–Skene, has, for each annotator, the probability
    of each label given the true one.
    """

    labels: Mapping[str, str | None]
    posteriors: Mapping[Any, _Shares]  # by item
    class_shares: _Shares
    ties: Mapping[str, Sequence[str]]
    confusion: Mapping[str, Mapping[str, _Shares]] = field(default_factory=dict)
    steps: int = 0
    converged: bool = True


def majority(ratings: Iterable[Rating] | RatingColumns, tie_rule: str = NO_LABEL) -> Aggregate:
    """Take the most frequent label; posteriors are shares of votes. Tie rule `first`: the tied label given first."""
    given = RatingColumns.of(ratings)
    size = max(1, len(given.labels))
    kinds, first, votes = np.unique(
        given.item.astype(np.int64) * size + given.label, return_index=True, return_counts=True
    )
    order = np.lexsort((first, kinds // size))  # an item's labels in the order given
    kinds, votes = kinds[order], votes[order]
    shares = votes / np.bincount(given.item)[kinds // size]
    found: dict[Any, dict[str, float]] = {item: {} for item in given.items}
    for item, label, share in zip((kinds // size).tolist(), (kinds % size).tolist(), shares.tolist(), strict=True):
        found[given.items[item]][given.labels[label]] = share
    return _aggregate(found, tie_rule)


def dawid_skene(
    ratings: Iterable[Rating] | RatingColumns, tie_rule: str = NO_LABEL, steps: int = _MAX_STEPS
) -> Aggregate:
    """Estimate labels by expectation–maximisation, starting from the shares of votes (Dawid and Skene 1979, §3)."""
    given = RatingColumns.of(ratings)
    if not len(given):
        return Aggregate({}, {}, {}, {})
    found = _Fit(given)
    before, now, done = -np.inf, found.step(), 1
    while done < steps and abs(now - before) >= _CONVERGENCE:
        before, now, done = now, found.step(), done + 1
    shares = {
        item: dict(zip(found.labels, row, strict=True))
        for item, row in zip(found.items, found.posterior.tolist(), strict=True)
    }
    whole = _aggregate(shares, tie_rule)
    return Aggregate(
        whole.labels, whole.posteriors, whole.class_shares, whole.ties, found.confusions(), done, done < steps
    )


class _Fit:
    """`posterior` is items × labels, `confusion` annotators × true label × given label."""

    def __init__(self, given: RatingColumns):
        self.items, self.people, self.labels = given.items, given.annotators, given.labels
        self.item, self.person, self.label = given.item, given.annotator, given.label
        places = self.item.astype(np.int64) * len(self.labels) + self.label
        votes = np.bincount(places, minlength=len(self.items) * len(self.labels)).reshape(-1, len(self.labels))
        self.posterior = votes / votes.sum(axis=1, keepdims=True)

    def step(self) -> float:
        """Maximise, then update the posteriors; return the mean log-likelihood under the new parameters."""
        people, labels = len(self.people), len(self.labels)
        self.shares = self.posterior.mean(axis=0)
        given = self.person * labels + self.label
        counts = [np.bincount(given, self.posterior[self.item, true], people * labels) for true in range(labels)]
        self.confusion = np.stack(counts, axis=1).reshape(people, labels, labels).transpose(0, 2, 1)
        whole = self.confusion.sum(axis=2, keepdims=True)
        self.confusion = np.divide(self.confusion, whole, out=np.zeros_like(self.confusion), where=whole > 0)
        said = np.log(np.maximum(self.confusion, _SMALLEST))
        each = (np.bincount(self.item, said[self.person, true, self.label], len(self.items)) for true in range(labels))
        logs = np.stack([*each], axis=1)
        logs += np.log(np.maximum(self.shares, _SMALLEST))
        top = logs.max(axis=1, keepdims=True)
        likely = np.exp(logs - top)
        self.posterior = likely / likely.sum(axis=1, keepdims=True)
        return float((top[:, 0] + np.log(likely.sum(axis=1))).mean())

    def confusions(self) -> dict[str, dict[str, _Shares]]:
        """Return each annotator's probability of each label, for each true label."""
        return {
            person: {
                true: dict(zip(self.labels, row, strict=True))
                for true, row in zip(self.labels, matrix.tolist(), strict=True)
                if sum(row) > 0
            }
            for person, matrix in zip(self.people, self.confusion, strict=True)
        }


def _aggregate(posteriors: Mapping[str, _Shares], tie_rule: str) -> Aggregate:
    """Take each item's most probable label; if several share the top, it is tied, and the first came first."""
    top = {item: _most_likely(shares) for item, shares in posteriors.items()}
    ties = {item: labels for item, labels in top.items() if len(labels) > 1}
    labels = {item: None if item in ties and tie_rule == NO_LABEL else best[0] for item, best in top.items()}
    totals: Counter[str] = Counter()
    for shares in posteriors.values():
        totals.update(shares)
    class_shares = {label: totals[label] / len(posteriors) for label in sorted(totals)}
    return Aggregate(labels, posteriors, class_shares, ties)


def _most_likely(shares: _Shares) -> list[str]:
    most = max(shares.values())
    return [label for label, share in shares.items() if most - share <= _TIE_MARGIN]


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy over the `n` items with a gold label and a rating. A tie counts as wrong; `ties_shared` counts a tie
    among m labels, the right one included, as 1 / m.
    """

    value: float | None
    ties_shared: float | None
    n: int


def accuracy(found: Aggregate, gold: Mapping[str, str]) -> Accuracy:
    known = [item for item in found.labels if item in gold]
    if not known:
        return Accuracy(None, None, 0)
    untied = sum(found.labels[item] == gold[item] for item in known if item not in found.ties)
    shared = sum(1 / len(found.ties[item]) for item in known if gold[item] in found.ties.get(item, ()))
    return Accuracy(untied / len(known), (untied + shared) / len(known), len(known))
