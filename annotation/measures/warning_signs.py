"""Warning signs: reasons to look at an annotator's work. Nothing acts on a sign; a person decides (law 7).

docs/reference/measures.md describes what each rule finds, docs/design/evidence.md how often it is wrong. Every test
uses `TEST_LEVEL`, whatever the number of annotators, so a sign does not appear or vanish with the number of others
tested, as it would under Benjamini and Hochberg's procedure. The price is that this share of tests gives false alarms;
among annotators compared with others, it is `FALSE_ALARMS`. A test gives a sign only if the share is also
`_MIN_DIFFERENCE` from the expected one, because with many judgments the smallest difference is significant.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np

from annotation.measures import exact_tests, skill
from annotation.measures.ratings import rows_by
from annotation.measures.skill import OwnAnswers
from annotation.measures.types import Array, Figures

SIGNS_FROM = 20  # with fewer judgments, an annotator shows no signs
FAST_SHARE = 0.5  # of the median of all
_FAST_WITHIN = 0.98  # quantile of Student's t: 1% of annotators who differ like these are faster
TEST_LEVEL = 0.001  # level of each test
# Share of honest annotators with signs about agreement or answers if skill differs with an SD of 0.5, and of 1, on the
# logit scale (`python -m bench.coverage signs`).
FALSE_ALARMS = (0.0065, 0.018)
_MIN_DIFFERENCE = 0.1  # between a share and the expected one
_EXPECTED = 5  # the smallest expected count per position for chi-square
_FAR = 3  # standard deviations
FAR_FROM = 11  # annotators: among ten, none can be three standard deviations away ((n - 1) / √n < 3)
_FEW = f"fewer than {SIGNS_FROM}"

SPEED_KINDS = ("fast", "far")  # kinds of signs that do not concern the answers
KINDS = {  # all, in display order, with their label
    "agreement": "disagrees",
    "checks": "fails checks",
    "answers": "other answers",
    "side": "favours one position",
    "runs": "repeats a position",
    "fast": "fast",
    "far": "unusual pace",
    "comprehension": "comprehension",
    "practice": "practice",
}

Picks = Sequence[tuple[int, int]] | Array  # position picked, from 1, and number of positions shown (N × 2)


@dataclass(frozen=True, slots=True)
class Sign:
    kind: str  # one of KINDS
    words: str  # a sentence with the numbers behind the sign


def _is_sign(test: Figures, found: float | None, expected: float | None) -> bool:
    """Return whether a test's result is a sign: p below `TEST_LEVEL`, the shares at least `_MIN_DIFFERENCE` apart."""
    if found is None or expected is None or test["p"] is None:
        return False
    return bool(test["p"] < TEST_LEVEL and abs(found - expected) >= _MIN_DIFFERENCE - 1e-12)


def _no_test(reason: str, **figures: object) -> Figures:
    return {"p": None, "reason": reason, **figures}


# Speed


class Usual(NamedTuple):
    """The median active time of all judgments, and the time below which an annotator counts as fast; both in ms."""

    median: float
    fast: float


def usual_times(active_ms: Array, annotators: Array) -> Usual | None:
    """Return None if no time was measured. A fast time is below half of the median, and further below the annotators'
    own medians than their usual spread: on the logarithmic scale, that of those within three standard deviations by the
    median of squares.
    """
    known = active_ms > 0
    if not known.any():
        return None
    times, people = active_ms[known], annotators[known]
    typical = float(np.median(times))
    own = [times[rows] for rows in rows_by(people).values()]
    logs = np.array([math.log(np.median(of)) for of in own if len(of) >= SIGNS_FROM])
    if len(logs) < 3:
        return Usual(typical, FAST_SHARE * typical)
    middle = float(np.median(logs))
    spread, n = skill.spread(logs - middle)
    far = exact_tests.student_t(max(1, n - 1), _FAST_WITHIN) * spread
    return Usual(typical, min(FAST_SHARE * typical, math.exp(middle - far)))


def fast_sign(judged: int, typical: float | None, everyone: Usual | None) -> list[Sign]:
    """Return a sign if `typical`, the annotator's median active time in ms, is fast."""
    if judged < SIGNS_FROM or typical is None or everyone is None or typical >= everyone.fast:
        return []
    return [Sign("fast", f"{typical / 1000:.1f} s a screen, everybody {everyone.median / 1000:.1f} s")]


def speed_deviations(logs: Mapping[int, float]) -> tuple[Figures, dict[int, float]]:
    """Return how many standard deviations each typical time is from the mean; {} for fewer than FAR_FROM annotators.

    `logs` has each annotator's median of ln(time / the stage's median), averaged over stages by judgments. Mean and
    deviation (n - 1) are over all of them, including the annotator concerned.
    """
    if len(logs) < FAR_FROM:
        return {"mean": None, "deviation": None, "n": len(logs), "reason": f"fewer than {FAR_FROM} annotators"}, {}
    middle, spread = mean(logs.values()), stdev(logs.values())
    summary = {"mean": middle, "deviation": spread, "n": len(logs), "reason": "" if spread else "all are equally fast"}
    return summary, {number: (log - middle) / spread for number, log in logs.items()} if spread else {}


