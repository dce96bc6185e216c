"""Counting and comparing judgments: outcomes, annotators, types, pace. Pure; figures/stage.py feeds it from the database.

docs/reference/measures.md defines every figure that is made here.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import NamedTuple

from annotation.measures import agreement, warning_signs
from annotation.measures.warning_signs import Sign
from annotation.protocols.base import CANNOT_JUDGE, Answer, Protocol
from annotation.protocols.decision_rule import (
    CONFIRM_CAP,
    DROPPED,
    EDITED,
    KEPT,
    MAJORITY,
    OPEN,
    TO_ESTIMATE,
    Decision,
    Posterior,
    answered,
    confirm,
    content_of,
    decide,
    is_edit,
    kinds_of,
)
from annotation.wording.pseudonyms import pseudonym

BINS = 60  # at most, in the series of judgments over time
WIDTHS = (1, 5, 15, 60, 360, 1440, 10080)  # minutes
JUDGE = "judge"  # the kind of rows that are no checks
HOUR = 3_600_000_000  # microseconds
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NO_ANSWERS = "nothing is judged yet"

Projection = Callable[[str], str]


Place = tuple[int, str, int]  # a task: its item's position, the question, the round; sorts as the items do


class Given(NamedTuple):
    """One judgment row. `place` is where the answer stood on the screen, from 1, or None.

    `counted` is the judgment that stands on its slot, `live` one on a task whose item is in the stage. `at` is in
    microseconds since 1970.
    """

    task: Place
    kind: str
    live: bool
    type: str
    subtype: str
    slot: int
    annotator: int
    answer: str
    place: int | None
    places: int
    active_ms: int
    counted: bool
    surplus: bool
    withdrawn: bool
    at: int


class Asked(NamedTuple):
    """One live task with what came of it; `state` is None while it is open."""

    task: Place
    type: str
    subtype: str
    overlap: int
    state: str | None
    reason: str | None
    by: str | None


class Rule(NamedTuple):
    """What the decision needs to know of a stage."""

    protocol: Protocol
    overlap: int
    tie_rule: str
    cap: int | None = None
    rule: str = MAJORITY

    def settle(
        self, given: Sequence[Answer], overlap: int | None = None, posterior: Posterior | None = None
    ) -> Decision:
        """What the answers come to, with what goes with it."""
        if self.protocol.confirms:
            wanted = overlap or self.overlap
            return confirm(given, cap=self.cap or CONFIRM_CAP, reason=self.protocol.reason, overlap=wanted)
        decision = self.decide([answer.label for answer in given], overlap, posterior)
        return replace(decision, content=content_of(decision.outcome, given))

    def alike(self, answers: Sequence[str]) -> set[str]:
        """Those of the answers that are votes for one thing."""
        fixed = {choice.identity for choice in self.protocol.fixed} | {CANNOT_JUDGE}
        return set(answers) - fixed if self.protocol.alike else set()

    def kinds(self, answers: Sequence[str]) -> list[str]:
        return kinds_of(answers, self.alike(answers))

    def estimated(self, answers: Sequence[str]) -> list[str]:
        """The kinds as an estimate tells them apart: where a task has one candidate, its place says nothing of it."""
        return ["candidate" if kind.startswith("candidate-") else kind for kind in self.kinds(answers)]

    def decide(
        self, answers: Sequence[str], overlap: int | None = None, posterior: Posterior | None = None
    ) -> Decision:
        """`overlap` of the task, where it is not the stage's. Dawid and Skene's rule needs the task's `posterior`."""
        wanted = overlap or self.overlap
        if self.rule != MAJORITY and posterior is None:
            return Decision(OPEN, reason=TO_ESTIMATE if len(answers) >= wanted else "")
        if posterior is not None:
            known = zip(self.kinds(answers), self.estimated(answers), strict=True)
            posterior = {kind: posterior[estimated] for kind, estimated in known}
        decision = decide(
            answers,
            overlap=wanted,
            tie_rule=self.tie_rule,
            reason=self.protocol.reason,
            alike=self.alike(answers),
            posterior=posterior,
        )
        return answered(decision) if self.protocol.measures else decision

    def views(self) -> dict[str, Projection]:
        """What agreement is computed on, by name: the answer, and the protocol's projections. Who takes somebody's edit
        says what its author said.
        """
        return {"answer": lambda answer: EDITED if is_edit(answer) else answer, **self.protocol.projections}


def moment(at: int | None) -> str | None:
    return None if at is None else (EPOCH + timedelta(microseconds=at)).isoformat()


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def outcomes(asked: Collection[Asked]) -> dict:
    """kept + dropped + open = tasks; the reasons add up to dropped."""
    states = Counter(task.state for task in asked)
    settled = states[KEPT] + states[DROPPED]
    return {
        "tasks": len(asked),
        "kept": states[KEPT],
        "dropped": states[DROPPED],
        "open": len(asked) - settled,
        "reasons": _sorted(Counter(task.reason for task in asked if task.state == DROPPED)),
        "decided_by": _sorted(Counter(task.by for task in asked if task.state)),
        "kept_share": ratio(states[KEPT], settled),
    }


