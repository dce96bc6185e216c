"""Between a screen and what is stored: a place on the screen is an option's identity, its fields are an answer."""

from annotation.models import Lease
from annotation.protocols.base import CANNOT_JUDGE, Answer, InvalidAnswer, SubmittedFields
from annotation.protocols.registry import PROTOCOLS
from annotation.screens.errors import BadAnswer
from annotation.screens.material import texts_of


def picked_identity(lease: Lease, protocol: str, shown_answer: str) -> str:
    """From what was pressed ("2", "none") to the identity that is stored (`candidate-0`, `none`)."""
    if shown_answer.isdecimal() and len(shown_answer) < 4 and 1 <= int(shown_answer) <= len(lease.shown):
        return lease.shown[int(shown_answer) - 1]
    if shown_answer == CANNOT_JUDGE or shown_answer in {choice.identity for choice in PROTOCOLS[protocol].fixed}:
        return shown_answer
    raise BadAnswer("That is not one of the answers on this screen.")


def place_on_screen(lease: Lease, answer: str) -> str:
    """The inverse of `read_answer`."""
    return str(lease.shown.index(answer) + 1) if answer in lease.shown else answer


def parse_answer(lease: Lease, protocol: str, sent: SubmittedFields) -> Answer:
    """From a screen's fields to what is stored; where the answer is one pick, that is all of it."""
    form = PROTOCOLS[protocol].form
    if form is None or sent.get("answer") == CANNOT_JUDGE:
        return Answer(picked_identity(lease, protocol, sent.get("answer", "")))
    try:
        return form.parse(sent, lease.shown, texts_of(lease.task, lease.shown))
    except InvalidAnswer as lacks:
        raise BadAnswer(str(lacks)) from None


def screen_fields(lease: Lease, protocol: str, answer: Answer) -> dict[str, str]:
    """The inverse of `read_form`."""
    form = PROTOCOLS[protocol].form
    if form is None or answer.label == CANNOT_JUDGE:
        return {"answer": place_on_screen(lease, answer.label)}
    return form.fill(answer, lease.shown)
