"""Every participant of a study, and every submission at Prolific: their work, the pay due, and warning signs.

Warning signs are prompts, in words with their numbers; a person decides (law 7). The number of queries does not grow
with the number of participants.
"""

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from annotation.checks import attention_checks, qualification
from annotation.figures import annotators
from annotation.figures.avoided import Avoided, avoided_screens
from annotation.figures.judgments import judgments_of
from annotation.measures import annotator_behaviour, counts, warning_signs
from annotation.measures.counts import HOUR
from annotation.measures.pay import Pay
from annotation.models import Annotator, Seat, Stage, Study
from annotation.participants.lifecycle import ARRIVED, FINISHED, GIVEN
from annotation.pipeline.stage_rules import rule_of
from benchmarks import audit
from benchmarks.formats import csv_text
from benchmarks.models import Event

NOT_BEGUN, WORKING, FINISHED_STATE, SCREENED_OUT = "not begun", "working", "finished", "screened out"
LEFT, EXCLUDED = "left", "excluded"
LITTLE, COMPARED_FROM = 0.25, 5  # a share of finishers' median number of answers, and how many must have finished
PAY_COLUMNS = (
    "pseudonym", "name", "participant_id", "state", "answers", "answers_that_count", "skipped", "active_minutes",
    "minutes_first_to_last", "pay_due", "pay_first_to_last", "currency",
)  # fmt: skip
Earlier = Mapping[int, Sequence[tuple[int, str, str]]]  # by annotator: end time, submission, its study


@dataclass(slots=True)
class Participant:
    """`answers`: given and not withdrawn, including checks; `counted`: how many of them count; `signs`: sentences.
    `checks`: how many were answered.

    Time and pay: `active_minutes` with the page in view, `span_minutes` from the first judgment to the last.
    """

    annotator: Annotator
    rates: Pay
    session: str = ""  # their submission at Prolific, and its study on Prolific
    prolific_study: str = ""
    state: str = NOT_BEGUN
    answers: int = 0
    counted: int = 0
    avoided: Avoided = field(default_factory=Avoided)  # in this submission
    active_minutes: float = 0.0
    pay: float = 0.0
    checks: int = 0
    checks_right: int = 0
    code: str = ""  # the code last shown for this submission
    signs: list[str] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    @property
    def span_minutes(self) -> float:
        return (max(self.times) - min(self.times)) / HOUR * 60 if self.times else 0.0

    @property
    def span_pay(self) -> float:
        return self.rates.between(min(self.times), max(self.times)) if self.times else 0.0

    @property
    def approve(self) -> bool:
        """Return whether the submission can be approved: they finished, and there is no warning sign."""
        return self.state == FINISHED_STATE and not self.reasons

    @property
    def reasons(self) -> list[str]:
        """Return what to check before approving the submission, or possible grounds for a rejection."""
        who = self.annotator
        found = [f"excluded: {who.exclusion_reason}"] if who.excluded_at else []
        found += [f"left on {who.left_at:%d %b %Y}"] if who.left_at else []
        found += ["screened out before the first screen"] if self.state == SCREENED_OUT and not self.answers else []
        found += ["answered nothing"] if not self.answers and self.state != SCREENED_OUT else []
        found += ["was not shown the completion code"] if self.answers and not self.code else []
        return found + self.signs


def participants(study: Study, data: Mapping) -> list[Participant]:
    """Return the participants in the order of joining, with their work as last computed (`data`, from
    figures/annotators.py); `signs` are only those of avoiding screens and of little work.
    """
    rates, found = Pay.of(study.pay), []
    rows = {row["number"]: row for row in data["whole"]}
    for who in study.annotators.select_related("stage", "excluded_by").order_by("number"):
        one = Participant(who, rates, who.prolific_session, who.prolific_study)
        if row := rows.get(who.number):
            work, checks = data["work"].get(str(who.number), {}), row["checks"] or {"n": 0, "right": 0}
            one.answers, one.active_minutes, one.pay = row["answers"], row["active_minutes"], row["paid"]
            one.counted, one.times = work.get("counted", 0), work.get("times", [])
            one.avoided, one.checks, one.checks_right = Avoided(**work.get("avoided", {})), checks["n"], checks["right"]
        found.append(one)
    _add_ends(study, found)
    return found


def pay_sheet(study: Study, data: Mapping | None) -> str:
    """Return one CSV row per person; until statistics have been computed, only people who joined."""
    found = participants(study, data or {"whole": [], "work": {}})
    rows = [
        (
            one.annotator.pseudonym, one.annotator.name, one.annotator.prolific_pid, one.state, one.answers,
            one.counted, one.avoided.skipped, f"{one.active_minutes:.1f}", f"{one.span_minutes:.1f}", f"{one.pay:.2f}",
            f"{one.span_pay:.2f}", study.currency,
        )
        for one in found
    ]  # fmt: skip
    return csv_text.table([PAY_COLUMNS, *rows])


def submissions(study: Study) -> list[Participant]:
    """Return everyone from Prolific once per submission, in the order of joining, with their work from it to the
    next, including every judgment.
    """
    people = list(study.annotators.select_related("stage", "excluded_by").order_by("number"))
    if not any(who.prolific_pid for who in people):
        return []
    earlier, rates = _earlier(people), Pay.of(study.pay)
    found = {}
    for who in people:
        theirs = [*earlier.get(who.number, ()), (0, who.prolific_session, who.prolific_study)]
        found[who.number] = [Participant(who, rates, session, of) for _, session, of in theirs]
    stages = list(study.stages.all())
    for stage in stages:
        _add_stage(found, earlier, stage, f" in stage {stage.title}" if len(stages) > 1 else "")
    for kind, number, at in avoided_screens(study):
        found[number][_submission(earlier, number, round(at.timestamp() * 1_000_000))].avoided.add(kind)
    everybody = [one for mine in found.values() for one in mine]
    _add_ends(study, everybody)
    return [one for one in everybody if one.annotator.prolific_pid]


