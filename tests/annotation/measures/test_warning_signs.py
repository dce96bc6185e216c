"""The rules of signs, by literals: from what they speak, and what they say."""

import math
import random
import statistics

import numpy as np
import pytest

from annotation.measures import exact_tests, skill, warning_signs
from annotation.measures.judgments import Coded
from annotation.measures.warning_signs import Beside, Usual
from bench.coverage import signs

FOUR = [(1, 4), (2, 4), (3, 4), (4, 4)]


def places(counts, shown=None):
    return [(place, shown or len(counts)) for place, count in enumerate(counts, 1) for _ in range(count)]


def kinds(found):
    return [sign.kind for sign in found]


# Speed


@pytest.mark.parametrize(("judged", "typical", "shown"), [(20, 1999, True), (20, 2000, False), (19, 100, False)])
def test_fast_is_under_half_of_the_median_from_twenty_judgments(judged, typical, shown):
    assert kinds(warning_signs.fast_sign(judged, typical, Usual(4000, 2000))) == ["fast"] * shown


def test_fast_says_both_times_and_nobody_is_where_nothing_is_judged():
    assert warning_signs.fast_sign(20, 500, Usual(4000, 2000))[0].words == "0.5 s a screen, everybody 4.0 s"
    assert warning_signs.fast_sign(0, None, None) == []


@pytest.mark.parametrize(("sd", "fast"), [(0.0, 0.0), (0.5, 0.02), (1.0, 0.02)])
def test_who_is_as_fast_as_annotators_differ_is_rarely_fast(sd, fast):
    """Twelve annotators of 40 judgments, 100 studies. By half of the median alone: 7.9% at a deviation of 0.5."""
    dice, who, found = np.random.default_rng(3), np.repeat(np.arange(12), 40), []
    for _ in range(100):
        times = np.exp(8.5 + (sd * dice.standard_normal(12))[who] + 0.5 * dice.standard_normal(len(who)))
        usual = warning_signs.usual_times(times, who)
        found += [bool(warning_signs.fast_sign(40, np.median(times[who == one]), usual)) for one in range(12)]
    assert np.mean(found) <= fast


def test_one_who_is_fast_among_others_who_are_alike_is_fast():
    times, who = np.tile([4000, 4400, 3800, 4100, 1900], 20), np.tile(np.arange(5), 20)
    assert warning_signs.usual_times(times, who) == Usual(4000, 2000)
    assert warning_signs.usual_times(np.zeros(5), np.arange(5)) is None


def test_three_standard_deviations_are_of_all_of_them():
    logs = {number: 0.1 * (-1) ** number for number in range(20)} | {20: -3.0}
    summary, away = warning_signs.speed_deviations(logs)
    mean = -3 / 21
    deviation = math.sqrt(sum((log - mean) ** 2 for log in logs.values()) / 20)
    assert (summary["mean"], summary["deviation"], summary["n"]) == pytest.approx((mean, deviation, 21))
    assert away[20] == pytest.approx((-3 - mean) / deviation) and away[20] < -3
    assert kinds(warning_signs.far_sign(away[20], 21)) == ["far"] and warning_signs.far_sign(away[1], 21) == []


def test_of_ten_nobody_can_be_three_standard_deviations_away_nor_where_all_are_equally_fast():
    _, away = warning_signs.speed_deviations(dict.fromkeys(range(10), 0.0) | {10: 5.0})
    assert away[10] == pytest.approx(10 / math.sqrt(11)) and away[10] > 3
    of_ten = {number: float(number == 9) for number in range(10)}  # at most 9 / √10 = 2.85
    assert warning_signs.speed_deviations(of_ten)[1] == {}
    summary, away = warning_signs.speed_deviations(dict.fromkeys(range(12), 0.5))
    assert (away, summary["reason"]) == ({}, "all are equally fast")


# Places


def test_chi_square_of_places_as_the_textbooks_have_it():
    """120 throws of a die, 20 24 15 22 17 22: chi-square 2.9 with 5 degrees of freedom, p = 0.715."""
    found = warning_signs.side_test(places([20, 24, 15, 22, 17, 22]))
    assert (found["chi_square"], found["freedom"]) == (pytest.approx(2.9), 5)
    assert found["p"] == pytest.approx(0.7154, abs=1e-4) and warning_signs.side_sign(found) == []


