"""Everybody in a study as a manager looks at them: what they did, what is due to them, what to look at.

Signs are reasons to look, in words with their figures; a person decides (law 7). As many queries for one participant
as for a thousand.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median

from annotation import checks, tallies, training
from annotation.endings import FINISHED, GIVEN
from annotation.figures import judgment_rows
from annotation.models import Annotator, Kind, Seat, Stage, Study
from annotation.protocols.registry import PROTOCOLS
from annotation.tallies import HOUR, Given
from benchmarks import events
from benchmarks.models import Event

NOT_BEGUN, WORKING, FINISHED_STATE, SCREENED_OUT = "not begun", "working", "finished", "screened out"
LEFT, EXCLUDED = "left", "excluded"
FAILED = {"comprehension": "the questions about the rules", "training": "the practice"}


@dataclass(slots=True)
class Participant:
    """`answers` stand, checks among them, and `counted` of them count; `signs` are sentences.

    Time and pay: `active_minutes` with the page in view, `span_minutes` from the first judgment to the last.
    """

    annotator: Annotator
    state: str = NOT_BEGUN
    answers: int = 0
    counted: int = 0
    active_minutes: float = 0.0
    span_minutes: float = 0.0
    pay_per_hour: float = 0.0
    checks: int = 0
    checks_right: int = 0
    code: str = ""  # the one that they were shown last, for their newest submission
    signs: list[str] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    @property
    def pay(self) -> float:
        return self.active_minutes / 60 * self.pay_per_hour

    @property
    def span_pay(self) -> float:
        return self.span_minutes / 60 * self.pay_per_hour

    @property
    def approve(self) -> bool:
        """Nothing speaks against it: they finished, and there is no sign."""
        return self.state == FINISHED_STATE and not self.reasons

    @property
    def reasons(self) -> list[str]:
        """What to look at before the submission is approved, or what a rejection could say."""
        who = self.annotator
        found = [f"excluded: {who.exclusion_reason}"] if who.excluded_at else []
        found += [f"left on {who.left_at:%d %b %Y}"] if who.left_at else []
        found += ["screened out before the first screen"] if self.state == SCREENED_OUT and not self.answers else []
        found += ["answered nothing"] if not self.answers and self.state != SCREENED_OUT else []
        found += ["was not shown the completion code"] if self.answers and not self.code else []
        return found + self.signs


def participants(study: Study) -> list[Participant]:
    """In the order of joining."""
    people = study.annotators.select_related("stage", "excluded_by").order_by("number")
    pay = float(study.pay_per_hour)
    found = {one.number: Participant(one, pay_per_hour=pay) for one in people}
    stages = list(study.stages.all())
    for stage in stages:
        _add_stage(found, stage, f" in stage {stage.name}" if len(stages) > 1 else "")
    codes, out = _codes(found.values()), _screened_out(study)
    for one in found.values():
        one.span_minutes = (max(one.times) - min(one.times)) / HOUR * 60 if one.times else 0.0
        kind, one.code = codes.get((one.annotator.pk, one.annotator.prolific_session), ("", ""))
        one.state = _state(one, kind, (one.annotator.pk, one.annotator.stage_id) in out)
    return list(found.values())


def _state(one: Participant, kind: str, out: bool) -> str:
    if one.annotator.excluded_at or one.annotator.left_at:
        return EXCLUDED if one.annotator.excluded_at else LEFT
    if kind == FINISHED or out:
        return FINISHED_STATE if kind == FINISHED else SCREENED_OUT
    return WORKING if one.answers else NOT_BEGUN


def _codes(found: Iterable[Participant]) -> dict[tuple[int, str], tuple[str, str]]:
    """By annotator and submission: the kind of the code that was shown last, and the code."""
    names = {events.named(one.annotator): one.annotator.pk for one in found}
    given = Event.objects.filter(subject__in=names, verb=GIVEN).order_by("pk")
    return {(names[one.subject], one.data["session"]): (one.data["kind"], one.data["code"]) for one in given}


def _screened_out(study: Study) -> set[tuple[int, int]]:
    seats = Seat.objects.filter(stage__study=study, screened_out_at__isnull=False)
    return set(seats.values_list("annotator", "stage"))


def _add_stage(found: dict[int, Participant], stage: Stage, where: str) -> None:
    """What everybody did in the stage; `where` is how their signs name it."""
    protocol, of = PROTOCOLS[stage.protocol], defaultdict(list)
    rows = judgment_rows(stage)
    for row in rows:
        of[row.annotator].append(row)
    everyone = median([row.active_ms for row in rows if row.counted and row.kind == Kind.JUDGE] or [0])
    fixed = [choice.identity for choice in protocol.fixed]
    for number, mine in of.items():
        figures = tallies.annotator(number, mine, everyone, 0.0, fixed)
        _add_rows(found[number], mine, figures)
        found[number].signs += [f"{sign}{where}" for sign in _signs(figures, everyone / 1000)]
    for number, result in checks.results(stage).items():
        found[number].checks += result.n
        found[number].checks_right += result.right
        if result.failed:
            guess = f"guessing gets {result.n * result.guess_rate:.1f}"
            found[number].signs.append(f"{result.right} of {result.n} checks right, {guess}{where}")
    for number, kinds in training.results(stage).items():
        failed = [kind for kind, result in kinds.items() if result.passed is False]
        found[number].signs += [f"did not pass {FAILED[kind]}{where}" for kind in failed]


def _add_rows(one: Participant, rows: Sequence[Given], figures: dict) -> None:
    last = {(row.task, row.slot): row for row in rows}  # they come by the time of giving
    one.answers += sum(not row.withdrawn for row in last.values())
    one.counted += sum(row.counted for row in rows)
    one.active_minutes += figures["active_minutes"]
    one.times += [min(row.at for row in rows), max(row.at for row in rows)]


def _signs(figures: dict, everyone: float) -> list[str]:
    found = []
    if "fast" in figures["signs"]:
        found.append(f"{figures['median_seconds']:.1f} s a screen, everybody {everyone:.1f} s")
    if "side" in figures["signs"]:
        top = max(figures["places"])
        place = figures["places"].index(top) + 1
        found.append(f"picked place {place} in {top / figures['picks']:.0%} of {figures['picks']} picks")
    return found
