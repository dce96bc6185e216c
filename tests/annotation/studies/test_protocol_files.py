"""Studies that use protocol files, as starting points of others."""

import json

import pytest
from django.contrib.auth.models import User

from annotation.models import StudyTemplate
from annotation.protocols.registry import protocol_named
from annotation.studies import lifecycle, starting_points
from tests.builders import declared

pytestmark = pytest.mark.django_db


def setup_of(study):
    stages = study.stages.order_by("position")
    return [(one.name, one.protocol, one.overlap, one.rule, one.carries, one.source and one.source.name,
             one.instructions.get().text) for one in stages]  # fmt: skip


@pytest.mark.parametrize("through", ["copy", "template"])
def test_a_study_made_of_another_asks_the_same_versions(through):
    first = declared.texts_and_edits(items=1)
    point = starting_points.of_study(first)
    if through == "template":
        user = User.objects.create(username="ana")
        starting_points.save_template(name="Mine", stages=point.stages, study=point.study, user=user, by="test")
        json.dumps(StudyTemplate.objects.get().setup)
        (point,) = starting_points.templates()
    second = lifecycle.create_study(name="Second", benchmark=first.benchmark, stages=list(point.stages), by="test")
    assert setup_of(second) == setup_of(first)
    assert protocol_named(second.stages.get(position=1).protocol).file.name == "mixed"
    assert second.stages.get(position=1).tasks.count() == 1