def test_two_places_are_tested_exactly():
    """Arbuthnot's 82 years in a row, two-sided: 2 × 2^-82."""
    found = warning_signs.side_test(places([82, 0]))
    assert (found["by"], found["p"]) == ("binomial", pytest.approx(2 * 0.5**82))
    assert warning_signs.side_sign(found)[0].words == "chose position 1 in 100% of 82 picks"


def test_expected_places_follow_how_many_were_shown():
    assert warning_signs.expected_places([(1, 2)] * 10 + [(3, 4)] * 8) == [7, 7, 2, 2]


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([19, 0], "fewer than 20 picks"),
        ([10, 5, 5, 2, 1], "too few picks for so many positions"),
        ([], "fewer than 20 picks"),
    ],
)
def test_too_few_picks_are_not_tested(counts, reason):
    found = warning_signs.side_test(places(counts))
    assert (found["p"], found["reason"]) == (None, reason) and warning_signs.side_sign(found) == []


def test_a_habit_of_less_than_ten_points_is_no_sign_however_sure():
    found = warning_signs.side_test(places([5900, 4100]))
    assert found["p"] < 1e-9 and warning_signs.side_sign(found) == []
    assert kinds(warning_signs.side_sign(warning_signs.side_test(places([6000, 4000])))) == ["side"]


# Runs


def test_repeats_and_the_longest_run():
    found = warning_signs.runs_test([(1, 2)] * 3 + [(2, 2)] * 5 + [(1, 2), (2, 2)] * 10)
    assert (found["n"], found["repeats"], found["longest"], found["from"], found["place"]) == (28, 6, 5, 3, 2)


def test_taking_turns_is_a_sign_too():
    found = warning_signs.runs_test(FOUR * 15)
    assert found["p_repeats"] == pytest.approx(2 * 0.75**59) and found["longest"] == 1
    assert warning_signs.runs_sign(found)[0].words == "chose the last position again 0 times, by chance 15"


def test_a_long_run_among_random_picks_is_a_sign():
    dice = random.Random(1)
    picks = [(dice.randint(1, 4), 4) for _ in range(100)]
    assert warning_signs.runs_sign(warning_signs.runs_test(picks)) == []
    found = warning_signs.runs_sign(warning_signs.runs_test([*picks, *[(2, 4)] * 10]))
    assert found[0].words.startswith("chose position 2 1")


@pytest.mark.parametrize("picks", [[], [(1, 4)], [(1, 4)] * 19])
def test_few_picks_make_no_test_of_runs(picks):
    assert warning_signs.runs_test(picks)["p"] is None and warning_signs.runs_sign(warning_signs.runs_test(picks)) == []


# Against the others


def answers(*columns: str, excluded: str = "") -> tuple:
    """What each annotator answered to the same tasks, one letter each; of the first, and the others' to compare."""
    rows = [(task, who, said) for who, given in enumerate(columns) for task, said in enumerate(given) if said != "-"]
    task, who, said = zip(*rows, strict=True)
    part = Coded.of([("", "")] * len(rows))
    stage = skill.StageAnswers(Coded.of(task), part, np.array(who), Coded.of(said))
    others = stage.estimates_beside(None if excluded else 0, least=0)
    own = stage.of_excluded(Coded.of(range(len(excluded))), Coded.of(list(excluded))) if excluded else stage.own[0]
    return own, others


def test_an_answer_that_others_give_less_often_to_the_same_tasks():
    others = ["aaaab" * 12, "aabaa" * 12, "abaaa" * 12, "baaaa" * 12] * 2
    found = warning_signs.answers_test(*answers("b" * 60, *others))
    (sign,) = warning_signs.answers_sign(found)
    assert sign.words == "a in 0% of 60 answers, others 80%"  # of two answers with the same p the first
    assert warning_signs.answers_test(*answers(*others, excluded="b" * 60))["p"] < 0.001


def test_an_answer_that_fits_the_tasks_is_no_sign_however_rare_elsewhere():
    """Only the first annotator had the tasks that are b, as in a batch of its own with one other."""
    found = warning_signs.answers_test(*answers("b" * 40 + "-" * 80, "b" * 40 + "-" * 80, "-" * 40 + "a" * 80))
    assert found["p"] is None and warning_signs.answers_sign(found) == []


