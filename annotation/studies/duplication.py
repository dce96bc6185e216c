"""A study like another one: made from its settings, with copies of the images that its instructions show."""

from django.db import transaction

from annotation.models import Study
from annotation.studies import instructions_images, lifecycle
from benchmarks import audit
from benchmarks.housekeeping.deferred_files import deferred_files


def duplicate_study(*, source: Study, by: str, **given) -> Study:
    """Create a study (`given` as for create_study) whose stages have the images of the `source`'s stages of the same
    names. Raises CannotCreate.
    """
    with deferred_files() as after, transaction.atomic():
        study = lifecycle.create_study(by=by, **given)
        originals = {stage.name: stage for stage in source.stages.all()}
        for stage in study.stages.all():
            if original := originals.get(stage.name):
                instructions_images.copy_images(source=original, to=stage, after=after)
        audit.record(by=by, verb="duplicated", subject=study, source=source.pk, afterwards=after.id)
    return study
