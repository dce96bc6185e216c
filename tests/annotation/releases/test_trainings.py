"""What trainings get of releases: the training side with the negative images that people chose; test splits are kept
out."""

import pytest
from django.contrib.auth.models import User

from annotation.models import Outcome
from annotation.releases import lifecycle
from benchmarks.training import material
from benchmarks.training.released import to_train_on
from tests.builders import crowds, pipelines, releases, studies
from workers.models.presets import PRESETS
from workers.models.refusals import CannotScore

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_release_is_trained_on_by_its_own_sides_and_its_test_split_never(own_files, monkeypatch):
    monkeypatch.setattr(material, "LEAST", 2)
    study = pipelines.with_originals(crowds.stage(benchmark=studies.benchmark(12), people=4, overlap=3).study)
    release = releases.frozen(study, splits={"train": 50, "validation": 25, "test": 25})
    with lifecycle.open_release(release) as files:
        lines = {line["id"]: line for line in files.lines("items.jsonl")}
    found = material.sides(study.benchmark, to_train_on(study.benchmark)[0], PRESETS["trohn_img"], 0)
    keys = {name: {key for key, line in lines.items() if line["split"] == name} for name in ("train", "validation")}
    assert ({one.key for one in found.train}, {one.key for one in found.validation}) == tuple(keys.values())
    chosen = dict(Outcome.objects.values_list("task__item__key", "outcome"))
    for one in (*found.train, *found.validation):
        use = study.benchmark.items.get(key=one.key).item_images.get(
            role="candidate", position=int(chosen[one.key].removeprefix("candidate-"))
        )
        assert one.negative_image == use.image.sha256
    with pytest.raises(CannotScore, match="IN_A_TEST_SPLIT") as refused:
        material.sides(study.benchmark, None, PRESETS["negclip"], 0)
    assert str(release) in refused.value.advice
    stranger = User.objects.create_user("stranger", is_staff=True)
    assert to_train_on(study.benchmark, stranger) == []
