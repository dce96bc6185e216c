"""Measure law 4: send 10,000 screens through the real pages, and let classifiers look for a tell in all of them.

    python -m bench.blinding [--screens 10000] [--only checks|sides|protocols]       (about an hour)

1. Which screens are checks: half in a pool, half among batches. The area under the curve must lie in 0.47–0.53; a blind
   guess has a standard error of 0.006 there.
2. Which of two places has the right option: half image to text, half text to image. Right 50 ± 1% of the time. A
   blind guess has a standard error of 0.5% there, so one run in twenty would fail by chance; therefore the database's
   random numbers are seeded, and what is new in each run (tokens, times) is left out here, so that the figure is the
   same in every run. With tokens and times it must lie in 50 ± 2%.
3. In each protocol a ninth of the screens: at which place an option stood; and, where there can be checks, as many more
   screens: which are checks. Within four standard errors of a blind guess.

Starts its own servers in a temporary place. docs/guide/checks.md describes what is examined.
"""

import argparse
import json
import math
import sys
import time

from bench.scratch import winnow

NEW_EACH_RUN = ("_ms", "token_")
PLAIN = 3  # one annotator in three works without script


def timed(name: str, seen: list, start: float) -> None:
    print(f"{name}: {len(seen)} screens in {time.monotonic() - start:.0f} s", file=sys.stderr)


def look_for_checks(screens: int) -> dict:
    from annotation.models import Strategy
    from tests.annotation.judging import visible_features

    start, per = time.monotonic(), 48
    half = screens // 2 // per
    stages = [visible_features.stage_with_checks(Strategy.POOL, items=max(40, half), known=20, quota=per)]
    seen = visible_features.collect(stages[0], half, per, PLAIN)
    for first in range(0, half, 50):  # an item can be judged at most 50 times
        stages.append(visible_features.stage_with_checks(Strategy.EVERYONE, items=36, known=12))
        more = visible_features.collect(stages[-1], min(50, half - first), per, PLAIN)
        for one in more:
            one.who += (len(stages) - 1) * 10**6
        seen += more
    labels = visible_features.is_check(seen)
    timed("checks", seen, start)
    found = visible_features.auc(seen, labels)
    ok = all(0.47 <= one <= 0.53 for one in found.values())
    return {"screens": len(seen), "checks": sum(labels), "auc": found, "ok": ok}


def look_for_sides(screens: int) -> dict:
    from annotation.protocols.registry import PROTOCOLS
    from tests.annotation.judging import visible_features

    start, per = time.monotonic(), 100
    visible_features.seed(1)
    seen, places = [], []
    for number, protocol in enumerate(("bivlc-i2t", "bivlc-t2i")):
        stage = visible_features.stage_with_sides(protocol, items=per // visible_features.QUESTIONS[protocol])
        mine = visible_features.collect(stage, screens // 2 // per, per, PLAIN)
        places += visible_features.right_place(mine, PROTOCOLS[protocol])
        for one in mine:
            one.who += number * 10**6
        seen += mine
    timed("sides", seen, start)
    same = visible_features.accuracy(seen, places, without=NEW_EACH_RUN)
    every = visible_features.accuracy(seen, places)
    ok = all(abs(one - 0.5) <= 0.01 for one in same.values()) and all(abs(one - 0.5) <= 0.02 for one in every.values())
    first = places.count(0) / len(places)
    return {"screens": len(seen), "first_place": first, "accuracy": same, "with_tokens_and_times": every, "ok": ok}


def look_in_each_protocol(screens: int) -> dict:
    from annotation.protocols.registry import PROTOCOLS

    found = {name: look_in(name, screens // len(PROTOCOLS)) for name in PROTOCOLS}
    return {**found, "ok": all(one["ok"] for looks in found.values() for one in looks.values())}


def look_in(protocol: str, screens: int) -> dict:
    from annotation.models import Strategy
    from tests.annotation.judging import visible_features
    from tests.builders.every_protocol import CHECKED

    start, per, found = time.monotonic(), 48, {}
    annotators, questions = max(5, round(screens / per)), visible_features.QUESTIONS.get(protocol, 1)
    visible_features.seed(1)
    if protocol != "verify":  # `verify` has no options
        stage = visible_features.stage_with_sides(protocol, per // questions, annotators)
        seen = visible_features.collect(stage, annotators, per, PLAIN)
        places = visible_features.first_place(seen)
        chance = 1 / (max(places) + 1)
        limit = 4 * math.sqrt(chance * (1 - chance) / len(seen))
        found["place"] = judged(visible_features.accuracy(seen, places), chance, limit, len(seen))
    if protocol in CHECKED:
        given = {"items": 36 // questions, "known": 12 // questions, "protocol": protocol}
        stage = visible_features.stage_with_checks(Strategy.EVERYONE, **given)
        seen = visible_features.collect(stage, annotators, per, PLAIN)
        labels = visible_features.is_check(seen)
        others = len(labels) - sum(labels)
        limit = 4 * math.sqrt((len(labels) + 1) / (12 * sum(labels) * others))
        found["check"] = judged(visible_features.auc(seen, labels), 0.5, limit, len(seen))
    timed(protocol, seen, start)
    return found


def judged(found: dict[str, float], blind: float, limit: float, screens: int) -> dict:
    ok = all(abs(one - blind) <= limit for one in found.values())
    return {"screens": screens, "found": found, "blind": blind, "limit": limit, "ok": ok}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--screens", type=int, default=10_000)
    parser.add_argument("--only", choices=["checks", "sides", "protocols"])
    options = parser.parse_args()
    looks = {"checks": look_for_checks, "sides": look_for_sides, "protocols": look_in_each_protocol}
    with winnow(durable=False):
        from django.conf import settings
        from django.core.management import call_command

        settings.ALLOWED_HOSTS = ["testserver"]
        call_command("collectstatic", interactive=False, verbosity=0)
        found = {name: look(options.screens) for name, look in looks.items() if options.only in (None, name)}
    print(json.dumps(found, indent=2))
    if not all(one["ok"] for one in found.values()):
        sys.exit("a tell was found")


if __name__ == "__main__":
    main()
