"""Checks: gold items mixed into an annotator's screens, with a place of their own beside the overlap."""

from annotation.models import Annotator, Lease, Seat, Stage
from annotation.placing import draw


def is_due(annotator: Annotator, stage: Stage) -> bool:
    """Whether the annotator's next screen is to be a check: one in each block of 1 / rate screens, at a drawn place."""
    given = Lease.objects.filter(annotator=annotator, task__stage=stage).count()
    block = round(1 / stage.check_rate)
    return given % block == draw("check", stage.seed, annotator.pk, given // block) % block


def reserve(*, annotator: Annotator, stage: Stage, seat: Seat) -> int:
    """A place on each check of the stage that the annotator is to meet; returns how many."""
    return 0
