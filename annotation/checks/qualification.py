"""Before a stage: comprehension questions, and practice with feedback. Failing may screen out (OnFailure).

Each try is an `Attempt`: at all questions at once, or at practice screen by screen. The order of screens and options is
drawn once per attempt, so a reload shows the same page. Every function is idempotent.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.utils import timezone

from annotation.measures import pass_rules
from annotation.models import Annotator, Attempt, AttemptKind, Kind, Lease, OnFailure, Seat, Slot, Stage, Task
from annotation.screens import read_answer
from benchmarks import audit

COMPREHENSION_TRIES = 2  # the least that Prolific allows


def wanted(stage: Stage) -> bool:
    """Return whether anything is left to pass between the instructions and the first screen."""
    return bool(stage.comprehension) or practice_tasks(stage).exists()


def practice_tasks(stage: Stage):
    return stage.tasks.filter(kind=Kind.PRACTICE, live=True).order_by("pk")


def tries_of(stage: Stage, kind: str) -> int:
    return max(COMPREHENSION_TRIES, stage.practice_tries) if kind == AttemptKind.COMPREHENSION else stage.practice_tries


def digest(questions: Sequence[Mapping]) -> str:
    """Return a digest of a form's questions, to notice that they have changed since it was shown. It is sent to the
    browser, so it excludes the correct answers, which could otherwise be found by trying them all.
    """
    asked = [[one["question"], one["options"]] for one in questions]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]


# An annotator's next step


@dataclass(frozen=True)
class Step:
    """The next step before the first screen: `questions` or `screen` (to be answered or, if `answered`, with feedback).

    `before` is the last failed attempt, `tries` the number allowed; in practice, `place` of `places`.
    """

    kind: str
    number: int
    tries: int
    before: Attempt | None = None
    attempt: Attempt | None = None
    place: int = 0
    places: int = 0
    entry: dict = field(default_factory=dict)
    task: Task | None = None

    @property
    def answered(self) -> bool:
        return bool(self.entry.get("answer"))

    @property
    def lease(self) -> Lease:
        """Return an unsaved lease from which the screen is drawn."""
        made = Lease(task=self.task, shown=self.entry["shown"])
        made.token = f"practice-{self.number}-{self.place}"
        made.previous = {"answer": read_answer.place_on_screen(made, self.entry["answer"])}
        return made


@transaction.atomic
def step(*, annotator: Annotator, stage: Stage) -> Step | None:
    """Return what the annotator must pass next; None if they are ready, or have just been screened out."""
    seat = _locked(annotator, stage)
    if seat.ready_at or seat.screened_out_at:
        return None
    if stage.comprehension:
        made = list(seat.attempts.filter(kind=AttemptKind.COMPREHENSION))
        tries = tries_of(stage, AttemptKind.COMPREHENSION)
        if not _is_over(made, tries):
            before, places = made[-1] if made else None, len(stage.comprehension)
            return Step(AttemptKind.COMPREHENSION, len(made) + 1, tries, before, places=places)
    screen = _practice_screen(seat, stage)
    if screen is None:
        seat.ready_at = timezone.now()
        seat.save(update_fields=["ready_at"])
    return screen


def _locked(annotator: Annotator, stage: Stage) -> Seat:
    return Seat.objects.select_for_update(no_key=True, of=("self",)).get(annotator=annotator, stage=stage)


def _is_over(made: Sequence[Attempt], tries: int) -> bool:
    return any(attempt.passed for attempt in made) or sum(attempt.passed is False for attempt in made) >= tries


def _practice_screen(seat: Seat, stage: Stage) -> Step | None:
    """Return the attempt's first screen that has no answer yet, or whose feedback has not been read."""
    made, tries = list(seat.attempts.filter(kind=AttemptKind.PRACTICE)), tries_of(stage, AttemptKind.PRACTICE)
    tasks = {task.pk: task for task in practice_tasks(stage).select_related("item")}
    while tasks and not seat.screened_out_at and not _is_over(made, tries):
        attempt = next((attempt for attempt in made if attempt.passed is None), None)
        if attempt is None:
            number, answers = len(made) + 1, _draw(tasks.values())
            attempt = Attempt.objects.create(seat=seat, kind=AttemptKind.PRACTICE, number=number, answers=answers)
            made.append(attempt)
        if not any(entry["task"] in tasks for entry in attempt.answers):
            attempt.answers = _draw(tasks.values())  # all screens have been replaced in the meantime
            attempt.save(update_fields=["answers"])
        entries = [entry for entry in attempt.answers if entry["task"] in tasks]
        for place, entry in enumerate(entries, 1):
            if not entry["seen"]:
                before = next((one for one in made if one.number == attempt.number - 1), None)
                return Step(
                    AttemptKind.PRACTICE, attempt.number, tries, before, attempt, place, len(entries), entry,
                    tasks[entry["task"]],
                )  # fmt: skip
        right = sum(entry["right"] for entry in entries)
        _finish(seat, stage, attempt, pass_rules.enough_right(right, len(entries), stage.practice_pass))
    return None