def _add_ends(study: Study, everybody: Sequence[Participant]) -> None:
    """Add each submission's state, and signs of missing work."""
    codes = _codes(everybody)
    seats = Seat.objects.filter(stage__study=study, screened_out_at__isnull=False)
    out = set(seats.values_list("annotator", "stage"))
    for one in everybody:
        one.signs += one.avoided.signs(one.answers)
        kind, one.code = codes.get((one.annotator.pk, one.session), ("", ""))
        one.state = _state(one, kind, (one.annotator.pk, one.annotator.stage_id) in out)
    _add_little_work(everybody)


def _earlier(people: Sequence[Annotator]) -> Earlier:
    """Return the submissions that a newer one has replaced, oldest first."""
    names = {audit.named(one): one for one in people}
    found: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    newest = {name: one.prolific_session for name, one in names.items()}
    for event in Event.objects.filter(subject__in=names, verb=ARRIVED).order_by("-pk"):
        session = event.data["before"]["prolific_session"]
        if session and session != newest[event.subject]:
            until = round(event.at.timestamp() * 1_000_000)
            mine = found[names[event.subject].number]
            mine.insert(0, (until, session, event.data["before"]["prolific_study"]))
            newest[event.subject] = session
    return found


def _state(one: Participant, kind: str, out: bool) -> str:
    if one.annotator.excluded_at or one.annotator.left_at:
        return EXCLUDED if one.annotator.excluded_at else LEFT
    if kind == FINISHED or out:
        return FINISHED_STATE if kind == FINISHED else SCREENED_OUT
    return WORKING if one.answers else NOT_BEGUN


def _codes(found: Iterable[Participant]) -> dict[tuple[int, str], tuple[str, str]]:
    """Return the code last shown and its kind, by annotator and submission."""
    names = {audit.named(one.annotator): one.annotator.pk for one in found}
    given = Event.objects.filter(subject__in=names, verb=GIVEN).order_by("pk")
    return {(names[one.subject], one.data["session"]): (one.data["kind"], one.data["code"]) for one in given}


def _submission(earlier: Earlier, number: int, at: int) -> int:
    """Return which of the annotator's submissions something at this time belongs to."""
    return bisect([until for until, _, _ in earlier.get(number, ())], at)


def _add_little_work(everybody: Iterable[Participant]) -> None:
    """Add a sign to those who finished with far fewer answers than the others, whatever the reason."""
    finished = [one for one in everybody if one.state == FINISHED_STATE]
    typical = median([one.answers for one in finished]) if len(finished) >= COMPARED_FROM else 0
    for one in finished:
        if one.answers < LITTLE * typical:
            answers = f"{one.answers} answer{'s' * (one.answers != 1)}"
            one.signs.append(f"finished with {answers}; the median of all who finished is {typical:g}")


def _add_stage(found: Mapping[int, list[Participant]], earlier: Earlier, stage: Stage, where: str) -> None:
    """Add everyone's work in the stage; `where` names the stage in warning signs."""
    by_submission: dict[tuple[int, int], list[int]] = defaultdict(list)  # the places of judgments
    last: dict[int, int] = {}  # by annotator, their last submission with a judgment here
    rows = judgments_of(stage)
    for place, (number, at) in enumerate(zip(rows.annotator.tolist(), rows.at.tolist(), strict=True)):
        which = _submission(earlier, number, at)
        by_submission[number, which].append(place)
        last[number] = max(which, last.get(number, 0))
    everybody = annotator_behaviour.stage_behaviour(rows, rule_of(stage).projections())
    for (number, which), places in by_submission.items():
        one, mine = found[number][which], rows[places]
        one.answers += annotator_behaviour.count_answers(mine)
        one.counted += int(mine.counted.sum())
        minutes = int(mine.active_ms.sum()) / 60_000
        one.active_minutes += minutes
        one.pay += one.rates.earned(mine, minutes / 60)
        one.times += [int(mine.at.min()), int(mine.at.max())]
        considered = annotator_behaviour.judgments_considered(mine, False)
        _add_signs(one, counts.work_signs(considered, everybody.usual), where)
    checked, tried = attention_checks.results(stage), qualification.results(stage)
    by_annotator, none = rows.by_annotator(), rows[:0]
    for number, submissions in found.items():
        one = submissions[last.get(number, -1)]  # the rest can't be split by submission
        considered = annotator_behaviour.judgments_considered(by_annotator.get(number, none), False)
        compared = annotator_behaviour.comparison_with_others(number, considered, everybody)
        _add_signs(one, annotator_behaviour.comparison_signs(compared), where)
        checks = checked.get(number)
        if checks:
            one.checks += checks.n
            one.checks_right += checks.right
        _add_signs(one, annotators.known_signs(checks), where)
        passed = {kind: result.passed for kind, result in tried.get(number, {}).items()}
        _add_signs(one, warning_signs.qualification_signs(passed), where)


def _add_signs(one: Participant, signs: Iterable[warning_signs.Sign], where: str) -> None:
    one.signs += [f"{sign.words}{where}" for sign in signs]
