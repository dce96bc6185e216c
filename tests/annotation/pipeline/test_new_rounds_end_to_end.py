"""From import to import: two stages drop items, new candidates come for them, and they alone go round again."""

from pathlib import Path

import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.assignment import leases, seats
from annotation.designs.plan import StagePlan
from annotation.models import Judgment, Slot, Stage, Task
from annotation.pipeline.item_results import results
from annotation.screens import read_answer
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Benchmark
from tests.builders import imports, studies

pytestmark = pytest.mark.django_db
FIRST = {"i0": "none", "i1": "candidate-1", "i2": "candidate-0", "i3": "candidate-1"}
SECOND = {"i1": "both", "i2": "positive-0"}


@pytest.fixture
def study(tmp_path, settings):
    Path(settings.MEDIA_ROOT).mkdir()
    items = [imports.item(n, images=[image("positive", f"{n}.jpg"), *pair(n, "a")]) for n in range(4)]
    bring(tmp_path / "one", items)
    plans = [
        StagePlan("bivlc-choose", name="choose", settings={"carries": "negative"}),
        StagePlan("bivlc-disambiguate", name="second", source="choose"),
    ]
    return study_lifecycle.create_study(
        name="Round", benchmark=Benchmark.objects.get(), stages=plans, by="test", seed=1
    )


def image(role: str, name: str) -> dict:
    return {"role": role, "file": name}


def pair(number: int, letter: str) -> list[dict]:
    return [image("candidate", f"{number}{letter}{step}.jpg") for step in range(2)]


def bring(folder: Path, items: list[dict], **options) -> None:
    """Through the command, as its user does."""
    folder.mkdir()
    names = [f"spare-{n}.jpg" for n in range(len(list(folder.parent.iterdir())) * 40)]
    names += [one["file"] for item in items for one in item["images"]]
    path, archive = imports.manifest(folder, items), imports.archive(folder, names)
    call_command("import_benchmark", "jsonl", str(path), images=archive, name="Cups", verbosity=0, **options)


def stage(study, position: int) -> Stage:
    return study.stages.select_related("study").get(position=position)


def work(study, position: int, answers: dict[str, str]) -> list[str]:
    """Somebody new judges what there is; returns the keys of what they were given."""
    here, person = stage(study, position), studies.annotator(study, ready=False)
    seats.sit(annotator=person, stage=here)
    studies.read(person, here)
    given = []
    for lease in leases.hold(annotator=person, stage=here, wanted=50):
        given.append(lease.task.item.key)
        if lease.task.item.key in answers:
            studies.submit(person, lease, read_answer.place_on_screen(lease, answers[lease.task.item.key]))
        else:
            leases.skip(annotator=person, token=lease.token)
    return sorted(given)


def labels(study, position: int) -> dict[str, str]:
    found = results(stage(study, position))
    keys = dict(study.benchmark.items.values_list("pk", "key"))
    return {keys[pk]: result.label for pk, result in sorted(found.items())}


def live_options() -> dict[str, list[str]]:
    tasks = Task.objects.filter(stage__position=1, live=True)
    return {task.item.key: task.options for task in tasks.select_related("item")}


def test_dropped_items_go_round_again(study, tmp_path, client, django_user_model):
    work(study, 1, FIRST)
    assert work(study, 2, SECOND) == ["i1", "i2", "i3"]
    assert labels(study, 1) == {"i0": "no_image_fits", "i1": "kept", "i2": "kept", "i3": "kept"}
    assert labels(study, 2) == {"i1": "ambiguous_both", "i2": "kept", "i3": "open"}
    study_lifecycle.move_stage(stage=stage(study, 1), to="closed", by="test")
    judged, untouched = list(Judgment.objects.values()), live_options()

    again = [imports.item(n, images=pair(n, "b")) for n in (0, 1, 2)]  # i2 is still in
    bring(tmp_path / "two", again, new_candidates=True)
    client.force_login(django_user_model.objects.create_superuser("boss"))
    page = client.get(reverse("study-stage", args=[study.pk, 1])).text
    assert "open for 2 items only" in page
    assert list(Judgment.objects.values()) == judged
    new = ["candidate-2", "candidate-3"]
    assert live_options() == {**untouched, "i0": new, "i1": new}
    assert labels(study, 2) == {"i2": "kept", "i3": "open"}

    assert work(study, 1, {"i0": "candidate-3", "i1": "none"}) == ["i0", "i1"]
    assert labels(study, 1) == {"i0": "kept", "i1": "no_image_fits", "i2": "kept", "i3": "kept"}
    assert work(study, 2, {"i0": "positive-0", "i3": "candidate-1"}) == ["i0", "i3"]
    assert labels(study, 2) == {"i0": "kept", "i2": "kept", "i3": "ambiguous_generated"}
    assert not Slot.objects.filter(stage__position=1, live=True, judgment=None).exists()

    first, second = Task.objects.filter(stage__position=1, item__key="i0").order_by("round")
    assert (first.live, second.live, second.carried) == (False, True, {})
    assert Task.objects.get(stage__position=2, item__key="i0").carried == {"negative": "candidate-3"}