def _draw(tasks: Iterable[Task]) -> list[dict]:
    """Return the screens of an attempt in an order drawn for it, as are each screen's options (law 4)."""
    drawn = random.SystemRandom()
    entries = [
        {"task": task.pk, "shown": drawn.sample(task.options, len(task.options)), "answer": "", "right": None,
         "seen": False}
        for task in tasks
    ]  # fmt: skip
    drawn.shuffle(entries)
    return entries


# Answering


@transaction.atomic
def answer_questions(
    *, annotator: Annotator, stage: Stage, number: int, answers: Sequence[int | None], about: str
) -> Attempt | None:
    """Record an attempt at all questions; every answer must be right. Sending the same attempt again, or one at
    questions that have changed since, does nothing.
    """
    seat = _locked(annotator, stage)
    made = list(seat.attempts.filter(kind=AttemptKind.COMPREHENSION))
    over = seat.ready_at or seat.screened_out_at or _is_over(made, tries_of(stage, AttemptKind.COMPREHENSION))
    if over or number != len(made) + 1 or about != digest(stage.comprehension):
        return None
    right = pass_rules.answers_right(stage.comprehension, answers)
    entries = [
        {"question": question["question"], "shown": question["options"], "answer": given, "right": ok}
        for question, given, ok in zip(stage.comprehension, answers, right, strict=True)
    ]
    attempt = Attempt(seat=seat, kind=AttemptKind.COMPREHENSION, number=number, answers=entries)
    _finish(seat, stage, attempt, all(right))
    return attempt


@transaction.atomic
def answer_screen(*, annotator: Annotator, stage: Stage, number: int, place: int, shown_answer: str) -> bool:
    """Record an answer to a practice screen; only the first answer counts. Return whether it did. Raises BadAnswer."""
    now = step(annotator=annotator, stage=stage)
    if now is None or not (now.attempt and now.task) or (now.number, now.place) != (number, place) or now.answered:
        return False
    answer = read_answer.picked_identity(now.lease, stage.protocol, shown_answer)
    now.entry.update(answer=answer, right=answer in now.task.gold)
    now.attempt.save(update_fields=["answers"])
    return True


@transaction.atomic
def go_on(*, annotator: Annotator, stage: Stage, number: int, place: int) -> None:
    """Record that the feedback was read. After the last screen's feedback, the attempt is over."""
    now = step(annotator=annotator, stage=stage)
    if now is None or not now.attempt or (now.number, now.place) != (number, place) or not now.answered:
        return
    now.entry["seen"] = True
    now.attempt.save(update_fields=["answers"])
    step(annotator=annotator, stage=stage)


# The end of an attempt


def _finish(seat: Seat, stage: Stage, attempt: Attempt, passed: bool) -> None:
    attempt.passed, attempt.finished_at = passed, timezone.now()
    attempt.save()
    verb = f"{'passed' if passed else 'failed'} {attempt.kind}"
    audit.record(by=audit.named(seat.annotator), verb=verb, subject=stage, number=attempt.number)
    last = attempt.number >= tries_of(stage, attempt.kind)
    if not passed and last and stage.on_failure == OnFailure.SCREEN_OUT:
        _screen_out(seat, stage)


def _screen_out(seat: Seat, stage: Stage) -> None:
    """Screen the annotator out before any judgment and free what was reserved for them."""
    mine = Slot.objects.filter(stage=stage, reserved=seat.annotator, annotator=None)
    mine.filter(task__kind=Kind.CHECK, leases=None).delete()
    mine.update(reserved=None)
    seat.screened_out_at, seat.batch, seat.place = timezone.now(), None, None
    seat.save(update_fields=["screened_out_at", "batch", "place"])
    audit.record(by=audit.named(seat.annotator), verb="screened out", subject=stage)


# Results


@dataclass(frozen=True, slots=True)
class Result:
    """An annotator's attempts of one kind, oldest first: the share correct in each. `passed` None: in progress."""

    shares: tuple[float, ...]
    passed: bool | None


def results(stage: Stage) -> dict[int, dict[str, Result]]:
    """Return attempts by annotator's number and by kind."""
    found: dict[int, dict[str, list[Attempt]]] = {}
    attempts = Attempt.objects.filter(seat__stage=stage).select_related("seat__annotator")
    for attempt in attempts.order_by("seat__annotator__number", "kind", "number"):
        found.setdefault(attempt.seat.annotator.number, {}).setdefault(attempt.kind, []).append(attempt)
    return {
        number: {kind: _result(tries, tries_of(stage, kind)) for kind, tries in of_kind.items()}
        for number, of_kind in found.items()
    }


def _result(made: Sequence[Attempt], tries: int) -> Result:
    shares = tuple(
        sum(bool(entry["right"]) for entry in one.answers) / len(one.answers)
        for one in made
        if one.passed is not None and one.answers
    )
    return Result(shares, any(one.passed for one in made) if _is_over(made, tries) else None)


def right_answers_needed(stage: Stage, items: int) -> int:
    """Return how many of `items` practice answers must be correct to pass."""
    return pass_rules.required_right(items, stage.practice_pass)