def far_sign(away: float | None, n: int) -> list[Sign]:
    if away is None or abs(away) <= _FAR:
        return []
    side = "faster" if away < 0 else "slower"
    return [Sign("far", f"{abs(away):.1f} standard deviations {side} than the mean of {n} annotators")]


# Positions: options are shuffled for each screen, so those who read them pick each equally often


def _columns(picks: Picks) -> Array:
    """Return the positions picked and the numbers of positions shown (2 × N)."""
    return np.array(picks, dtype=np.int64).reshape(-1, 2).T


def place_counts(picks: Picks) -> list[int]:
    """Count the picks at each position shown: the first, the second …"""
    place, shown = _columns(picks)
    counts: list[int] = np.bincount(place, minlength=shown.max(initial=0) + 1)[1 : shown.max(initial=0) + 1].tolist()
    return counts


def expected_places(picks: Picks) -> list[float]:
    """Return the picks expected at each position without a habit: 1 / m of the picks with m positions shown."""
    shown = dict(enumerate(np.bincount(_columns(picks)[1]).tolist()))
    return [sum(n / many for many, n in shown.items() if n and many >= place) for place in range(1, len(shown))]


def side_test(picks: Picks) -> Figures:
    """Test whether positions are picked equally often: exact binomial test for two, otherwise Pearson's chi-square."""
    found, expected, n = place_counts(picks), expected_places(picks), len(picks)
    figures = {"counts": found, "expected": expected, "n": n}
    if n < SIGNS_FROM or len(found) < 2 or min(expected) < _EXPECTED:
        reason = f"{_FEW} picks" if n < SIGNS_FROM else "too few picks for so many positions"
        return _no_test(reason, **figures)
    if (_columns(picks)[1] == 2).all():
        return {
            "p": exact_tests.two_sided(exact_tests.binomial_distribution(n, 0.5), found[0]),
            "reason": "",
            "by": "binomial",
            **figures,
        }
    square = sum((count - wanted) ** 2 / wanted for count, wanted in zip(found, expected, strict=True))
    p = exact_tests.chi_square_above(square, len(found) - 1)
    return {"p": p, "reason": "", "by": "chi-square", "chi_square": square, "freedom": len(found) - 1, **figures}


def top_place(test: Figures) -> int | None:
    """Return the position (from 1) whose count is furthest above the expected one."""
    over = [count - wanted for count, wanted in zip(test["counts"], test["expected"], strict=True)]
    return over.index(max(over)) + 1 if over else None


def side_sign(test: Figures) -> list[Sign]:
    place, n = top_place(test), test["n"]
    if place is None or not _is_sign(test, test["counts"][place - 1] / n, test["expected"][place - 1] / n):
        return []
    return [Sign("side", f"chose position {place} in {test['counts'][place - 1] / n:.0%} of {n} picks")]


def runs_test(picks: Picks) -> Figures:
    """Test, for picks in order, how often a pick repeats the previous position, and the longest run of one position.

    Without a habit each pick repeats the previous position with probability 1 / m, whatever came earlier. So repeats
    are binomial, and a run of L picks is a run of L - 1 repeats. `p` is that of the less probable of the two, doubled
    because there are two tests. If screens differ in how many options they show, the mean of the probabilities is used.
    """
    (place, shown), n = _columns(picks), len(picks)
    begins = np.flatnonzero(np.diff(place, prepend=0))  # of the runs
    lengths = np.diff(begins, append=n)
    most = int(lengths.argmax()) if n else 0
    longest, at = (int(lengths[most]), int(begins[most])) if n else (0, 0)
    repeats = n - len(begins)
    figures = {"n": n, "repeats": repeats, "longest": longest, "from": at, "place": int(place[at]) if n else None}
    if n < SIGNS_FROM:
        return _no_test(f"{_FEW} picks", chance=None, **figures)
    options = enumerate(np.bincount(np.maximum(shown[1:], shown[:-1])).tolist())
    chance = float(sum(Fraction(1 / many) * times for many, times in options if times) / (n - 1))
    p_repeats = exact_tests.two_sided(exact_tests.binomial_distribution(n - 1, chance), repeats)
    p_longest = exact_tests.probability_of_run(longest - 1, n - 1, chance)
    p = min(1.0, 2 * min(p_repeats, p_longest))
    return {"p": p, "reason": "", "chance": chance, "p_repeats": p_repeats, "p_longest": p_longest, **figures}


