"""Protocols whose papers report more than agreement and outcomes, with the functions that compute it. Pure."""

from collections.abc import Mapping

from annotation.measures.papers import compare, edits, rank
from annotation.measures.papers.base import PaperFigures

FIGURES: Mapping[str, PaperFigures] = {
    "visla-paraphrase": edits.figures,
    "visla-triplet": edits.figures_of_triplets,
    "hard-positive-rank": rank.figures,
    "sugarcrepe-compare": compare.figures,
}