def _plain_estimate(own: str, columns: list[str], label: str) -> skill.Estimate:
    shares = [task.count(label) / len(task) for task in map("".join, zip(*columns, strict=True))]
    variance = sum(share * (1 - share) for share in shares)
    return skill.Estimate((own.count(label) - sum(shares)) / variance, 1 / variance)


def _plain_p(own: str, columns: list[str], label: str) -> float:
    """By the definition: a convolution for each task, and each of the others' estimates computed anew."""
    sums = np.ones(1)
    for task in map("".join, zip(*columns, strict=True)):
        sums = np.convolve(sums, exact_tests.binomial_distribution(1, task.count(label) / len(task)))
    mine = _plain_estimate(own, columns, label)
    others = [_plain_estimate(one, columns, label) for one in columns[1:]]
    middle = statistics.median(one.value for one in others)
    above = skill.Estimate(middle + abs(mine.value - middle), mine.variance)
    beyond = skill.p_above(above, np.array(others), middle)
    return min(1.0, max(exact_tests.two_sided(sums, own.count(label)), 2 * beyond))


@pytest.mark.parametrize("labels", ["ab", "abc"])
@pytest.mark.parametrize("seed", range(5))
def test_the_test_of_answers_equals_its_plain_definition(labels, seed):
    dice = random.Random(seed)
    columns = ["".join(dice.choices(labels, range(1, len(labels) + 1), k=40)) for _ in range(2 + seed)]
    plain = {label: _plain_p(columns[0], columns, label) for label in labels}
    found = warning_signs.answers_test(*answers(*columns))
    assert found["p"] == pytest.approx(min(1.0, len(labels) * min(plain.values())), rel=1e-9)
    assert plain[found["label"]] == pytest.approx(min(plain.values()), rel=1e-9)


def test_who_differs_as_others_do_gets_no_sign():
    """Each gives another share of b, from none to all: 12 annotators of the same 60 tasks."""
    given = ["b" * (5 * at) + "a" * (60 - 5 * at) for at in range(13)]
    assert warning_signs.answers_sign(warning_signs.answers_test(*answers(*given))) == []


@pytest.mark.parametrize("columns", [("b" * 19, "a" * 19), ("b" * 60,), ("a" * 60, "a" * 60)])
def test_answers_that_cannot_be_compared_are_not_tested(columns):
    found = warning_signs.answers_test(*answers(*columns))
    assert found["p"] is None and found["reason"] and warning_signs.answers_sign(found) == []


def test_less_agreement_than_a_typical_annotator():
    compared = {"answer": (40, 100, Beside(0.8, 1e-6)), "any or none": (70, 100, Beside(0.9, 1e-4))}
    found = warning_signs.agreement_test(compared)
    assert (found["on"], found["n"], found["p"]) == ("answer", 100, 2e-6)
    words = "gave what most gave on 40% of 100 screens, others on 80% (answer)"
    assert warning_signs.agreement_sign(found)[0].words == words


@pytest.mark.parametrize(
    "compared",
    [
        (98, 100, Beside(0.6, 1.0)), (72, 100, Beside(0.8, 0.0)), (2, 19, Beside(0.9, 0.0)), (10, 100, None),
        (40, 100, Beside(0.8, 0.01)),
    ],
    ids=["more", "less than ten points", "too few", "nobody else", "as the others differ"],
)  # fmt: skip
def test_what_is_no_sign_of_less_agreement(compared):
    assert warning_signs.agreement_sign(warning_signs.agreement_test({"answer": compared})) == []


@pytest.mark.parametrize("cell", [signs.CELLS[2], signs.CELLS[3]], ids=str)
def test_honest_annotators_of_different_skill_or_in_batches_rarely_get_a_sign(cell):
    """`python -m bench.coverage signs` has 1,000 studies of every cell, and those before."""
    assert signs.found(cell, studies=40).studies <= 0.1


# Together


def test_speed_alone_is_not_about_answers():
    about_answers = [warning_signs.concern_answers(kinds) for kinds in (["fast", "far"], ["fast", "side"], [])]
    assert about_answers == [False, True, False]


def test_random_picks_rarely_show_a_sign():
    """4 tests of 2,000 at 0.001 would be 8 by chance alone; the ten points leave fewer."""
    dice, found = random.Random(7), 0
    for _ in range(1000):
        picks = [(dice.randint(1, 4), 4) for _ in range(60)]
        found += bool(warning_signs.signs_of_work(60, 4000, Usual(4000, 2000), picks))
    assert found <= 6