def _sorted(counts: Counter) -> dict[str, int]:
    return dict(sorted(counts.items()))


def table(counted: Iterable[Given]) -> agreement.Table:
    return agreement.Table((row.task, row.annotator, row.answer) for row in counted)


def agreement_on(name: str, long: agreement.Table) -> dict:
    pairs = agreement.cohen_kappas(long)
    return {
        "on": name,
        "percent": asdict(agreement.percent(long)),
        "kappa_mean": asdict(agreement.mean_kappa(pairs)),
        "kappa_pairs": [flat(pair) for pair in pairs],
        "alpha": alpha(long),
    }


def flat(pair: agreement.PairKappa) -> dict:
    """What `asdict` makes of it, in a tenth of the time: 500 annotators make 124,750 pairs."""
    return {name: getattr(pair, name) for name in pair.__slots__}


def alpha(long: agreement.Table) -> dict:
    return {**asdict(agreement.alpha(long)), "interval": asdict(agreement.alpha_interval(long))}


def by_type(asked: Iterable[Asked], standing: Iterable[Given], long: agreement.Table) -> list[dict]:
    """A row for each type and subtype; agreement on the labels of `long`."""
    groups, judgments = defaultdict(list), Counter((row.type, row.subtype) for row in standing)
    for task in asked:
        groups[task.type, task.subtype].append(task)
    return [
        {
            "type": kind,
            "subtype": subtype,
            **outcomes(tasks),
            "judgments": judgments[kind, subtype],
            **agreement_within(long, (task.task for task in tasks)),
        }
        for (kind, subtype), tasks in sorted(groups.items())
    ]


def agreement_within(long: agreement.Table, tasks: Iterable) -> dict:
    part = long.of(set(tasks))
    return {"percent": asdict(agreement.percent(part)), "alpha": alpha(part)}


def pace(counted: Sequence[Given]) -> dict:
    """Counted judgments between the first and the last of them, an hour."""
    if not counted:
        return {"first": None, "last": None, "hours": 0.0, "per_hour": None, "reason": NO_ANSWERS}
    first, last = min(row.at for row in counted), max(row.at for row in counted)
    hours = (last - first) / HOUR
    reason = "" if hours else "all judgments came at one moment"
    return {
        "first": moment(first),
        "last": moment(last),
        "hours": hours,
        "per_hour": ratio(len(counted), hours),
        "reason": reason,
    }


def series(counted: Sequence[Given]) -> dict:
    """Counted judgments in bins of equal width from first to last; the narrowest width that needs at most `BINS`."""
    if not counted:
        return {"minutes": 60, "bins": []}
    times = [row.at // 60_000_000 for row in counted]
    width = next((w for w in WIDTHS if max(times) // w - min(times) // w < BINS), WIDTHS[-1])
    counts = Counter(time // width for time in times)
    span = range(min(counts), max(counts) + 1)
    bins = [{"from": moment(place * width * 60_000_000), "judgments": counts[place]} for place in span]
    return {"minutes": width, "bins": bins}


def annotator(
    number: int, rows: Sequence[Given], everyone: float | None, pay_per_hour: float, fixed: Sequence[str]
) -> dict:
    """One annotator's figures from their judgment rows; `everyone` is the median active time of all, in ms.

    Time is counted on every row, all else on those that are no checks. `fixed` are the answers that are not shuffled.
    """
    own = [row for row in rows if row.kind == JUDGE]
    counted = [row for row in own if row.counted]
    active = sum(row.active_ms for row in rows) / 3_600_000
    typical = median(row.active_ms for row in counted) if counted else None
    picks = picks_of(counted)
    answers = Counter(row.answer for row in counted if not row.place)
    return {
        "annotator": pseudonym(number),
        "judged": len(counted),
        "median_seconds": None if typical is None else typical / 1000,
        "fixed_shares": {answer: ratio(answers[answer], len(counted)) for answer in fixed},
        "cannot_judge": answers[CANNOT_JUDGE],
        "picks": len(picks),
        "places": warning_signs.places(picks),
        "withdrawn": sum(row.withdrawn for row in own),
        "surplus": sum(row.surplus and not row.withdrawn for row in own),
        "active_minutes": active * 60,
        "paid": active * pay_per_hour,
        "signs": [sign.kind for sign in work_signs(counted, everyone)],
    }


def work_signs(counted: Sequence[Given], everyone: float | None) -> list[Sign]:
    """What somebody's counted judgments in a stage show by themselves; `everyone` is the median time of all, in ms."""
    typical = median(row.active_ms for row in counted) if counted else None
    return warning_signs.of_work(len(counted), typical, everyone, picks_of(counted))


def picks_of(rows: Iterable[Given]) -> list[warning_signs.Pick]:
    """The places that were picked, in the order of giving."""
    return [(row.place, row.places) for row in sorted(rows, key=lambda row: (row.at, row.task)) if row.place]
