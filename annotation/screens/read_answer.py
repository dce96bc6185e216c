"""Convert a screen's submitted fields to the stored answer, and back.

A protocol is given by name, or as an object if stages don't know its name, as for a draft.
"""

from collections.abc import Sequence
from functools import partial

from django.utils.translation import gettext

from annotation.models import Lease, Task
from annotation.protocols import answers
from annotation.protocols.base import CANNOT_JUDGE, Answer, InvalidAnswer, Protocol, SubmittedFields
from annotation.protocols.registry import protocol_named
from annotation.screens.errors import BadAnswer
from annotation.screens.material import texts_of
from annotation.screens.numbers import in_english
from annotation.screens.questions import file_for


def _known(protocol: Protocol | str) -> Protocol:
    return protocol if isinstance(protocol, Protocol) else protocol_named(protocol)


def picked_identity(lease: Lease, protocol: Protocol | str, shown_answer: str) -> str:
    """Return the stored identity (`candidate-0`, `none`) of an answer on screen ("2", "none"). Raises BadAnswer."""
    if shown_answer.isdecimal() and len(shown_answer) < 4 and 1 <= int(shown_answer) <= len(lease.shown):
        return lease.shown[int(shown_answer) - 1]
    if shown_answer == CANNOT_JUDGE or shown_answer in {choice.identity for choice in _known(protocol).fixed}:
        return shown_answer
    if not shown_answer:
        raise BadAnswer(gettext("Pick an answer first."))
    raise BadAnswer(gettext("That is not one of the answers on this screen."))


def place_on_screen(lease: Lease, answer: str) -> str:
    """Invert `picked_identity`."""
    return str(lease.shown.index(answer) + 1) if answer in lease.shown else answer


def parse_answer(lease: Lease, protocol: Protocol | str, sent: SubmittedFields) -> Answer:
    """Return the answer in the submitted fields of a screen. Raises BadAnswer."""
    form, file = _known(protocol).form, _known(protocol).made_from
    if form is None or sent.get("answer") == CANNOT_JUDGE:
        return Answer(picked_identity(lease, protocol, sent.get("answer", "")))
    try:
        return parse_form(lease.task, lease.shown, _known(protocol), in_english(file, sent) if file else sent)
    except InvalidAnswer as lacks:
        values = {name: gettext(value) for name, value in lacks.values.items()}
        raise BadAnswer(gettext(lacks.message) % values if values else gettext(lacks.message)) from None


def parse_form(task: Task, shown: Sequence[str], protocol: Protocol, sent: SubmittedFields) -> Answer:
    """Return the answer in a form's fields, with numbers as stored. Raises InvalidAnswer."""
    assert protocol.form is not None
    file = protocol.made_from
    parse = partial(answers.parse, file_for(file, task)) if file else protocol.form.parse
    return parse(sent, shown, texts_of(task, shown), task.question)


def screen_fields(lease: Lease, protocol: Protocol | str, answer: Answer) -> dict[str, str]:
    """Invert `parse_answer`."""
    form = _known(protocol).form
    if form is None or answer.label == CANNOT_JUDGE:
        return {"answer": place_on_screen(lease, answer.label)}
    return form.fill(answer, lease.shown)
