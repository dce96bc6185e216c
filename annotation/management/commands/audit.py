"""`manage.py audit --truth FILE.csv --half-width 0.03 --json`: replay an audit of a benchmark whose truth is known."""

from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path

from django.core.management.base import BaseCommand

from annotation.measures.audits.intervals import ALPHA
from annotation.measures.audits.plan import Target, plan
from annotation.measures.audits.replay import SEED, Truth, by_stratum, replay, replays
from annotation.measures.audits.sentence import verdict
from annotation.measures.audits.side_information import ALPHA_OF_RATIO
from annotation.measures.audits.truth_csv import read_scores, read_truth
from benchmarks.management.files import read_or_refuse, write_result

GUARANTEES = {False: "nominal 95%, stopped by the interval's width alone", True: "95% at any look, whenever you stop"}

_HARDLY_FEWER = 0.9  # of the items


def half_width(given: str) -> float:
    return share(given, below=0.5)


def share(given: str, below: float = 1) -> float:
    try:
        value = float(given)
    except ValueError:
        value = 0
    if not 0 < value < below:
        raise ArgumentTypeError(f"{given!r} is not a share between 0 and {below:g}, such as 0.03.")
    return value


def natural(given: str) -> int:
    if not given.isdecimal():
        raise ArgumentTypeError(f"{given!r} is not a whole number of 0 or more.")
    return int(given)


def at_least_one(given: str) -> int:
    if not natural(given):
        raise ArgumentTypeError("0 runs don’t give a summary. Use 1 or more.")
    return int(given)


class Command(BaseCommand):
    help = "Replay an audit of a benchmark whose every item is known, from a CSV file with the columns item, wrong."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("--truth", type=Path, required=True, help="the CSV file: item, wrong (0 or 1), stratum")
        targets = parser.add_mutually_exclusive_group(required=True)
        targets.add_argument("--half-width", type=half_width, help="stop at this half-width: 0.03")
        targets.add_argument("--at-most", type=share, help="stop once at most this share is wrong, at any look: 0.05")
        parser.add_argument("--stop-if-futile", action="store_true", help="with --at-most: stop once out of reach")
        parser.add_argument("--any-look", action="store_true", help="intervals that are valid whenever you stop")
        parser.add_argument("--side-information", type=Path, help="a CSV file with a model's scores: item, score")
        parser.add_argument("--seed", type=natural, default=SEED, help="seed of the order")
        parser.add_argument("--runs", type=at_least_one, help="summarise this many orders, with seeds from --seed on")
        parser.add_argument("--json", action="store_true", help="print all results as JSON")

    def handle(self, *, truth, half_width, at_most, any_look, side_information, seed, runs, **options):
        known = read_or_refuse(lambda log: read_truth(truth, log), self.stdout)
        if side_information:
            scores = read_or_refuse(lambda log: read_scores(side_information, known, log), self.stdout)
            known = replace(known, scores=scores)
        target = Target(half_width, at_most, any_look or at_most is not None, options["stop_if_futile"])
        result = replays(known, target, seed=seed, runs=runs) if runs else audited(known, target, seed)
        write_result(result, summarised if runs else written, options["json"], self.stdout)


def audited(truth: Truth, target: Target, seed: int) -> dict:
    found = replay(truth, target, seed)
    alpha = ALPHA_OF_RATIO if truth.scores is not None else ALPHA
    without = {}
    if truth.scores is not None:
        without["n_without_side_information"] = replay(replace(truth, scores=None), target, seed).n
    return {
        "items": len(truth.wrong),
        "truth": truth.share,
        "seed": seed,
        "order_sha256": found.order.sha256,
        "n": found.n,
        "wrong": found.wrong,
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "covers": found.covers,
        "met": found.met,
        "missed_after": found.missed_after,
        "verdict": verdict(found, target),
        **without,
        "guarantee": GUARANTEES[target.at_any_look],
        "planned_at_most": plan(len(truth.wrong), target, alpha=alpha).most,
        "strata": by_stratum(truth, found.order.keys, found.n),
    }


def written(result: dict) -> str:
    missed = result["missed_after"]
    since = f" That was certain after {missed:,} items." if missed else ""
    lines = [
        f"Judged {result['n']:,} of {result['items']:,} items: {result['wrong']:,} wrong. {result['verdict']}{since}",
        f"Estimate {result['estimate']:.2%}, interval {result['low']:.2%} to {result['high']:.2%}"
        f" ({result['guarantee']}).",
        f"The truth, {result['truth']:.2%}, lies {'inside' if result['covers'] else 'outside'}.",
        f"Order: seed {result['seed']}, SHA-256 {result['order_sha256']}",
    ]
    if "n_without_side_information" in result:
        without = result["n_without_side_information"]
        little = result["n"] > _HARDLY_FEWER * without
        why = " Scores save little if they hardly depend on which items are wrong, or if the audit is short anyway."
        lines.append(f"Without side information, this order takes {without:,} items.{why if little else ''}")
    lines += [
        f"  {row['stratum']}: {row['wrong']:,} of {row['n']:,} wrong, {row['items']:,} items"
        for row in result["strata"]
    ]
    return "\n".join(lines)


def summarised(result: dict) -> str:
    met = f" The bound is met in {result['met']:.1%} of them." if "met" in result else ""
    return (
        f"{result['items']:,} items, {result['truth']:.2%} wrong. Judged on average {result['mean_n']:,.1f}, at most "
        f"{result['max_n']:,}. The interval contains the truth in {result['coverage']:.1%} of the orders.{met}"
    )
