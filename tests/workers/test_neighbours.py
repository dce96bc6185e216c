"""A neighbour that hangs costs one wait, with a part of the threads, until it has answered again."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from workers import neighbours
from workers.neighbours import Neighbour, Unresponsive

LIMIT = 0.2


class Hangs:
    """Answers "yes", unless it hangs."""

    def __init__(self):
        self.goes_on, self.asked = threading.Event(), 0
        self.goes_on.set()

    def __call__(self) -> str:
        self.asked += 1
        self.goes_on.wait(10)
        return "yes"


@pytest.fixture
def hangs() -> Iterator[Hangs]:
    made = Hangs()
    yield made
    made.goes_on.set()


@pytest.fixture
def neighbour(monkeypatch) -> Neighbour:
    monkeypatch.setattr(neighbours, "PAUSE", 0.1)
    return Neighbour("It", seconds=LIMIT, at_once=2)


def seconds_until_silent(neighbour: Neighbour, act) -> float:
    begun = time.monotonic()
    with pytest.raises(Unresponsive):
        neighbour.ask(act)
    return time.monotonic() - begun


def test_only_the_first_waits_and_all_are_answered_once_it_is_back(neighbour, hangs):
    assert neighbour.ask(hangs) == "yes"
    hangs.goes_on.clear()
    assert LIMIT <= seconds_until_silent(neighbour, hangs) < 2 * LIMIT
    assert max(seconds_until_silent(neighbour, hangs) for _ in range(100)) < LIMIT / 2
    time.sleep(0.15)
    assert seconds_until_silent(neighbour, hangs) < LIMIT / 2  # it is tried again, and nobody waits for that
    assert hangs.asked == 3
    hangs.goes_on.set()
    time.sleep(0.15)
    with suppress(Unresponsive):
        neighbour.ask(hangs)
    time.sleep(0.05)
    assert [neighbour.ask(hangs) for _ in range(3)] == ["yes"] * 3


def test_it_takes_no_more_than_its_threads(neighbour, hangs):
    neighbour.seconds = 2
    hangs.goes_on.clear()
    with ThreadPoolExecutor(8) as threads:
        waits = sorted(threads.map(lambda _: seconds_until_silent(neighbour, hangs), range(8)))
    assert hangs.asked == 2 and max(waits[:6]) < 1.5


@pytest.mark.parametrize("error", [ConnectionRefusedError, TimeoutError])
def test_an_error_at_once_holds_nobody_and_is_told(neighbour, error):
    def refuses():
        raise error

    for _ in range(3):
        with pytest.raises(error):
            neighbour.ask(refuses)


def test_old_connections_keep_no_place_once_it_is_back(neighbour, hangs):
    hangs.goes_on.clear()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda _: seconds_until_silent(neighbour, hangs), range(2)))
    time.sleep(0.15)
    with pytest.raises(Unresponsive):
        neighbour.ask(lambda: "yes")
    time.sleep(0.05)
    assert [neighbour.ask(lambda: "yes") for _ in range(3)] == ["yes"] * 3
