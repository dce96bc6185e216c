"""Annotators on whom a manager should look: with signs about their answers, or away."""

from collections import defaultdict
from collections.abc import Collection
from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.figures import annotators
from annotation.models import Annotator, CachedFigures, Lease, Slot, Study
from annotation.participants.lifecycle import KEPT, REINSTATED
from benchmarks import audit
from benchmarks.models import Event

AWAY = timedelta(hours=1)  # without a screen, after which somebody who has judged nothing counts as away


def people_away(study: Study) -> list[Annotator]:
    """Those who joined, have judged nothing, and have not been seen for an hour: nothing is expected of them."""
    judged = Slot.objects.filter(annotator=OuterRef("pk"), judgment__isnull=False)
    lately = Lease.objects.filter(annotator=OuterRef("pk"), granted_at__gt=timezone.now() - AWAY)
    people = study.annotators.filter(joined_at__lt=timezone.now() - AWAY, excluded_at=None, left_at=None)
    return list(people.filter(~Exists(judged), ~Exists(lately)).order_by("number"))


def people_to_review(studies: Collection[int]) -> dict[int, list[int]]:
    """By study, the numbers of those to look at, as last computed: a manager's decision about one, to keep or to
    exclude them, takes them out at once. Three queries, however many studies.
    """
    looked = CachedFigures.objects.filter(stage__study__in=studies, kind=annotators.KIND, data__look__isnull=False)
    wanted = {study: set(look) for study, look in looked.values_list("stage__study", "data__look") if look}
    found = defaultdict(list)
    people = Annotator.objects.filter(study__in=wanted, excluded_at=None).order_by("study", "number")
    waiting = [one for one in people if one.number in wanted[one.study_id]] if wanted else []
    names = [audit.named(one) for one in waiting]
    decided = set(
        Event.objects.filter(subject__in=names, verb__in=(KEPT, REINSTATED)).values_list("subject", flat=True)
    )
    for one, name in zip(waiting, names, strict=True):
        if name not in decided:
            found[one.study_id].append(one.number)
    return found
