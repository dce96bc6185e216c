"""Inter-annotator agreement reported in papers, by the protocol that asks the same question. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedAgreement:
    """A paper's agreement: the kappa of each of its `pairs` of annotators, on the projection `on`. `measure` is the key
    of our mean over pairs.
    """

    measure: str
    paper: str
    on: str
    pairs: tuple[float, ...]

    @property
    def mean(self) -> float:
        return sum(self.pairs) / len(self.pairs)

    @property
    def lowest(self) -> float:
        return min(self.pairs)

    @property
    def highest(self) -> float:
        return max(self.pairs)


PUBLISHED: Mapping[str, PublishedAgreement] = {
    "bivlc-choose": PublishedAgreement("cohen_mean", "BiVLC", "any or none", (0.66, 0.43, 0.56, 0.43, 0.38))  # Table 7
}
