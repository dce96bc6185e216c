"""The attack: annotators, a manager and faults at once; afterwards the account.

The order of faults, their lengths and every choice come from the seed; the machine's behaviour does not.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from bench.nemesis import account, faults, slow_clients
from bench.nemesis.account import Account
from bench.nemesis.annotators import SLOW, Annotator, Failure
from bench.nemesis.faults import Ground, Struck
from bench.nemesis.manager import Manager, Summary
from bench.nemesis.neighbours import Storage, Uploads, Viewers
from bench.nemesis.proxy import Proxy
from bench.nemesis.small_disk import SmallDisk
from benchmarks.jobs.room import LEAST
from config.services import database_url
from tests.config.running import Winnow

AND = " + "
PATIENCE = 60  # seconds after which a part that is not back is left
TOGETHER = 0.2  # share of faults with which another one is struck
RECOVERY = 4  # seconds, as thinking times are reckoned, so that judgments and faults end together


@dataclass(frozen=True)
class Plan:
    """`names`: the faults in their order, " + " between such as are struck together; without, every kind that the
    machine allows, shuffled, again and again.
    `within`: seconds in which every part is to be back.
    """

    seed: int
    judgments: int
    faults: int
    annotators: int = 24
    minutes: float = 25  # after which it ends, whatever is left
    jobs_every: float = 5  # seconds
    within: float = 15
    held: tuple[float, float] = (1, 4)  # seconds that a fault lasts which does not end by itself, from and to
    calm: tuple[float, float] = (1, 5)  # seconds from one recovery to the next fault
    names: Sequence[str] = ()


@dataclass
class Findings:
    struck: list[Struck]
    failures: list[Failure]  # outside the faults
    failed_within: int
    refused: Counter
    summary: Summary
    account: Account
    kinds: list[str]
    within: float
    seconds: float
    longest_gap: float  # seconds without an acknowledgement
    gave_up: list[str] = field(default_factory=list)
    unsent: int = 0
    late: list[Failure] = field(default_factory=list)  # answers, while only a neighbour hung or clients were slow
    starved: list[str] = field(default_factory=list)
    images: Counter = field(default_factory=Counter)  # by the status of their answer
    uploads: Counter = field(default_factory=Counter)

    def counts(self) -> dict[str, int]:
        """Return the counts that must be zero."""
        late = [one for one in self.struck if not one.recovered or one.recovery > self.within]
        return {
            **self.account.broken,
            "never sent": self.unsent,
            "answers refused": sum(count for what, count in self.refused.items() if what.startswith("answer")),
            "jobs stuck": len(self.summary.stuck),
            "jobs that failed unexpectedly": len(self.summary.unexpected),
            "files torn or left behind": len(self.summary.torn),
            "requests failed outside faults": len(self.failures),
            f"faults after which a part was not back in {self.within:g} s": len(late),
            "times that Winnow gave up": len(self.gave_up),
            f"answers later than {SLOW:g} s while neighbours hung or clients were slow": len(self.late),
            "times that uploads took the database's room": len(self.starved),
        }

    def examples(self) -> list[str]:
        found = [
            *self.account.examples,
            *self.summary.stuck,
            *self.summary.unexpected,
            *self.summary.torn,
            *self.gave_up,
            *(f"{one.what} for an answer" for one in self.late[:5]),
            *self.starved,
        ]
        return found + [f"{one.what} outside faults" for one in self.failures[:5]]


def deck(plan: Plan, names: Sequence[str], rng: Random, struck: Sequence[Struck]) -> Iterator[list[str]]:
    """Yield the faults to strike, one blow at a time, until enough are `struck`: the first of two may leave nothing for
    the second. Each kind comes once before any comes again, and now and then two come together.
    """
    yield from (name.split(AND) for name in plan.names)
    left: list[str] = []
    while not plan.names and sum(len(one.names) for one in struck) < plan.faults:
        left = left or rng.sample(list(names), len(names))
        blow = [left.pop(0)]
        if left and rng.random() < TOGETHER:
            blow.append(left.pop(0))
        yield blow


def attack(
    winnow: Winnow, plan: Plan, disk: SmallDisk | None = None, say: Callable[[str], None] = lambda line: None,
    storage: Storage | None = None,
) -> Findings:  # fmt: skip
    """Strike a running Winnow, whose folder is on `disk` if that is to fill, and settle the account. `storage`: where
    it keeps its files, if not in its folder."""
    begun, rng = time.monotonic(), Random(plan.seed)
    manager = Manager(
        winnow, judgments=plan.judgments, annotators=plan.annotators, every=plan.jobs_every, seed=plan.seed
    )
    between = Proxy(winnow.port, plan.seed)
    uploads = Uploads(winnow.url, manager.token, winnow.var)
    ground = Ground(winnow, between, rng, plan.held, disk, storage, uploads)
    viewers = Viewers(winnow.port, manager.images, plan.seed)
    try:
        found = _fight(plan, ground, manager, begun + plan.minutes * 60, say)
        found.images, found.uploads = viewers.seen, uploads.seen
        return found
    finally:
        viewers.close()
        manager.close()
        between.close()
        ground.clear()


def _fight(plan: Plan, ground: Ground, manager: Manager, deadline: float, say: Callable[[str], None]) -> Findings:
    begun, stop, hurry = time.monotonic(), threading.Event(), threading.Event()
    lasts = (sum(plan.held) + sum(plan.calm)) / 2 + RECOVERY
    thinks = plan.annotators * (len(plan.names) or plan.faults) * lasts / plan.judgments
    people = {
        token: Annotator(ground.proxy.port, token, f"{plan.seed}/{number}", _pace(thinks, hurry, plan.seed + number))
        for number, token in enumerate(manager.tokens)
    }
    kinds = faults.kinds(ground)
    struck: list[Struck] = []

    def judged() -> int:
        return sum(len(one.diary.acknowledged) for one in people.values())

    with ThreadPoolExecutor(len(people)) as pool:
        working = [pool.submit(one.work, stop) for one in people.values()]
        try:
            for blow in deck(plan, list(kinds), ground.rng, struck):
                time.sleep(ground.rng.uniform(*plan.calm))
                struck.append(one := faults.strike(ground, kinds, blow, PATIENCE))
                back = f"back after {one.recovery:.1f} s" if one.recovered else f"not back after {one.recovery:.0f} s"
                say(f"{time.monotonic() - begun:5.0f} s  {judged():6,} judgments  {AND.join(one.names)}: {back}")
                if time.monotonic() > deadline:
                    break
            hurry.set()
            while judged() < plan.judgments and time.monotonic() < deadline and not all(map(_idle, people.values())):
                time.sleep(0.1)
        finally:
            stop.set()
        for one in working:
            one.result()
    ground.set_clock(0)
    seconds = time.monotonic() - begun
    summary = manager.finish()
    diaries = {token: one.diary for token, one in people.items()}
    calm = [*faults.hanging(ground), *slow_clients.SENT]
    found = account.account(diaries, url=database_url(ground.winnow.var), study=manager.study, export=summary.export)
    failures = [failure for diary in diaries.values() for failure in diary.failures]
    outside = account.outside(failures, struck)
    return Findings(
        struck, outside, len(failures) - len(outside),
        Counter(what for diary in diaries.values() for what in diary.refused),
        summary, found, list(kinds), plan.within, seconds,
        _longest_gap(sorted(at for diary in diaries.values() for at in diary.times)),
        ground.gave_up, sum(len(one.outbox) for one in people.values()),
        list(_late([one for diary in diaries.values() for one in diary.late], struck, calm)),
        [f"{ground.uploads.least:,} bytes were left"] if ground.uploads.least < LEAST else [],
    )  # fmt: skip


def _late(late: Sequence[Failure], struck: Sequence[Struck], calm: Collection[str]) -> Iterator[Failure]:
    """Return failures that began while only faults lasted that must not make any answer late."""
    windows = [(one.begun, one.well) for one in struck if one.names and {*one.names} <= {*calm}]
    return (one for one in late if any(begun <= one.begun <= well for begun, well in windows))


def _idle(annotator: Annotator) -> bool:
    return not annotator.queue and not annotator.outbox


def _pace(mean: float, hurry: threading.Event, seed: int) -> Callable[[], float]:
    """Return thinking times, exponential around the mean; none once the faults are over."""
    rng = Random(seed)
    return lambda: 0 if hurry.is_set() else rng.expovariate(1 / mean)


def _longest_gap(times: list[float]) -> float:
    return max((later - one for one, later in pairwise(times)), default=0.0)
