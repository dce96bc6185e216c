"""Bets with a model's scores in an audit, draw by draw, against each number of wrong items alone."""

import math

import numpy as np
from scipy.optimize import minimize
from scipy.stats import hypergeom

_PENALTIES = np.array([0.01, 0.25])


def left(judged: list[bool], scores: list[float]) -> list[tuple[float, float]]:
    """The interval that the bets leave after each item, of a benchmark too small for cells."""
    size, money, found = len(scores), {}, []
    money, interval, look = dict.fromkeys(range(size + 1), 0.0), (0.0, 1.0), 1
    everyone = (np.array(scores) - np.mean(scores)) / (np.std(scores) or 1)
    fitted = 0
    for t in range(len(judged)):
        if t == 0 or t == max(10, fitted and math.floor(max(fitted + 1, int(fitted * 1.15)))):
            fitted = t
            chances = _chances(everyone, judged[:t])
        _bet(money, t, judged, chances, size, fitted)
        n = t + 1
        if n == look:
            look = min(size, n + max(1, n // 50))
            wrong = sum(judged[:n])
            at_least = -math.log(0.05)
            kept = [k for k, of in money.items() if _all_money(k, of, wrong, n, size) < at_least]
            if not kept:
                return [*found, *[(0.0, 1.0)] * (len(judged) - t)]
            money = {k: of for k, of in money.items() if kept[0] <= k <= kept[-1]}
            interval = (max(kept[0], wrong) / size, min(kept[-1], size - n + wrong) / size)
        found.append(interval)
    return found


def _all_money(k: int, bets: float, wrong: int, n: int, size: int) -> float:
    """The log of the money against k: half of it is the ratio of a uniform prior to its posterior."""
    ratio = -math.log(n + 1) - hypergeom.logpmf(wrong, size, k, n)
    return np.logaddexp(ratio, bets) + math.log(0.5)


def _bet(money: dict[int, float], t: int, judged: list[bool], chances: np.ndarray, size: int, fitted: int) -> None:
    """Change the log of the money against each number of wrong items by draw t, of which `fitted` the model knows."""
    mean, before = chances[t:].mean(), sum(judged[:t])
    value = judged[t] - chances[t] + mean
    least, largest = mean - chances.max(), 1 + mean - chances.min()
    apart = np.array(judged[:t], float) - chances[:t]
    first = 0 if any(judged[:fitted]) else 0.25
    share = min(max(chances.mean() + (apart.sum() + first) / (t + 5), 0.0), 1.0)
    variance = ((apart**2).sum() - apart.sum() ** 2 / max(t, 1) + 0.5) / (t + 5)
    for k in money:
        null = min(max((k - before) / (size - t), 0.0), 1.0)
        ahead = (size * share - k) / (size - t)
        bet = ahead / (variance + ahead**2) * t / (t + 40)
        bet = min(max(bet, -0.9 / max(largest - null, 1e-6)), 0.9 / max(null - least, 1e-6))
        money[k] += math.log1p(bet * (value - null))


def _chances(everyone: np.ndarray, seen: list[bool]) -> np.ndarray:
    """Of each item in the order, that it is wrong by a logistic regression on those seen; 0 without both kinds."""
    if all(seen) or not any(seen):
        return np.zeros(len(everyone))
    own, wrong = everyone[: len(seen)], np.array(seen, float)

    def loss(weights: np.ndarray) -> float:
        line = weights[0] + weights[1] * own
        return float(np.sum(np.logaddexp(0, line) - wrong * line) + np.sum(_PENALTIES * weights**2) / 2)

    weights = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).x
    return 1 / (1 + np.exp(-(weights[0] + weights[1] * everyone)))
