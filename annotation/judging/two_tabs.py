"""Ask which answer should count when an annotator has answered one screen in two tabs.

Both answers are described by their places on the screen, never by identity (law 4).
"""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext

from annotation.models import Judgment
from annotation.permissions import Desk
from annotation.protocols.base import CANNOT_JUDGE, SENTENCE, Answer, Form
from annotation.protocols.registry import protocol_named
from annotation.screens.errors import AnsweredElsewhere
from annotation.screens.material import Part
from annotation.screens.read_answer import screen_fields
from annotation.screens.screens import build_screens

UNSENT = {"seen", "have", "ahead"}  # fields that the form of the question about both answers does not repeat


def question(here: Desk, conflict: AnsweredElsewhere, sent: Mapping[str, str]) -> dict:
    """Return the question's context: the screen, both answers in words, and the fields that would store the second.

    `stands`: the stored answer as the script keeps it, either a place or a form's fields.
    """
    lease = conflict.given.lease
    [screen] = build_screens([lease], here.stage)
    options = screen.shown["options"]
    fields = _fields(conflict.stored)
    return {
        "asked": screen.shown["question"], "captions": screen.shown["captions"],
        "stored": _in_words(conflict.stored, options), "given": _in_words(conflict.given, options),
        "fields": {name: sent[name] for name in sent if name not in UNSENT} | {"seen": conflict.stored.key},
        "spoken": screen.shown["spoken"],
        "stands": fields if _form(conflict.stored) else fields["answer"], "sentence": str(conflict),
    }  # fmt: skip


def _form(judgment: Judgment) -> Form | None:
    protocol = protocol_named(judgment.lease.task.stage.protocol)
    return None if judgment.answer == CANNOT_JUDGE else protocol.form


def _fields(judgment: Judgment) -> dict[str, str]:
    answer = Answer(judgment.answer, judgment.content)
    return screen_fields(judgment.lease, judgment.lease.task.stage.protocol, answer)


def _in_words(judgment: Judgment, options: Sequence[Part]) -> dict:
    """Return `words`, and the `picture` if one was picked; `options` are in the order shown."""
    if judgment.answer == CANNOT_JUDGE:
        return {"words": gettext("Cannot judge: %(reason)s") % {"reason": judgment.reason}}
    fields, form = _fields(judgment), _form(judgment)
    if form:
        words = [option.get("text") or option["called"] for option in options]
        phrases = form.describe_fields(fields, words, judgment.lease.shown)
        return {"words": " ".join(_translated(*phrase) for phrase in phrases)}
    place = fields["answer"]
    labels = {choice.identity: choice.label for choice in protocol_named(judgment.lease.task.stage.protocol).fixed}
    if place in labels:
        return {"words": gettext(labels[place])}
    picked = options[int(place) - 1]
    if "url" in picked:
        return {"words": gettext("Picture %(place)s") % {"place": place}, "picture": picked}
    return {"words": _translated(SENTENCE, {"place": place, "sentence": picked["text"]})}


def _translated(message: str, values: Mapping[str, str]) -> str:
    """Translate the message; values are English if they are a question or one of its fixed answers."""
    ours = {name for name, value in values.items() if value and name in ("question", "answer")}
    return gettext(message) % {name: gettext(value) if name in ours else value for name, value in values.items()}