def runs_sign(test: Figures) -> list[Sign]:
    if test["p"] is None or test["p"] >= TEST_LEVEL:
        return []
    tried, chance = test["n"] - 1, test["chance"]
    if test["p_longest"] < test["p_repeats"]:
        return [Sign("runs", f"chose position {test['place']} {test['longest']} times in a row")]
    if not _is_sign(test, test["repeats"] / tried, chance):
        return []
    return [Sign("runs", f"chose the last position again {test['repeats']} times, by chance {chance * tried:.0f}")]


# Against the others


def answers_test(own: OwnAnswers | None, others: Array) -> Figures:
    """Test whether an annotator gives each answer as often as the others on the same tasks: p times the number of
    answers, by an exact test and by one that allows for differences among the `others` (`skill.OwnAnswers.p`).

    `label` is the answer with the smallest p; the first if several have the same p, as both of two labels have.
    """
    figures = {"n": own.n if own else 0, "others": own.others if own else 0}
    if own is None or figures["n"] < SIGNS_FROM:
        return _no_test(f"{_FEW} judgments that others’ can be compared with", **figures)
    places = {label: place for place, label in enumerate(own.labels) if own.estimate(place)}
    if not places:
        return _no_test("all answers are the same", **figures)
    tested = [*places][:1] if len(own.labels) == 2 else places
    found = {label: own.p(places[label], others) for label in tested}
    label = _least(found)
    place = places[label]
    return {
        "p": min(1.0, found[label] * len(places)), "reason": "", "label": label,
        "share": int(own.given[place]) / own.n, "others_share": own.others_share(place), **figures,
    }  # fmt: skip


def answers_sign(test: Figures, describe: Callable[[str], str] = str) -> list[Sign]:
    if not _is_sign(test, test.get("share"), test.get("others_share")):
        return []
    shares = f"{test['share']:.0%} of {test['n']} answers, others {test['others_share']:.0%}"
    return [Sign("answers", f"{describe(test['label'])} in {shares}")]


class Beside(NamedTuple):
    """`typical`: the share of screens with these types on which a typical other annotator gives the others' answer; `p`
    for a share as low or lower, given how the others differ.
    """

    typical: float
    p: float


def agreement_test(compared: Mapping[str, tuple[int, int, Beside | None]]) -> Figures:
    """Test whether an annotator gives the others' most frequent answer as often as a typical annotator does.

    `compared` has, for each view of the answers, how often they did, out of how many, and the same for the others. p is
    that of the one-sided binomial test against the others' median, or that from their differences, whichever is larger,
    times the number of views; `on` is the first view with the smallest p. The median is used because a few careless
    annotators would pull a mean down towards themselves.
    """
    found = {
        view: max(exact_tests.binomial_at_most(same, n, others.typical), others.p)
        for view, (same, n, others) in compared.items()
        if n >= SIGNS_FROM and others is not None
    }
    if not found:
        return _no_test(f"{_FEW} judgments can be compared with the others'", n=0)
    on = _least(found)
    same, n, others = compared[on]
    assert others is not None
    shares = {"share": same / n, "others_share": others.typical}
    return {"p": min(1.0, found[on] * len(found)), "reason": "", "on": on, **shares, "n": n}


def _least(found: Mapping[str, float]) -> str:
    """Return the first name whose p is smallest up to rounding, which differs between machines."""
    least = min(found.values())
    return next(name for name in found if math.isclose(found[name], least, rel_tol=1e-9, abs_tol=1e-300))


def agreement_sign(test: Figures) -> list[Sign]:
    if not _is_sign(test, test.get("share"), test.get("others_share")) or test["share"] > test["others_share"]:
        return []
    shares = f"{test['share']:.0%} of {test['n']} screens, others on {test['others_share']:.0%}"
    return [Sign("agreement", f"gave what most gave on {shares} ({test['on']})")]


# Signs based on known answers


def checks_sign(n: int, right: int, guess_rate: float, failed: bool) -> list[Sign]:
    words = f"{right} of {n} checks right, guessing gets {n * guess_rate:.1f}"
    return [Sign("checks", words)] * failed


def qualification_signs(passed: Mapping[str, bool | None]) -> list[Sign]:
    """Return the signs of results (`passed`) of the comprehension questions and the practice."""
    named = {"comprehension": "the questions about the rules", "practice": "the practice"}
    return [Sign(kind, f"did not pass {words}") for kind, words in named.items() if passed.get(kind) is False]


# Together


def signs_of_work(judged: int, typical: float | None, everyone: Usual | None, picks: Picks) -> list[Sign]:
    """Return the signs in an annotator's own judgments in a stage; `picks` in the order given, times in ms."""
    return [*fast_sign(judged, typical, everyone), *side_sign(side_test(picks)), *runs_sign(runs_test(picks))]


def concern_answers(kinds: Iterable[str]) -> bool:
    """Return whether any sign concerns more than speed, which by itself reveals little about the answers."""
    return any(kind not in SPEED_KINDS for kind in kinds)
