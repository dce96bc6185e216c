"""One label for each item from the labels of several annotators: by majority, or by Dawid and Skene (1979).

Rows are (item, annotator, label); an annotator who read an item several times counts with every reading, as in Dawid
and Skene's own data (§2: the number of times that observer k gives label l to patient i).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from annotation.measures.agreement import Rating

_TIE_MARGIN = 1e-6  # posteriors closer than this are tied
_MAX_STEPS = 1000
_CONVERGENCE = 1e-10  # stop when an item's mean log-likelihood changes by less than this
_SMALLEST = 1e-300  # stands for a probability of 0 in a logarithm
NO_LABEL, FIRST_LABEL = "none", "first"  # what a tied item gets

_Shares = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`labels` has null for a tied item unless the tie rule gave it one; `ties` names the labels of tied items.

    `class_shares` is the mean of the posteriors. `confusion`, for Dawid–Skene, has each annotator's probability
    of each given label for each true one.
    """

    labels: Mapping[str, str | None]
    posteriors: Mapping[Any, _Shares]  # by item
    class_shares: _Shares
    ties: Mapping[str, Sequence[str]]
    confusion: Mapping[str, Mapping[str, _Shares]] = field(default_factory=dict)
    steps: int = 0
    converged: bool = True


def majority(rows: Iterable[Rating], tie_rule: str = NO_LABEL) -> Aggregate:
    """The most frequent label; posteriors are shares of votes. Tie rule `first`: of tied labels, the first given."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for item, _, label in rows:
        votes[item][label] += 1
    shares = {item: {label: n / count.total() for label, n in count.items()} for item, count in votes.items()}
    return _aggregate(shares, tie_rule)


def dawid_skene(rows: Sequence[Rating], tie_rule: str = NO_LABEL, steps: int = _MAX_STEPS) -> Aggregate:
    """Maximum likelihood by expectation–maximisation, starting from the shares of votes (Dawid and Skene 1979, §3)."""
    if not rows:
        return Aggregate({}, {}, {}, {})
    found = _Fit(rows)
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

    def __init__(self, rows: Sequence[Rating]):
        columns = list(zip(*rows, strict=True))
        (self.items, self.item), (self.people, self.person), (self.labels, self.label) = map(_codes, columns)
        self.posterior = self._by(self.item, np.eye(len(self.labels))[self.label], len(self.items))
        self.posterior /= self.posterior.sum(axis=1, keepdims=True)

    @staticmethod
    def _by(codes: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
        """Sums of the rows of `values` (R × L) by code."""
        return np.stack([np.bincount(codes, weights=column, minlength=size) for column in values.T], axis=1)

    def step(self) -> float:
        """Maximise, then expect; also returns the items' mean log-likelihood under the maximised parameters."""
        labels, given = len(self.labels), self.person * len(self.labels) + self.label
        self.shares = self.posterior.mean(axis=0)
        counts = self._by(given, self.posterior[self.item], len(self.people) * labels)
        self.confusion = counts.reshape(len(self.people), labels, labels).transpose(0, 2, 1)
        whole = self.confusion.sum(axis=2, keepdims=True)
        self.confusion = np.divide(self.confusion, whole, out=np.zeros_like(self.confusion), where=whole > 0)
        said = np.log(np.maximum(self.confusion, _SMALLEST))[self.person, :, self.label]
        logs = self._by(self.item, said, len(self.items)) + np.log(np.maximum(self.shares, _SMALLEST))
        top = logs.max(axis=1, keepdims=True)
        likely = np.exp(logs - top)
        self.posterior = likely / likely.sum(axis=1, keepdims=True)
        return float((top[:, 0] + np.log(likely.sum(axis=1))).mean())

    def confusions(self) -> dict[str, dict[str, _Shares]]:
        """For each annotator and each true label: the probability of each given label."""
        return {
            person: {
                true: dict(zip(self.labels, row, strict=True))
                for true, row in zip(self.labels, matrix.tolist(), strict=True)
                if sum(row) > 0
            }
            for person, matrix in zip(self.people, self.confusion, strict=True)
        }


def _codes(values: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """The distinct values in the order of first appearance, and each value's place among them."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), np.fromiter((places[value] for value in values), dtype=np.int64, count=len(values))


def _aggregate(posteriors: Mapping[str, _Shares], tie_rule: str) -> Aggregate:
    """If several labels share the top, the item is tied; the first of them was given first."""
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
    """Over the `n` items that have a gold label and a rating. A tie is wrong; `ties_shared` counts a tie among m labels
    that include the right one as 1 / m.
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
