"""Reasons for refusing an annotator's request: a sentence for them, and an HTTP status."""

from django.utils.translation import gettext

from annotation.models import Judgment


class Refused(Exception):
    """The request cannot be carried out; the message is for the annotator, `status` for HTTP."""

    status = 409


class UnknownLease(Refused):
    status = 404


class KeyReused(Refused):
    """The same key was sent with a different body (law 3)."""


class BadAnswer(Refused):
    status = 422


class NotOpen(Refused):
    pass


class AnsweredElsewhere(Refused):
    """The screen got another answer after the page was made: `stored` is that judgment, `given` the refused one."""

    def __init__(self, stored: Judgment, given: Judgment):
        self.stored, self.given = stored, given
        super().__init__(gettext("You answered this screen in two tabs. Which answer should count?"))


class NothingToUndo(Refused):
    pass
