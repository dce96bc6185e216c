"""An audit's result: the order by the hashes of the keys, and the interval after each look by scipy's distributions."""

import hashlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import hypergeom, norm

from tests.independent import bets, correcting

if TYPE_CHECKING:
    from tests.independent.stages import Stage

EVERY = 10


def audit(stage: "Stage") -> dict:
    settings, items = stage.settings["audit"], {}
    for task in stage.decided.itertuples():
        items.setdefault(task.item, []).append(task)
    strata = {key: (tasks[0].type, tasks[0].subtype) for key, tasks in items.items()}
    in_strata = stage.settings["stratify"] and not settings["any_look"]
    order = drawn(list(items), stage.settings["seed"], strata if in_strata else dict.fromkeys(items))
    results = [is_wrong(items[key], settings["wrong_reasons"]) for key in order]
    judged = results[: results.index(None)] if None in results else results
    scores = [float(items[key][0].score) for key in order] if "scores_of" in settings else None
    settings = {**settings, "alpha": 0.025 if scores and settings["any_look"] else 0.05}
    of = order, strata if in_strata else None, scores, settings
    found = {
        "order_sha256": hash_of("\n".join(order) + "\n"),
        **({"scores_sha256": hash_of(score_lines(order, scores))} if scores else {}),
        "items": len(order), "judged": 0, "wrong": 0, "met": None, "estimate": None, "low": None, "high": None,
        **to_need([], None, len(order), settings),
    }  # fmt: skip
    found = until_it_stops(found, judged, *of)
    if judged and not is_over(found, settings):
        found |= to_need(judged, found["estimate"], len(order), settings)
    rates = correcting.corrected(stage, order[: found["judged"]], items)
    return found | ({} if is_over(found, settings) else ahead(results, *of)) | rates


def until_it_stops(found: dict, judged: list[bool], order: list[str], strata, scores, settings: dict) -> dict:
    half, bound = settings["target_half_width"], settings["target_bound"]
    for n, (estimate, low, high) in enumerate(looks(judged, order, strata, scores, settings), 1):
        looking = settings["any_look"] or n % EVERY == 0
        narrow = (high - low) / 2 <= half + 1e-12 if half is not None else high <= bound + 1e-12
        too_many = bound is not None and sum(judged[:n]) / len(order) > bound + 1e-12
        futile = bound is not None and low > bound + 1e-12
        found = {name: of for name, of in found.items() if name != "futile"} | {
            "met": False if too_many else None,
            "judged": n,
            "wrong": sum(judged[:n]),
            "estimate": estimate,
            "low": low,
            "high": high,
            **({"futile": True} if futile else {}),
        }
        gives_up = futile and settings.get("stops_if_futile", False)
        if (looking and narrow) or gives_up or n == len(order):
            return found | {"met": not too_many and not futile, "expected": n, "most": n}
    return found


def is_over(found: dict, settings: dict) -> bool:
    gave_up = found.get("futile") and settings.get("stops_if_futile", False)
    return found["met"] is True or bool(gave_up) or found["judged"] == found["items"]


def ahead(results: list, order: list[str], strata, scores, settings: dict) -> dict:
    """What the items say up to the last that is settled, if the open ones among them are right, and if wrong."""
    last = max((place for place, one in enumerate(results, 1) if one is not None), default=0)
    if None not in results[:last]:
        return {}
    ends = []
    for guess in (False, True):
        filled = [guess if one is None else one for one in results[:last]]
        ends.append(list(looks(filled, order, strata, scores, settings))[-1])
    (right, low, _), (wrong, _, high) = ends
    open_ = results[:last].count(None)
    return {"ahead": {"items": last, "open": open_, "if_right": right, "low": low, "if_wrong": wrong, "high": high}}


def looks(judged: list[bool], order: list[str], strata, scores, settings: dict):
    """The estimate and the interval after each item."""
    by_bets = bets.left(judged, scores) if scores and settings["any_look"] else []
    low_so_far, high_so_far = 0.0, 1.0
    for n in range(1, len(judged) + 1):
        if settings["any_look"]:
            estimate, low, high = at_any_look(judged[:n], len(order), settings["alpha"])
            if scores:
                estimate = by_regression(judged[:n], scores)[0]
                fewest, most = by_bets[n - 1]
                if max(low, fewest) <= min(high, most):
                    low, high = max(low, fewest), min(high, most)
            low_so_far, high_so_far = max(low, low_so_far), min(high, high_so_far)
            if low_so_far <= high_so_far:
                low, high = low_so_far, high_so_far
            estimate = min(max(estimate, low), high)
        elif scores:
            estimate, low, high = by_regression(judged[:n], scores)
        else:
            estimate, low, high = by_width(judged[:n], order, strata)
        yield estimate, low, high


