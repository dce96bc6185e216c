"""The losses against values computed by hand."""

import math

import pytest

from tests.lazy import LazyModule

torch, losses = LazyModule("torch"), LazyModule("workers.models.losses")
SCALE = 2.0
IMAGES, TEXTS = [[1, 0], [0, 1]], [[0.6, 0.8], [0, 1]]
NEGATIVES, POSITIVES, NEGATIVE_IMAGES = [[1, 0], [0.8, 0.6]], [[0.8, 0.6], [0.6, 0.8]], [[0.8, 0.6], [0.6, 0.8]]


def chosen(scores: list[list[float]]) -> float:
    """The mean over rows of -log softmax of the entry that stands on the diagonal."""
    rows = [-row[n] * SCALE + math.log(sum(math.exp(SCALE * one) for one in row)) for n, row in enumerate(scores)]
    return sum(rows) / len(rows)


def of(name: str, *rows: list[list[float]]) -> float:
    return float(getattr(losses, name)(*(torch.tensor(row, dtype=torch.float64) for row in rows), torch.tensor(SCALE)))


IMAGE_BY_TEXT, TEXT_BY_IMAGE = [[0.6, 0], [0.8, 1]], [[0.6, 0.8], [0, 1]]
HAND = {
    "info_nce": (chosen(IMAGE_BY_TEXT) + chosen(TEXT_BY_IMAGE)) / 2,
    # images choose among four captions, captions among two images
    "with_negative_texts": (chosen([[0.6, 0, 1, 0.8], [0.8, 1, 0, 0.6]]) + chosen(TEXT_BY_IMAGE)) / 2,
    # rows: the images [1 0], [0 1], [.8 .6], [.6 .8]; columns: the captions [.6 .8], [0 1], [1 0], [.8 .6]
    "with_negative_pairs": (
        chosen([[0.6, 0, 1, 0.8], [0.8, 1, 0, 0.6], [0.96, 0.6, 0.8, 1], [1, 0.8, 0.6, 0.96]])
        + chosen([[0.6, 0.8, 0.96, 1], [0, 1, 0.6, 0.8], [1, 0, 0.8, 0.6], [0.8, 0.6, 1, 0.96]])
    )
    / 2,
    "hard_negative": (math.log(1 + math.exp(2 * 0.4)) + math.log(1 + math.exp(-2 * 0.4))) / 2,  # margins -.4 and .4
    # images, and captions, by hard positives
    "hard_positive": (chosen([[0.8, 0.6], [0.6, 0.8]]) + chosen([[0.96, 1], [0.6, 0.8]])) / 2,
}
GIVEN = {
    "info_nce": (), "with_negative_texts": (NEGATIVES,), "with_negative_pairs": (NEGATIVE_IMAGES, NEGATIVES),
    "hard_negative": (NEGATIVES,), "hard_positive": (POSITIVES,),
}  # fmt: skip


@pytest.mark.parametrize("name", HAND)
def test_a_loss_is_what_its_formula_gives(name):
    assert of(name, IMAGES, TEXTS, *GIVEN[name]) == pytest.approx(HAND[name], abs=1e-6)


def test_a_pair_that_is_alone_and_its_own_best_loses_nothing():
    assert of("info_nce", [[1, 0]], [[1, 0]]) == pytest.approx(0, abs=1e-6)
    assert of("with_negative_texts", [[1, 0]], [[1, 0]], [[1, 0]]) == pytest.approx(math.log(2) / 2, abs=1e-6)


def test_a_detector_loses_the_cross_entropy_of_its_probabilities():
    logits, synthetic = torch.tensor([0.0, math.log(3)]), torch.tensor([0.0, 1.0])  # probabilities 1/2 and 3/4
    assert float(losses.detector(logits, synthetic)) == pytest.approx(-(math.log(0.5) + math.log(0.75)) / 2, abs=1e-6)
