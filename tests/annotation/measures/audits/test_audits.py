"""Audits: the order, the intervals and their guarantees, planning, and replays of a known truth."""

import hashlib
import json
from math import comb

import numpy as np
import pytest

from annotation.measures.audits import intervals, sentence, side_information, stratified
from annotation.measures.audits.figures import audit_figures, to_come
from annotation.measures.audits.intervals import Bounds
from annotation.measures.audits.order import order_hash, sampling_order
from annotation.measures.audits.plan import Plan, Target, plan
from annotation.measures.audits.replay import Truth, replay, replays
from annotation.measures.audits.running import progress
from bench.audits import benchmark, by_width_exactly, simulated
from bench.coverage import strata
from benchmarks.metrics.base import wilson

KEYS = [f"i{number}" for number in range(40)]
WIDTH, ANY_LOOK = Target(half_width=0.02), Target(half_width=0.02, at_any_look=True)


def test_the_order_is_a_permutation_of_the_seed_alone():
    order = sampling_order(KEYS, 1)
    assert sorted(order.keys) == sorted(KEYS)
    assert order == sampling_order(KEYS[::-1], 1) != sampling_order(KEYS, 2)
    assert order.sha256 == hashlib.sha256("".join(f"{key}\n" for key in order.keys).encode()).hexdigest()
    assert order_hash(order.keys[::-1]) != order.sha256


def test_each_beginning_of_the_order_is_proportional_in_the_strata():
    strata = {key: "few" if number < 10 else "many" for number, key in enumerate(KEYS)}
    keys = sampling_order(KEYS, 1, strata).keys
    for n in range(1, len(keys) + 1):
        assert abs(sum(strata[key] == "few" for key in keys[:n]) - n / 4) <= 1


def test_by_width_is_wilson_s_interval_for_few_of_very_many():
    bounds = intervals.by_width(np.array([50]), np.array([3]), 10**9)
    assert (bounds.low[0], bounds.high[0]) == pytest.approx(wilson(3, 50), abs=1e-6)


def test_at_any_look_is_the_set_of_counts_that_the_ratio_leaves():
    """By every count, with exact whole numbers, for all looks at a benchmark of 30."""
    size = 30
    for n in range(1, size + 1):
        for wrong in range(n + 1):
            ways = {
                count: comb(count, wrong) * comb(size - count, n - wrong)
                for count in range(wrong, size - n + wrong + 1)
            }
            inside = [count for count, of in ways.items() if of * (n + 1) * 20 > comb(size, n)]
            found = intervals.any_look(np.array([n]), np.array([wrong]), size)
            assert (found.low[0] * size, found.high[0] * size) == pytest.approx((inside[0], inside[-1]))


@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_all_intervals_are_the_truth_once_all_are_judged(share):
    wrong = np.random.default_rng(1).permutation(benchmark(60, share))
    n, scores = np.arange(1, 61), np.random.default_rng(2).standard_normal(60)
    for bounds in (
        intervals.by_width(n, np.cumsum(wrong), 60),
        intervals.narrowing(intervals.any_look(n, np.cumsum(wrong), 60)),
        stratified.by_width(wrong, n % 3),
        side_information.by_width(wrong, scores, scores),
        side_information.any_look(wrong, scores, scores),
    ):
        assert (bounds.low[-1], bounds.high[-1], bounds.estimate[-1]) == pytest.approx((share,) * 3)
        assert (bounds.low <= bounds.estimate).all() and (bounds.estimate <= bounds.high).all()


def test_where_the_looks_leave_nothing_the_look_alone_counts():
    looks = Bounds(np.array([0.1, 0.0, 0.5, 0.4]), np.array([0.9, 0.3, 0.6, 0.5]), np.array([0.5, 0.1, 0.55, 0.45]))
    found = intervals.narrowing(looks)
    assert found.low.tolist() == [0.1, 0.1, 0.5, 0.4] and found.high.tolist() == [0.9, 0.3, 0.6, 0.5]


