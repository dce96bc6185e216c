"""Find annotators a manager should look at: those with warning signs, or away."""

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db.models import BooleanField, Exists, IntegerField, OuterRef, QuerySet
from django.db.models.expressions import RawSQL
from django.utils import timezone

from annotation.figures import annotators
from annotation.models import Annotator, Lease, Slot, Study
from annotation.participants.lifecycle import KEPT, REINSTATED

# OFFSET keeps the planner from unpacking the large figures of other studies for each study.
TO_REVIEW = f"""ARRAY(
  SELECT DISTINCT who.number FROM (
    SELECT found.data->'look' AS numbers FROM annotation_stage stage
    JOIN annotation_cachedfigures found ON found.stage_id = stage.id AND found.kind = '{annotators.KIND}'
    WHERE stage.study_id = annotation_study.id OFFSET 0) look
  CROSS JOIN LATERAL jsonb_array_elements_text(look.numbers) look_at(number)
  JOIN annotation_annotator who ON who.study_id = annotation_study.id AND who.number = look_at.number::int
  WHERE who.excluded_at IS NULL AND NOT EXISTS (
    SELECT FROM benchmarks_event WHERE subject = 'annotator:' || who.id AND verb IN ('{KEPT}', '{REINSTATED}'))
  ORDER BY who.number)"""
TESTED = f"""(
  SELECT bool_or((found.data->>'tested')::boolean) FROM annotation_stage stage
  JOIN annotation_cachedfigures found ON found.stage_id = stage.id AND found.kind = '{annotators.KIND}'
  WHERE stage.study_id = annotation_study.id)"""

AWAY = timedelta(hours=1)  # after this long without a screen, a person without judgments counts as away


def people_away(study: Study) -> list[Annotator]:
    """Return those who joined but haven't judged anything or been seen for an hour: they are unlikely to come back."""
    judged = Slot.objects.filter(annotator=OuterRef("pk"), judgment__isnull=False)
    lately = Lease.objects.filter(annotator=OuterRef("pk"), granted_at__gt=timezone.now() - AWAY)
    people = study.annotators.filter(joined_at__lt=timezone.now() - AWAY, excluded_at=None, left_at=None)
    return list(people.filter(~Exists(judged), ~Exists(lately)).order_by("number"))


def with_review(studies: QuerySet[Study]) -> QuerySet:
    """Return each study with `review`, the numbers of annotators to look at, as last computed, and with `tested`:
    whether any test for warning signs could be made (None until computed). A manager's decision to keep or exclude an
    annotator removes them at once.
    """
    review = RawSQL(TO_REVIEW, (), ArrayField(IntegerField()))
    return studies.annotate(review=review, tested=RawSQL(TESTED, (), BooleanField(null=True)))


def people_to_review(study: Study) -> list[int]:
    return with_review(Study.objects.filter(pk=study.pk)).values_list("review", flat=True).get()  # type: ignore[misc]
