"""A stage with adaptive overlap on its page and in a release: tasks with unequal numbers of judgments verify."""

import json
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.assignment import leases
from annotation.releases.schema import KEY, VERSION
from annotation.releases.verification.differences import differences
from annotation.releases.verification.verifying import verify
from annotation.screens import read_answer
from tests.annotation.releases.released import ONE, change_json, exported, mend, release
from tests.builders import studies
from tests.builders.pipelines import with_originals
from tests.independent.recomputed import figures, recompute

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(settings):
    """On 24 items, of which every third is contested; one still waits for a judgment."""
    Path(settings.MEDIA_ROOT).mkdir()
    made = studies.study(benchmark=studies.benchmark(24, candidates=2), overlap=2, cap=5, certainty=0.8)
    stage = made.stages.get()
    for number, screens in enumerate((24, 24, 24, 24, 7)):
        person = studies.annotator(made)
        for _ in range(screens):
            for lease in leases.hold(annotator=person, stage=stage, wanted=1):
                answer = "none" if number % 2 and lease.task.item.position % 3 == 0 else "candidate-0"
                studies.submit(person, lease, read_answer.place_on_screen(lease, answer))
    return with_originals(made)


def test_a_release_verifies_and_has_what_it_spent(study, tmp_path, client, admin_user):
    folder = release(exported(study, tmp_path), tmp_path / "release", splits=ONE)
    assert verify(folder).problems == []
    assert differences(recompute(folder), figures(folder)) == []  # by other code
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest[KEY] == VERSION and manifest["stages"][0]["certainty"] == 0.8
    assert "less than 80% certain" in manifest["stages"][0]["decision_rule"]
    (stage,) = json.loads((folder / "figures.json").read_text())["stages"]
    found = stage["adaptive"]
    assert found["tasks"] == 23 and 46 < found["judgments"] < 5 * 23 and 0 < found["at_most"] <= 3
    assert 0 < found["estimated_error"] < 0.5

    client.force_login(admin_user)
    page = client.get(reverse("study-stage", args=[study.pk, 1])).content.decode()
    page = " ".join(strip_tags(page).split())
    assert f"Adaptive overlap: {found['judgments']} judgments on 23 finished tasks, estimated error" in page
    assert "The most common answer of 2 to 5 people decides; a tie drops the item. One more is asked while" in page

    change_json(folder / "figures.json", lambda one: one["stages"][0]["adaptive"].update(judgments=1))
    mend(folder)
    assert "/stages/0/adaptive/judgments" in "\n".join(map(str, verify(folder).problems))
