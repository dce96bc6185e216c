"""BiVLC's measures against literals; the paper's tables 3 and 4: predictions/test_evaluate.py."""

import itertools

import numpy as np
import pytest
from scipy.stats import binomtest

from benchmarks.metrics.base import wilson
from benchmarks.metrics.bivlc import QUESTIONS, SCORES, Answered, accuracies, right
from benchmarks.predictions.kinds import BIVLC
from tests.benchmarks.metrics.records import records_of


@pytest.mark.parametrize("answers", list(itertools.product((True, False), repeat=4)))
def test_a_composite_is_right_where_every_question_of_it_is(answers):
    item = Answered(*answers)
    assert right(item, "i2t") == (answers[0] and answers[1])
    assert right(item, "t2i") == (answers[2] and answers[3])
    assert right(item, "group") == all(answers)
    assert [right(item, name) for name in QUESTIONS] == list(answers)


def test_what_lacks_an_answer_is_left_out_whatever_the_others_are():
    item = Answered(True, False, None, False)
    found = accuracies([item])
    assert {name: (of.right, of.n) for name, of in found.items()} == {
        "i2t": (0, 1), "t2i": (0, 0), "group": (0, 0), "i_pos2t": (1, 1), "i_neg2t": (0, 1), "t_pos2i": (0, 0),
        "t_neg2i": (0, 1),
    }  # fmt: skip
    assert found["group"].share is None and found["group"].low is None and found["group"].reason


def answered(scores) -> list[Answered]:
    """`scores[item][c][i]` is s(C_c, I_i)."""
    return records_of(BIVLC, SCORES, np.reshape(scores, (-1, 4)))


def test_scores_are_compared_as_the_equations_say():
    assert answered([[[0.9, 0.2], [0.1, 0.8]], [[0.3, 0.4], [0.1, 0.8]], [[0.5, 0.2], [0.5, 0.6]]]) == [
        Answered(True, True, True, True),
        Answered(True, True, False, True),
        Answered(False, True, True, True),  # s(C0, I0) = s(C1, I0): a tie
    ]


@pytest.mark.parametrize("count, n", [(0, 1), (1, 1), (0, 500), (452, 500), (500, 500), (2224, 2933)])
def test_the_interval_is_wilsons(count, n):
    assert wilson(count, n) == pytest.approx(binomtest(count, n).proportion_ci(method="wilson"), abs=1e-12)


def test_no_items_no_interval():
    assert wilson(0, 0) == (None, None)
