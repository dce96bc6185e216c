"""The interval of a share when annotators differ: by hand, against the cluster-robust variance, at its limits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.measures.over_annotators import ANNOTATORS, ITEMS, effective_n, interval, spread
from bench.coverage import human_baseline as bench
from bench.coverage import scores
from benchmarks.metrics.base import wilson
from tests.independent import baselines
from tests.independent.clusters import half_widths


def of_clusters(clusters: list[str]) -> dict:
    """Of annotators with items of their own: "110" has two right items and a wrong one."""
    return interval(
        [item == "1" for items in clusters for item in items],
        [[number] for number, items in enumerate(clusters) for _ in items],
    )


def over_items(clusters: list[str]) -> tuple[float, float]:
    items = "".join(clusters)
    return wilson(items.count("1"), len(items))


def test_four_annotators_by_hand():
    """12 of 16. Between annotators the mean square is (1 + 1 + 0 + 4) / 4 / 3 = 1/2, within them 3/2 / 12 = 1/8. The
    variance of the mean is (1/8) / 16 by the items and (1/2 − 1/8) / 4 / 4 by the annotators, 1/32 in all, where
    independent items have 3/15 / 16 = 1/80.
    """
    clusters = ["1111", "1111", "1110", "1000"]
    freedom = ((1 / 32) / (1 / 128 / (3 * 12 / 15) ** 0.5 + 3 / 128 / 3**0.5)) ** 2
    part = (1 / freedom - 1 / 3) / (1 / 2 - 1 / 3)
    t = 3.182446305 + part * (4.302652730 - 3.182446305)
    found = of_clusters(clusters)
    assert found["effective"] == pytest.approx(16 / 2.5 * (1.959963985 / t) ** 2, rel=1e-9)
    assert found["effective"] == pytest.approx(2.23504, abs=1e-5) and found["over"] == ANNOTATORS
    assert (found["low"], found["high"]) == wilson(0.75 * found["effective"], found["effective"])
    assert found["low"] < over_items(clusters)[0] < over_items(clusters)[1] < found["high"]


def test_equal_annotators_have_the_cluster_robust_variance():
    """Times m / (m − 1), whatever else the effective n has: with 200 annotators t is all but 1.96."""
    dice = np.random.default_rng(3)
    right = (dice.random((200, 6)) < dice.beta(4, 1, (200, 1))).astype(float)
    totals = (right - right.mean()).sum(axis=1)
    robust = (totals**2).sum() / right.size**2 * 200 / 199
    found = effective_n(right.ravel(), np.repeat(np.arange(200), 6)[:, None], np.ones((1200, 1)))
    assert found.n == pytest.approx(right.var(ddof=1) / robust, rel=0.02) and found.n < 1100


@pytest.mark.parametrize(
    "clusters",
    [
        ["1110"] * 5,  # alike
        ["1", "1", "0", "1", "1"],  # one item each
        ["1111"] * 3,  # no wrong answer
        ["10", "01", "11", "01"],  # more alike than chance has it
    ],
)
def test_it_is_wilsons_over_items(clusters):
    found = of_clusters(clusters)
    n = sum(map(len, clusters))
    assert found == dict(zip(("low", "high"), over_items(clusters), strict=True)) | {"effective": n, "over": ANNOTATORS}


def test_the_more_annotators_differ_the_wider():
    widths = []
    for clusters in (["11110000"] * 4, ["11111100", "11000000"] * 2, ["11111110", "10000000"] * 2):
        found = of_clusters(clusters)
        widths.append(found["high"] - found["low"])
    assert widths == sorted(set(widths))


@pytest.mark.parametrize(
    "judged_by",
    [
        [[1]] * 12,  # one annotator
        [[1, 2, 3]] * 12,  # the same people all items
        [[1, 2, 3, 4], [1, 2, 3, 5]] * 6,  # nearly
        [[1]] * 60 + [[2]],  # one annotator nearly all
    ],
)
def test_where_nobody_can_tell_how_annotators_differ_it_is_over_items(judged_by):
    right = [place % 3 > 0 for place in range(len(judged_by))]
    found = interval(right, judged_by)
    assert found["over"] == ITEMS and found["effective"] == len(right)
    assert (found["low"], found["high"]) == wilson(sum(right), len(right))


def test_no_items_have_no_interval():
    assert set(interval([], []).values()) == {None}


def test_what_an_adjudicator_decided_alone_is_independent():
    judged_by = [[1], [1], [1], [2], [2], [2], [], []]
    named = [[1], [1], [1], [2], [2], [2], [8], [9]]
    right = [True, True, True, False, False, True, True, False]
    assert interval(right, judged_by) == interval(right, named)


def test_who_judged_each_item_several_times_counts_by_the_share_of_judgments():
    """Four questions of an item by one annotator are one judgment of it; three by A and one by B are not two halves."""
    dice = np.random.default_rng(5)
    right = [bool(one) for one in dice.random(60) < np.repeat([0.95, 0.9, 0.5, 0.8, 1, 0.6], 10)]
    owner = [place // 10 for place in range(60)]
    assert interval(right, [[who] * 4 for who in owner]) == interval(right, [[who] for who in owner])
    mixed = [[who, who, who, (who + 1) % 6] for who in owner]
    assert interval(right, mixed)["effective"] != interval(right, [[who, (who + 1) % 6] for who in owner])["effective"]


@st.composite
def judged(draw) -> tuple[list[bool], list[list[int]]]:
    people = draw(st.integers(1, 6))
    items = draw(
        st.lists(st.tuples(st.booleans(), st.lists(st.integers(1, people), max_size=4)), min_size=1, max_size=40)
    )
    return [right for right, _ in items], [by for _, by in items]


@given(judged())
def test_the_second_implementation_agrees_and_it_is_never_narrower(case):
    right, judged_by = case
    found = interval(right, judged_by)
    assert 0 < found["effective"] <= len(right)
    rows = np.zeros((len(right), 7 + len(right)))
    for place, by in enumerate(judged_by):
        for who in by or [7 + place]:
            rows[place, who] += 1 / max(1, len(by))
    effective, over = baselines.effective_n(np.array(right, dtype=float), rows)
    assert (found["effective"], found["over"]) == (pytest.approx(effective, rel=1e-7), over)


@pytest.mark.parametrize(
    ("design", "sd", "p", "least"), [(0, 0.5, 0.868, 0.92), (1, 1, 0.95, 0.87), (8, 1, 0.868, 0.88)]
)
def test_it_holds_the_truth_where_the_interval_over_items_does_not(design, sd, p, least):
    """Within 2.5 standard errors of what `python -m bench.coverage` has for all designs."""
    found = bench.coverage(replace(bench.DESIGNS[design], sd=sd, p=p), studies=300)
    assert found["annotators"][0] >= least and found["items"][0] < 0.9


# What each judgment has a part in


@st.composite
def parts(draw) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n = draw(st.integers(3, 40))
    items = draw(st.lists(st.integers(0, 8), min_size=n, max_size=n).filter(lambda of: len(set(of)) > 1))
    people = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    values = np.array(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)), dtype=float)
    return (values - values.mean()) / n, *(np.unique(of, return_inverse=True)[1] for of in (items, people))


@given(parts())
def test_clusters_by_item_and_annotator_agree_with_a_second_formula(case):
    own, items, people = case
    these, others = spread(np.column_stack([own, 2 * own]), items, people)
    half, wider = half_widths(own, items.tolist(), people.tolist())
    assert (these.half(0), these.half(1)) == pytest.approx((half, 2 * half), abs=1e-9)
    assert (others is None) == (wider is None)
    if others is not None:
        assert others.half(0) == pytest.approx(wider, abs=1e-9, rel=1e-6) and others.variance[0] >= these.variance[0]


@pytest.mark.parametrize("name", scores.MEASURES)
def test_scores_hold_for_other_annotators(name):
    """`python -m bench.coverage scores` has 1,000 studies of every cell."""
    these, others, _ = scores.over_annotators(name, items=50, people=10, sd=1.0, studies=200)
    assert others >= 0.86 and these < 0.9
