"""Annotators' pages before the first screen: comprehension questions, then practice with feedback.

These are plain forms: a reload shows the same page, and sending a form twice has no further effect. The server sends
right answers only after the annotator's answer.
"""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods

from annotation.checks import qualification
from annotation.checks.qualification import Step
from annotation.judging import next_step
from annotation.judging.views import at_desk, instructions_shown, newest_instructions, page
from annotation.models import AttemptKind
from annotation.permissions import Desk, whole_number
from annotation.protocols.registry import protocol_named
from annotation.screens import errors, read_answer
from annotation.screens.screens import build_screens

DIGITS = 5  # the most digits in a number that a form sends
MISSING = gettext_lazy("Answer every question, then send your answers.")


@require_http_methods(["GET", "HEAD", "POST"])
@at_desk
def before(request: HttpRequest, here: Desk) -> HttpResponse:
    """Show the questions, or a practice screen; an annotator with neither is sent to the judging page."""
    if next_step.stopped_by(here) != "before":
        return redirect("judge", here.annotator.token)
    if request.method == "POST":
        return _take(request.POST, here)
    step = qualification.step(annotator=here.annotator, stage=here.stage)
    return redirect("judge", here.annotator.token) if step is None else _page(here, step)


def _take(sent: QueryDict, here: Desk) -> HttpResponse:
    annotator, stage = here.annotator, here.stage
    number, place = (whole_number(sent.get(name), DIGITS) or 0 for name in ("number", "place"))
    if sent.get("kind") == AttemptKind.COMPREHENSION:
        names = [f"question-{place}" for place in range(1, len(stage.comprehension) + 1)]
        answers = [whole_number(sent.get(name), DIGITS) for name in names]
        step = qualification.step(annotator=annotator, stage=stage)
        if None in answers and step is not None and step.kind == AttemptKind.COMPREHENSION:
            return _page(here, step, chosen=answers, missing=MISSING, status=422)
        about = sent.get("about", "")
        qualification.answer_questions(annotator=annotator, stage=stage, number=number, answers=answers, about=about)
    elif "go_on" in sent:
        qualification.go_on(annotator=annotator, stage=stage, number=number, place=place)
    else:
        with suppress(errors.BadAnswer):  # nothing was picked, so the same screen again
            qualification.answer_screen(
                annotator=annotator, stage=stage, number=number, place=place, shown_answer=sent.get("answer", "")
            )
    return redirect("judge-before", annotator.token)


def _page(here: Desk, step: Step, status: int = 200, **context) -> HttpResponse:
    context |= {"study": here.stage.study, "step": step, "last": step.number == step.tries}
    if step.kind == AttemptKind.COMPREHENSION:
        context |= _questions(here, step, context.get("chosen"))
    else:
        context |= _practice(here, step)
    return page(f"before_{step.kind}", here, status, **context)


def _questions(here: Desk, step: Step, chosen: list | None) -> dict:
    stage = here.stage
    chosen = chosen or [None] * len(stage.comprehension)
    asked = [
        {"text": one["question"], "options": list(enumerate(one["options"])), "chosen": given}
        for one, given in zip(stage.comprehension, chosen, strict=True)
    ]
    context = {"questions": asked, "about": qualification.digest(stage.comprehension)}
    if step.before is not None:
        context["right_before"] = sum(entry["right"] for entry in step.before.answers)
    return context | instructions_shown(stage, newest_instructions(here), 2)


def _practice(here: Desk, step: Step) -> dict:
    """Return the context for practice; the right answer and the note only once there is an answer."""
    context: dict[str, object] = {"screen": build_screens([step.lease], here.stage)[0]}
    if step.before is not None:
        n = len(step.before.answers)
        context["right_before"] = sum(bool(entry["right"]) for entry in step.before.answers)
        context |= {"of_before": n, "needed": qualification.right_answers_needed(here.stage, n)}
    if step.answered and step.task:
        labels = {choice.identity: choice.label for choice in protocol_named(here.stage.protocol).fixed}
        right = [read_answer.place_on_screen(step.lease, answer) for answer in step.task.gold]
        context |= {"right": [gettext(labels[one]) if one in labels else one for one in right], "note": step.task.note}
        context["was_right"] = step.entry["right"]
    return context
