"""What the worker does again and again."""

import pytest
from django.db import OperationalError, connection

from benchmarks.jobs import rounds
from benchmarks.storage.files import Unavailable


class Ended(BaseException):
    """Ends the rounds."""


@pytest.mark.parametrize(("every", "kept"), [(0, True), (3, False)])
def test_what_goes_wrong_in_one_round_is_not_the_end(monkeypatch, caplog, every, kept):
    """The database's absence too. Only what comes round often keeps its connection, and not after an error."""
    ends, closed = iter([OperationalError("away"), Unavailable("no storage"), KeyError("odd"), None, Ended]), []

    def act() -> None:
        closed.append(0)
        if error := next(ends):
            raise error

    monkeypatch.setattr(rounds.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(connection, "close", lambda: closed.append(1))
    with pytest.raises(Ended):
        rounds.go_round(act, every=every, what="look")
    assert closed == [0, 1, 0, 1, 0, 1, 0, *([] if kept else [1]), 0, 1]
    assert caplog.messages == ["Could not look: away", "Could not look: no storage", "Could not look"]
