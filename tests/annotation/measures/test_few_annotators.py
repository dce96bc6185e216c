"""Who differs far from the others among few, by literals; and how often annotators who work alike are listed."""

import random
from collections import Counter

import pytest

from annotation.measures import few_annotators
from annotation.measures.judgments import JUDGE, JudgmentRow

TRUE, FALSE = "yes", "no"


def rows(answers, seconds=None):
    """Judgments of a stage from one {annotator: answer} for each item; times in seconds, by annotator."""
    return [
        JudgmentRow(
            (item, "", 1), JUDGE, True, "", "", 1, number, answer, None, 0,
            round(1000 * (seconds or {}).get(number, 6)), True, False, False, item,
        )
        for item, given in enumerate(answers)
        for number, answer in given.items()
    ]  # fmt: skip


def found(answers, seconds=None):
    listed = few_annotators.few_annotators(rows(answers, seconds), str)
    return [(one["kind"], one["number"], one["words"]) for one in listed["outliers"]], listed["pairs"]


def wrong_on(n, people, wrong, items=20):
    """All answer TRUE, but those in `wrong` answer FALSE on the first `n` items."""
    return [{who: FALSE if who in wrong and item < n else TRUE for who in people} for item in range(items)]


@pytest.mark.parametrize(
    ("answers", "listed"),
    [
        (wrong_on(7, (1, 2, 3), {3}), [3]),
        (wrong_on(6, (1, 2, 3), {3}), []),  # 30 points, but only six answers
        (wrong_on(7, (1, 2, 3), {3}, items=24), []),  # seven answers, but 29 points
        (wrong_on(9, (1, 2, 3), {3}, items=9), []),  # fewer than ten items
        (wrong_on(12, (1, 2, 3, 4, 5), {2, 5}), [2, 5]),
        (wrong_on(20, range(1, 11), {4}), [4]),
        (wrong_on(20, range(1, 12), {4}), []),  # eleven annotators are tested
    ],
)
def test_low_agreement_with_the_most_common_answer_is_30_points_and_seven_answers(answers, listed):
    assert [number for _, number, _ in found(answers)[0]] == listed


def test_an_outlier_is_described_with_its_counts_and_the_furthest_comes_first():
    answers = wrong_on(8, (1, 2, 3, 4, 5), {2, 5})
    for item in range(8, 12):
        answers[item][5] = FALSE
    seconds = {1: 6, 2: 6, 3: 6, 4: 0.9, 5: 7}
    assert found(answers, seconds)[0] == [
        ("agreement", 5, ""),
        ("agreement", 2, ""),
        ("fast", 4, "0.9 s per screen, the others 6.0 s"),
    ]


def test_where_two_judge_an_item_the_pairs_are_compared_and_an_outlier_does_not_hide_another():
    people, careless = (1, 2, 3, 4, 5), {4: FALSE, 5: "cannot tell"}
    pairs = [(one, two) for one in people for two in people if one < two] * 8
    answers = [{one: careless.get(one, TRUE), two: careless.get(two, TRUE)} for one, two in pairs]
    assert found(answers) == ([("agreement", 4, ""), ("agreement", 5, "")], [])


@pytest.mark.parametrize(
    ("apart", "items", "listed"), [(9, 20, [{"first": 1, "second": 2, "same": 11, "n": 20}]), (8, 20, []), (9, 9, [])]
)
def test_of_two_who_disagree_neither_is_listed_but_the_pair(apart, items, listed):
    assert found(wrong_on(apart, (1, 2), {2}, items)) == ([], listed)


def test_pairs_that_work_apart_are_each_a_pair():
    two = [*wrong_on(20, (1, 2), {2}), *wrong_on(20, (3, 4), set())]
    assert [(pair["first"], pair["second"]) for pair in found(two)[1]] == [(1, 2)]


@pytest.mark.parametrize(
    ("times", "fast"),
    [({1: 1999, 2: 6000}, [1]), ({1: 2000, 2: 6000}, []), ({1: 900, 2: 6000, 3: 2100, 4: 6000}, [1]), ({1: 900}, [])],
)
def test_fast_is_under_a_third_of_the_others_median(times, fast):
    assert [one.number for one in few_annotators.fast_outliers(times)] == fast


def test_what_does_not_count_is_not_compared():
    some = rows(wrong_on(20, (1, 2, 3), {3}))
    for change in ({"counted": False}, {"live": False}, {"kind": "check"}):
        left_out = [row._replace(**change) for row in some]
        assert few_annotators.few_annotators(left_out, str) == {"outliers": [], "pairs": []}


# Simulated annotators: 30 judgments each, of five answers


def simulated(dice, errors, overlap, seconds=()):
    """Each item goes to those who have judged least; an error is any of the wrong answers."""
    load, answers = Counter(dict.fromkeys(errors, 0)), []
    for _ in range(30 * len(errors) // overlap):
        given = {}
        for who in sorted(errors, key=lambda who: (load[who], dice.random()))[:overlap]:
            given[who] = dice.randrange(1, 5) if dice.random() < errors[who] else 0
        load.update(given.keys())
        answers.append({who: str(answer) for who, answer in given.items()})
    times = {who: dice.lognormvariate(1.8, 0.3) for who in errors} | dict(seconds)
    return found(answers, times)[0]


@pytest.mark.parametrize("overlap", [5, 3, 2])
def test_five_who_work_alike_are_quiet_in_95_of_100_studies(overlap):
    dice = random.Random(overlap)
    assert sum(bool(simulated(dice, dict.fromkeys(range(1, 6), 0.2), overlap)) for _ in range(100)) <= 5


@pytest.mark.parametrize(("overlap", "least"), [(5, 20), (3, 16), (2, 14)])
def test_two_of_five_with_90_percent_errors_and_one_at_0_9_seconds_are_listed(overlap, least):
    dice, errors = random.Random(overlap), {1: 0.1, 2: 0.9, 3: 0.1, 4: 0.9, 5: 0.1}
    listed = [[(kind, who) for kind, who, _ in simulated(dice, errors, overlap, {3: 0.9})] for _ in range(20)]
    wanted = [{("agreement", 2), ("agreement", 4), ("fast", 3)} == set(one) for one in listed]
    assert sum(wanted) >= least and all(one[-1] == ("fast", 3) for one in listed)