def to_need(judged: list[bool], guess: float | None, size: int, settings: dict) -> dict:
    """Items in all, if those to come are wrong at the rate of the guess, and if they are as near to half as can be."""
    n, wrong = len(judged), sum(judged)

    def first(wrong_of) -> int:
        for m in range(max(n, 1), size):
            made_up = [True] * wrong_of(m) + [False] * (m - wrong_of(m))
            if settings["any_look"]:
                _, low, high = at_any_look(made_up, size, settings["alpha"])
            else:
                _, low, high = by_width(made_up, [""] * size, None)
            half, bound = settings["target_half_width"], settings["target_bound"]
            narrow = (high - low) / 2 <= half + 1e-12 if half is not None else high <= bound + 1e-12
            if narrow and (settings["any_look"] or m % EVERY == 0):
                return m
        return size

    most = size if settings["target_bound"] else first(lambda m: min(max(m // 2, wrong), wrong + m - n))
    return {"expected": None if guess is None else first(lambda m: wrong + round((m - n) * guess)), "most": most}


def judgments_to_come(stage: "Stage", result: dict) -> int:
    """Of the open items that it is to need, or that hold others back, those that lack the fewest judgments first."""
    open_ = stage.decided[stage.decided.came == "open"]
    judged = stage.standing.groupby(["item", "question", "round"]).size().to_dict()
    lacks: dict = {}
    for task in open_.itertuples():
        there = judged.get((task.item, task.question, task.round), 0)
        lacks[task.item] = lacks.get(task.item, 0) + max(0, task.overlap - there)
    needed = result["most"] if result["expected"] is None else result["expected"]
    holding = result.get("ahead", {"open": 0})["open"]
    items = 0 if result["met"] else max(holding, needed - (stage.decided.item.nunique() - len(lacks)))
    return sum(sorted(lacks.values())[:items])


def drawn(keys: list[str], seed: int, strata: dict) -> list[str]:
    """By hash, then by the place within the stratum; sorting keeps the order of hashes among equals."""
    by_hash = sorted(keys, key=lambda key: hashlib.sha256(f"{seed}\0{key}".encode()).hexdigest())
    places = {}
    for kind in set(strata.values()):
        mine = [key for key in by_hash if strata[key] == kind]
        places |= {key: Fraction(2 * number + 1, 2 * len(mine)) for number, key in enumerate(mine)}
    return sorted(by_hash, key=places.get) if set(strata.values()) != {None} else by_hash


def is_wrong(tasks: list, reasons: list[str]) -> bool | None:
    verdicts = [
        None if task.came == "open" else task.came == "dropped" and (not reasons or task.why in reasons)
        for task in tasks
    ]
    return True if any(verdicts) else None if None in verdicts else False


def at_any_look(judged: list[bool], size: int, alpha: float) -> tuple[float, float, float]:
    n, wrong = len(judged), sum(judged)
    counts = np.arange(size + 1)
    left = counts[hypergeom.pmf(wrong, size, counts, n) > alpha / (n + 1)]
    return wrong / n, left[0] / size, left[-1] / size


def by_width(judged: list[bool], order: list[str], strata: dict | None) -> tuple[float, float, float]:
    n, wrong, size = len(judged), sum(judged), len(order)
    share, gain = wrong / n, 1.0
    if strata:
        sizes = {kind: list(strata.values()).count(kind) for kind in set(strata.values())}
        there = {kind: [one for key, one in zip(order, judged, strict=False) if strata[key] == kind] for kind in sizes}
        enough = all(len(there[kind]) >= min(2, sizes[kind]) for kind in sizes) and min(wrong, n - wrong) >= 5
        rates = {kind: sum(of) / len(of) if of else 0 for kind, of in there.items()}
        weighted = sum(sizes[kind] / size * rates[kind] for kind in sizes)
        spread = sum(
            sizes[kind] / size * rates[kind] * (1 - rates[kind]) * len(of) / max(len(of) - 1, 1)
            for kind, of in there.items()
        )
        plain = weighted * (1 - weighted)
        if enough:
            share, gain = weighted, max(1.0, plain / max(spread + 10 * plain / n, 1e-12))
        elif n == size:
            share = weighted
    return share, *wilson(share, n, size, gain)


def by_regression(judged: list[bool], scores: list[float]) -> tuple[float, float, float]:
    """The regression estimate, worth as many items as a plain one of the same variance needs."""
    n, wrong, size = len(judged), np.array(judged, float), len(scores)
    own, everyone, share = np.array(scores[:n]), np.array(scores), float(np.mean(judged))
    if min(wrong.sum(), n - wrong.sum()) < 5:
        return share, *wilson(share, n, size, 1.0)
    together = np.mean((own - own.mean()) * (wrong - share))
    slope = together / (own.var() + 4 * (everyone.var() or 1) / n)
    residual = (wrong - share - slope * (own - own.mean())).var() * n / max(n - 2, 1)
    estimate = min(max(share - slope * (own.mean() - everyone.mean()), 0.0), 1.0)
    gain = max(1.0, share * (1 - share) / max(residual + 10 * share * (1 - share) / n, 1e-12))
    return estimate, *wilson(estimate, n, size, gain)


def score_lines(order: list[str], scores: list[float]) -> str:
    return "".join(f"{key}\t{score!r}\n" for key, score in zip(order, scores, strict=True))


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def wilson(share: float, n: int, size: int, gain: float) -> tuple[float, float]:
    """As if `gain` times as many had been drawn."""
    if n == size:
        return share, share
    worth, z = n * (size - 1) / (size - n) * gain, norm.ppf(0.975)
    middle = (share + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z / (1 + z**2 / worth) * math.sqrt(share * (1 - share) / worth + z**2 / (4 * worth**2))
    return max(0.0, middle - half), min(1.0, middle + half)
