"""Lists of tasks by who is wrong, and their order."""

import numpy as np
import pytest

from annotation.charts.study import Subject
from annotation.comparison.charts import MOST, margins
from annotation.comparison.disagreements_with_models import (
    AGAINST,
    ALL,
    ENTROPY,
    ITEM,
    MARGIN,
    MISSED,
    SPLIT,
    WRONG,
    Table,
)

NONE = np.nan


def table(people, models, entropy=None, margins=None) -> Table:
    models = np.array(models)
    n = len(people)
    given = np.zeros(n) if entropy is None else np.array(entropy)
    found = np.full(models.shape, NONE) if margins is None else np.array(margins, float)
    return Table(np.arange(10, 10 + n), np.array(people), given, models, found)


#          right, all miss · right, one of two · wrong, all right · wrong, all wrong · undecided
SOME = table([1, 1, 0, 0, -1], [[0, 0, 1, 0, 0], [0, 1, 1, 0, 0]], entropy=[0, 1, 0.92, 0, 1])


@pytest.mark.parametrize(
    ("which", "tasks"), [(MISSED, [10]), (AGAINST, [10, 12]), (SPLIT, [11, 12, 14]), (ALL, [10, 11, 12, 13, 14])]
)
def test_each_list_has_its_tasks(which, tasks):
    assert SOME.listed(which, ITEM).tolist() == tasks


def test_counts_are_those_of_the_lists():
    assert SOME.counts() == {which: len(SOME.listed(which, ITEM)) for which in (MISSED, AGAINST, SPLIT, ALL)}


def test_one_of_two_models_that_answered_agrees_with_nobody():
    assert table([1], [[0], [-1]]).listed(AGAINST, ITEM).tolist() == []
    assert table([1], [[0]]).listed(AGAINST, ITEM).tolist() == [10]


def test_what_no_model_answered_is_missed_by_none():
    assert table([1, 0], [[-1, -1], [-1, -1]]).counts() == {MISSED: 0, AGAINST: 0, SPLIT: 0, ALL: 2}


@pytest.mark.parametrize(
    ("sort", "tasks"),
    [(WRONG, [12, 11, 10, 13]), (MARGIN, [12, 11, 10, 13]), (ENTROPY, [13, 11, 12, 10]), (ITEM, [10, 11, 12, 13])],
)
def test_orders(sort, tasks):
    found = table([1] * 4, [[1, 0, 0, -1], [1, 1, 0, -1]], [0, 1, 1 - 1e-6, 1.5], [[2, 1, -1, NONE], [1, 0, -1, NONE]])
    assert found.listed(ALL, sort).tolist() == tasks


def test_a_mean_margin_is_of_the_models_that_have_one():
    assert table([1], [[1], [1]], margins=[[3], [NONE]]).margin.tolist() == [3]


def test_the_figure_says_its_rank_correlation_with_n_and_interval():
    found = table([1] * 6, [[1] * 6], [0, 0, 1, 1, 1.5, 1.5], [[6, 5, 4, 3, 2, 1]])
    drawn = margins(found, Subject(1, "Cups", "2026-01-01T00:00:00+00:00"))
    assert "6 tasks" in drawn.description and "−0.96" in drawn.description and "n = 6" in drawn.description
    assert drawn.rows[0] == [0, 6, "right"]


def test_a_figure_of_many_draws_some_and_says_how_many():
    found = table([1] * 1200, [[1] * 1200], margins=[np.arange(1200)])
    drawn = margins(found, Subject(1, "Cups", "2026-01-01T00:00:00+00:00"))
    assert (
        len(drawn.rows) == 400 <= MOST
        and "400 of 1,200" in drawn.caption
        and "No rank correlation" in drawn.description
    )
