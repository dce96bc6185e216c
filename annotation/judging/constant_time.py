"""Delay responses to a rounded time, so that the server's working time doesn't reveal anything (law 4).

An ordinary answer may settle an outcome and move an item on to the next stage; an answer to a check does neither, and
takes about a millisecond less. Skipping or getting a check also takes a different time. In a stage with checks, every
response that stores an answer or gives out a screen is therefore sent at the next full 50 ms. The page already shows
the next screen by then, so nobody waits.
"""

import functools
import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from annotation.permissions import Desk

STEP = 0.05  # seconds


def evenly(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    @functools.wraps(view)
    def timed(request: HttpRequest, here: Desk) -> HttpResponse:
        start = time.monotonic()
        try:
            return view(request, here)
        finally:
            if here.stage.check_rate:
                time.sleep(STEP - (time.monotonic() - start) % STEP)

    return timed
