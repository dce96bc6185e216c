"""Why a request of an annotator is refused: a sentence for them, and a status for HTTP."""


class Refused(Exception):
    """The request cannot be carried out; the message is for the annotator, `status` for HTTP."""

    status = 409


class UnknownLease(Refused):
    status = 404


class KeyReused(Refused):
    """The same key with another body (law 3)."""


class BadAnswer(Refused):
    status = 422


class NotOpen(Refused):
    pass


class NothingToUndo(Refused):
    pass
