"""Screens that annotators skipped, could not judge or flagged, and signs for annotators who did so often."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef

from annotation.models import Flag, Judgment, Kind, Lease, LeaseState, Study
from annotation.protocols.base import CANNOT_JUDGE

MOST_AVOIDED = 0.2  # largest share of screens skipped, not judged or flagged without a sign


@dataclass(slots=True)
class Avoided:
    """`skipped` and `flagged` screens include checks; `not_judged` answers are “cannot judge”; `checks_shown` counts
    those answered or skipped.
    """

    skipped: int = 0
    checks_skipped: int = 0
    checks_shown: int = 0
    not_judged: int = 0
    flagged: int = 0

    def add(self, kind: str) -> None:
        setattr(self, kind, getattr(self, kind) + 1)

    def signs(self, answers: int) -> list[str]:
        """Return the signs, in words, for somebody who gave this many answers."""
        shown, found = answers + self.skipped, []
        if _is_much(self.skipped + self.not_judged, shown):
            found += [f"skipped {self.skipped} of {shown} screens"] * bool(self.skipped)
            found += [f"“cannot judge” in {self.not_judged} of {answers} answers"] * bool(self.not_judged)
        if _is_much(self.checks_skipped, self.checks_shown):
            found.append(f"skipped {self.checks_skipped} of {self.checks_shown} checks")
        # Even a single flag may point to a problem with an item.
        if self.flagged > 1 and _is_much(self.flagged, shown):
            found.append(f"flagged {self.flagged} of {shown} screens")
        return found


def _is_much(avoided: int, shown: int) -> bool:
    return avoided > MOST_AVOIDED * shown


def avoided_screens(study: Study) -> Iterator[tuple[str, int, datetime]]:
    """Yield the counting field of Avoided, the annotator's number, and the time when the screen was handed out."""
    theirs = Lease.objects.filter(annotator__study=study)
    checks = theirs.filter(task__kind=Kind.CHECK)
    later = Judgment.objects.filter(lease=OuterRef("lease"), revision__gt=OuterRef("revision"))
    cannot = Judgment.objects.filter(lease__annotator__study=study, answer=CANNOT_JUDGE).exclude(Exists(later))
    kinds = {
        "skipped": theirs.filter(state=LeaseState.SKIPPED),
        "checks_skipped": checks.filter(state=LeaseState.SKIPPED),
        "checks_shown": checks.filter(state__in=[LeaseState.SKIPPED, LeaseState.JUDGED, LeaseState.LATE]),
        "not_judged": theirs.filter(pk__in=cannot.values("lease")),
        "flagged": theirs.filter(Exists(Flag.objects.filter(lease=OuterRef("pk")))),
    }
    for kind, leases in kinds.items():
        for number, at in leases.values_list("annotator__number", "granted_at"):
            yield kind, number, at