def test_strata_that_say_all_make_the_interval_narrow_and_others_never_wider():
    wrong = np.tile([1, 0, 0, 0], 100)
    n = np.arange(1, 401)
    plain = intervals.by_width(n, np.cumsum(wrong), 400)
    known, useless = stratified.by_width(wrong, 1 - wrong), stratified.by_width(wrong, n // 4 % 2)
    assert known.half_width[100] < plain.half_width[100] / 3
    assert useless.half_width[100] == pytest.approx(plain.half_width[100], rel=0.02)
    assert (useless.half_width <= plain.half_width * 1.02).all()


@pytest.mark.parametrize("design", [strata.DESIGNS[0], strata.DESIGNS[-1]], ids=lambda one: f"{one.sizes}")
def test_strata_in_which_nearly_all_or_none_are_wrong_cover_the_truth(design):
    """Such an audit once stopped at zero width, with the truth in 45 to 53% of the orders."""
    held, judged = strata.coverage(design, 300)
    assert held >= 0.93 and judged < 200


def test_strata_that_differ_little_cost_few_items():
    """Without the variance of ten more the audits stopped after 353 items."""
    held, judged = strata.coverage(strata.DESIGNS[7], 300)
    assert held >= 0.93 and judged < 353 + 10


def test_no_stratum_with_both_kinds_is_no_interval_without_width():
    wrong = np.array([1, 0, 0, 0, 0] * 6)
    found = stratified.by_width(np.array(wrong), np.resize(1 - wrong, 5000))
    assert found.estimate[-1] == pytest.approx(0.2) and found.half_width[-1] > 0.05


@pytest.mark.parametrize(
    ("target", "guess", "expected"),
    [(WIDTH, 0.02, 210), (WIDTH, 0.05, 450), (WIDTH, 0.3, 1590), (ANY_LOOK, 0.02, 666), (ANY_LOOK, 0.1, 2279)],
)
def test_a_plan_expects_by_the_guess_and_never_needs_more_than_its_worst(target, guess, expected):
    assert plan(7511, target, guess) == Plan(expected, plan(7511, target).most)


def test_a_plan_without_a_guess():
    assert plan(7511, WIDTH) == Plan(None, 1820)
    assert plan(1, WIDTH) == Plan(None, 1)


@pytest.mark.parametrize("at_any_look", [False, True])
def test_no_rate_needs_more_than_the_plan_says(at_any_look):
    target = Target(half_width=0.1, at_any_look=at_any_look)
    most = plan(90, target).most
    n, wrong = np.full(most + 1, most), np.arange(most + 1)
    bounds = (intervals.any_look if at_any_look else intervals.by_width)(n, wrong, 90)
    assert target.met(bounds).all()


def test_a_plan_goes_on_from_what_was_judged():
    bound = Target(at_most=0.05, at_any_look=True)
    assert plan(7511, bound, 0.0) == Plan(156, 7511)
    assert plan(7511, bound, 0.02) == Plan(523, 7511)
    after = plan(7511, WIDTH, 0.0, n=400, wrong=20)
    assert after.expected < plan(7511, WIDTH, 0.05, n=400, wrong=20).expected < after.most


@pytest.mark.parametrize("given", [{}, {"half_width": 0.1, "at_most": 0.1}, {"at_most": 0.1}])
def test_a_target_is_a_width_or_a_bound_at_any_look(given):
    with pytest.raises(ValueError, match=r"half-width|any look"):
        Target(**given)


@pytest.mark.parametrize(("share", "about"), [(0.02, 202), (0.05, 432), (0.1, 776), (0.3, 1592)])
def test_by_width_audits_stop_where_others_computed_and_hold_the_truth(share, about):
    found = by_width_exactly(7511, share)
    assert found.coverage >= 0.94 and found.mean_n == pytest.approx(about, rel=0.01)


@pytest.mark.parametrize(
    ("size", "share", "half_width", "coverage"),
    [(500, 0.058, 0.02, 0.9252), (2933, 0.045, 0.02, 0.9281), (500, 0.002, 0.03, 0.88), (7511, 0.001, 0.02, 0.8983)],
)
def test_the_lowest_coverage_by_width_is_the_one_that_is_documented(size, share, half_width, coverage):
    assert by_width_exactly(size, share, half_width).coverage == pytest.approx(coverage, abs=5e-5)


def test_at_any_look_even_the_worst_look_holds_the_truth():
    assert simulated(500, 0.05, "any_look", 100).coverage >= 0.95


def test_a_useless_score_costs_little_and_a_good_one_saves_half_of_the_items():
    plain, useless, good = (
        simulated(7511, 0.1, method, 60).mean_n for method in ("width", "width-random", "width-good")
    )
    assert useless <= 1.05 * plain and good <= plain / 2


def test_at_any_look_too():
    plain, useless, good = (
        simulated(2933, 0.02, method, 6) for method in ("any_look", "any_look-random", "any_look-good")
    )
    assert useless.mean_n <= 1.05 * plain.mean_n and good.mean_n <= plain.mean_n / 2
    assert useless.coverage >= 0.75 and good.coverage >= 0.75


@pytest.mark.parametrize("by", [side_information.by_width, side_information.any_look])
@pytest.mark.parametrize(("drawn", "size"), [(150, 150), (70, 300), (300, 9001)])
def test_with_scores_later_draws_change_nothing_before_them(by, drawn, size):
    """The larger benchmark has cells of several numbers of wrong items."""
    dice = np.random.default_rng(2)
    wrong, scores = dice.permutation(benchmark(size, 0.2)), dice.standard_normal(size)
    whole, part = by(wrong, scores, scores), by(wrong[:drawn], scores[:drawn], scores)
    for of in ("low", "high", "estimate"):
        assert getattr(part, of).tolist() == getattr(whole, of)[:drawn].tolist()


def test_until_the_next_look_the_bets_are_computed_once_and_the_same_figures_too():
    """A check after each outcome and a page with several figures must not take long."""
    dice = np.random.default_rng(4)
    wrong, scores = dice.permutation(benchmark(400, 0.2)).astype(bool).tolist(), dice.random(400).tolist()
    target, before = Target(half_width=0.05, at_any_look=True), side_information._bets.cache_info().misses
    found = [progress([*wrong[:n], *[None] * (400 - n)], target, scores=scores) for n in (156, 157, 158, 158)]
    assert [one.n for one in found] == [156, 157, 158, 158] and found[2] is found[3]
    assert side_information._bets.cache_info().misses == before + 1


def test_with_scores_at_any_look_is_never_wider_than_the_ratio_at_half_of_the_level():
    wrong, scores = np.random.default_rng(3).permutation(benchmark(400, 0.5)), np.zeros(400)
    ratio = intervals.narrowing(
        intervals.any_look(np.arange(1, 401), np.cumsum(wrong), 400, side_information.ALPHA_OF_RATIO)
    )
    found = side_information.any_look(wrong, scores, scores)
    assert (found.low >= ratio.low).all() and (found.high <= ratio.high).all()


@pytest.mark.nightly
def test_nightly_grid():
    for size in (500, 2933):
        for share in (0.005, 0.02, 0.12, 0.3):
            assert simulated(size, share, "any_look", 500).coverage >= 0.95
            for scores in ("random", "good"):
                assert simulated(size, share, f"any_look-{scores}", 300).coverage >= 0.95


@pytest.mark.real
@pytest.mark.parametrize(("at_any_look", "runs"), [(False, 60), (True, 6)])
def test_an_audit_of_valse(real, at_any_look, runs):
    """The votes of five pieces are the truth: 446 of 4,148 items have fewer than two votes for the caption."""
    pieces = {path.stem: json.loads(path.read_text()) for path in (real / "data/valse").glob("*.json")}
    wrong = {key: item["mturk"]["caption"] < 2 for piece in pieces.values() for key, item in piece.items()}
    truth = Truth(wrong, {key: name for name, piece in pieces.items() for key in piece})
    found = replays(truth, Target(half_width=0.03, at_any_look=at_any_look), seed=0, runs=runs)
    assert (found["items"], found["truth"]) == (4148, pytest.approx(0.1075, abs=1e-4))
    assert found["coverage"] >= 0.9
    assert found["mean_n"] == pytest.approx(877 if at_any_look else 370, rel=0.2)


def test_a_replay_says_which_order_it_took():
    truth = Truth({key: number % 4 == 0 for number, key in enumerate(KEYS)})
    found = replay(truth, Target(half_width=0.1), seed=3)
    assert found.order == sampling_order(KEYS, 3)
    assert found.n < 40 and found.covers and found.low <= found.estimate <= found.high


STATES = [  # of 200 items: half-width, bound, wrong items judged, right ones after them; the state
    (0.1, None, 2, 3, None, "not met yet", "The target is not met yet."),
    (0.1, None, 5, 85, True, "met", "The target is met."),
    (None, 0.5, 0, 0, None, "not met yet", "The target is not met yet."),
    (None, 0.5, 20, 20, None, "not met yet", "The target is not met yet."),
    (None, 0.5, 5, 95, True, "met", "The target is met."),
    (None, 0.5, 100, 99, None, "not met yet", "The target is not met yet."),
    (None, 0.5, 100, 100, True, "met", "The target is met."),
    (None, 0.5, 101, 0, False, "not met, and cannot be met any more",
     "The target is not met, and cannot be met any more: 101 of 200 items are wrong, more than 50% even if no other "
     "is."),
    (None, 0.5, 129, 71, False, "not met", "The target is not met: 129 of all 200 items are wrong, more than 50%."),
    (0.1, None, 100, 100, True, "met", "The target is met."),
]  # fmt: skip


@pytest.mark.parametrize(("half_width", "at_most", "wrong", "right", "met", "standing", "verdict"), STATES)
def test_the_state_of_a_target_in_figures_and_sentences(half_width, at_most, wrong, right, met, standing, verdict):
    target = Target(half_width, at_most, at_most is not None)
    settled = [*[True] * wrong, *[False] * right, *[None] * (200 - wrong - right)]
    found = progress(settled, target)
    assert (found.met, sentence.standing(found.met, found.ended), sentence.verdict(found, target)) == (
        met,
        standing,
        verdict,
    )
    settings = {"stratify": False, "target_half_width": half_width, "target_bound": at_most, "any_look": bool(at_most)}
    assert audit_figures(settled, [""] * 200, settings, "x")["met"] is met
    work = sentence.Work(1)
    told = sentence.sentence(
        found, target, work, benchmark="Cups", stratified=False, seed=1, sha256="x", decision="One decides."
    )
    assert f"; target {sentence.aim(target)}, {standing})." in told if wrong else told == ""


OPEN_ITEMS = [True, False, False, None, False, True]  # the first of an order of 200
CHANGE = sentence.Change(0.1, 0.2, 13)
SENTENCES = [  # half-width, bound; items of the order; who; changes of the target; what is told, what is not
    ((0.1, None), [True], sentence.Work(1), (), ["1 was judged, drawn", "1 was judged wrong (100.0%"],
     ["later", "more"]),
    ((0.1, None), OPEN_ITEMS, sentence.Work(2), (),
     ["3 were judged, drawn", "1 was judged wrong", "2 later items are also judged but do not count yet: an earlier "
      "one is open. Of the first 6, 1 is open: 33.3% are wrong if none of these is, 50.0% if all are (95% interval, "
      "whatever they are, 9.8 to 81.0%).", "not met yet", "Judged by 2 annotators. One decides."], ["had ended"]),
    ((0.1, None), [None, True, False], sentence.Work(0), (),
     ["2 later items are also judged but do not count yet: an earlier one is open. Of the first 3, 1 is open"],
     ["Cups"]),
    ((0.5, None), [True, *[False] * 11], sentence.Work(3, 2), (),
     ["10 were judged", "2 later items are also judged but do not count: the audit had ended.", "± 50%, met)",
      "Judged by 3 annotators (2 of them simulated). One decides."], ["not count yet"]),
    ((0.1, None), OPEN_ITEMS, sentence.Work(1, 1, adjudicated=2, undecided=1, closed=True), (CHANGE,),
     ["target ± 10%, not met: the stage was closed before)", "1 more was dropped for another reason and does not "
      "count as wrong.", "The target was changed from ± 10% to ± 20% after 13 items, so the audit did not stop at a "
      "width set in advance and the interval is not nominal.", "Judged by 1 annotator (simulated); adjudicators "
      "decided 2 items. One decides."], ["not met yet"]),
    ((0.1, None), OPEN_ITEMS, sentence.Work(1), (sentence.Change(0.2, 0.1, 13),), ["± 20% to ± 10% after"],
     ["nominal."]),
    ((None, 0.5), [True] * 30, sentence.Work(1), (sentence.Change(0.4, 0.5, None),),
     ["at most 50% wrong, not met, and with 95% confidence out of reach)", "from 40% to 50%.", "whenever the"],
     ["not nominal"]),
    ((0.1, None), [False] * 9, sentence.Work(1), (), ["below 0.5% wrong such intervals miss the truth in up to 12%"],
     ["met)"]),
    ((None, 0.5), [False] * 9, sentence.Work(1), (), ["8 were judged", "50% wrong, met)", "1 later item is"],
     ["below 0.5%"]),
]  # fmt: skip


@pytest.mark.parametrize(("aimed", "first", "work", "changes", "said", "unsaid"), SENTENCES)
def test_the_sentence_is_true_in_every_state(aimed, first, work, changes, said, unsaid):
    target = Target(*aimed, aimed[1] is not None)
    found = progress([*first, *[None] * (200 - len(first))], target)
    told = sentence.sentence(
        found, target, work, benchmark="Cups", stratified=False, seed=1, sha256="x", decision="One decides.",
        changes=changes,
    )  # fmt: skip
    assert [part for part in said if part not in told] == [] and [part for part in unsaid if part in told] == [], told


def test_a_bound_that_cannot_be_met_goes_on_unless_somebody_stops_it():
    found = progress([True] * 101 + [None] * 99, Target(at_most=0.5, at_any_look=True))
    assert not found.ended and (found.plan.expected, found.plan.most) == (200, 200)


def test_an_audit_that_was_asked_to_stops_as_soon_as_its_bound_is_out_of_reach():
    """At the first look whose lower end is above the bound; nobody asked, and it goes on."""
    wrong, goes_on = [True] * 60 + [None] * 140, Target(at_most=0.5, at_any_look=True)
    asked = Target(at_most=0.5, at_any_look=True, stops_if_futile=True)
    looks = intervals.narrowing(intervals.any_look(np.arange(1, 61), np.arange(1, 61), 200))
    first = int(np.argmax(looks.low > 0.5)) + 1
    found, other = progress(wrong, asked), progress(wrong, goes_on)
    assert (found.n, found.ended, found.met, found.futile) == (first, True, False, True) and first < 20
    assert (other.n, other.ended, other.met, other.futile) == (60, False, None, True)
    low = sentence.percent(found.low)
    assert sentence.verdict(found, asked) == (
        f"The target is not met: at least {low} of the items are wrong (95% interval), more than 50%."
    )
    truth = Truth({f"i{number}": number < 130 for number in range(200)})
    assert replay(truth, asked).n < replay(truth, goes_on).n == 200 and not replay(truth, asked).met


@pytest.mark.parametrize(("share", "met", "missed_after"), [(0.3, True, None), (0.645, False, 162)])
def test_a_replay_says_whether_its_bound_is_met(share, met, missed_after):
    truth = Truth({f"i{number}": number < 200 * share for number in range(200)})
    target = Target(at_most=0.5, at_any_look=True)
    found = replay(truth, target)
    assert (found.met, found.missed_after, found.n == 200) == (met, missed_after, not met)
    assert replays(truth, target, seed=0, runs=2)["met"] == met


@pytest.mark.parametrize("at_any_look", [False, True])
def test_an_audit_under_way_is_the_replay_up_to_there(at_any_look):
    keys = [f"i{number}" for number in range(300)]
    truth = Truth({key: number % 4 == 0 for number, key in enumerate(keys)}, {key: key[-1] for key in keys})
    target = Target(half_width=0.1, at_any_look=at_any_look)
    whole = replay(truth, target)
    settled = [truth.wrong[key] for key in whole.order.keys]
    strata = [truth.strata[key] for key in whole.order.keys]
    assert progress([None] * 300, target, strata).n == 0
    before = progress([*settled[: whole.n - 10], None, *settled[whole.n - 9 :]], target, strata)
    assert (before.n, before.met, before.ended) == (whole.n - 10, None, False)
    assert before.n < before.plan.expected <= before.plan.most <= plan(300, target).most
    for after in (0, 50):  # what was judged later changes nothing
        found = progress([*settled[: whole.n + after], *[None] * (300 - whole.n - after)], target, strata)
        assert (found.n, found.met, found.wrong, found.plan) == (whole.n, True, whole.wrong, Plan(whole.n, whole.n))
        assert (found.estimate, found.low, found.high) == (whole.estimate, whole.low, whole.high)
        assert found.band[-1] == (whole.n, whole.estimate, whole.low, whole.high)


@pytest.mark.parametrize(
    ("settled", "holding", "ended", "lacks"),
    [
        (8, 0, False, [1, 2]),  # of the ten that are needed two are open
        (146, 3, False, [1, 2, 2]),  # more than are needed are settled, but three before them are not
        (146, 3, True, []),
    ],
)
def test_items_that_hold_settled_ones_back_are_still_to_judge(settled, holding, ended, lacks):
    assert to_come([2, 3, 1, 2], settled, 10, holding, ended) == lacks
