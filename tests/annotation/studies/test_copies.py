"""The tests' studies are made by the verb, and from the third of a kind on copied: row for row the same."""

from itertools import chain

import pytest
from django.apps import apps
from django.db.models import ForeignKey

from annotation.designs.plan import StagePlan
from annotation.models import Stage, Study
from benchmarks.models import Benchmark, Image
from tests.builders import copies, studies

pytestmark = pytest.mark.django_db
STAGES = [
    StagePlan("bivlc-choose", "one", settings={"carries": "negative", "overlap": 2}),
    StagePlan("bivlc-disambiguate", "two", source="one", settings={"strategy": "batches", "batch_size": 2}),
    StagePlan("bivlc-choose", "three", after="one", settings={"strategy": "everyone", "sample": 2}),
]


def rows() -> dict:
    """Every row of the two packages by its model and key, in the order of keys."""
    models = chain(apps.get_app_config("annotation").get_models(), apps.get_app_config("benchmarks").get_models())
    return {(model, one.pk): one for model in models for one in model.objects.order_by("pk")}


def told(new: dict) -> list:
    """Rows without keys, times and whatever is drawn; what they point at by its place."""
    places = {key: place for place, key in enumerate(new)}
    found = []
    for (model, _), row in new.items():
        said = {"model": model.__name__}
        for field in model._meta.fields:
            value = getattr(row, field.attname)
            if isinstance(field, ForeignKey):
                value = value and places[field.related_model, value]
            elif field.primary_key or field.name in ("created_at", "at", "sha256"):
                value = value is not None
            elif callable(field.default) and field.has_default() and isinstance(value, str):
                value = len(value)
            elif field.name == "subject":
                value = value.partition(":")[0], places[Study, int(value.partition(":")[2])]
            elif field.name == "name" and model in (Study, Benchmark):
                value = value.partition(" ")[0]
            said[field.name] = value
        found.append(said)
    return found


@pytest.mark.parametrize(
    "how",
    [{}, {"items": 3, "overlap": 2, "pay_per_hour": 12}, {"items": 3, "stages": STAGES}, {"strategy": "everyone"}],
)
def test_a_copy_has_the_rows_that_the_verb_writes(monkeypatch, how):
    monkeypatch.setattr(copies, "_worlds", {})
    made, before = [], {}
    for _ in range(3):
        study, after = studies.study(**how), rows()
        made.append((study, {key: row for key, row in after.items() if key not in before}))
        before = after
    assert copies._worlds and told(made[0][1]) == told(made[1][1]) == told(made[2][1])
    assert [study.benchmark.pk for study, _ in made] == sorted({study.benchmark_id for study, _ in made})
    assert studies.study(name="Cups", **how).name == "Cups"
    drawn = [*Image.objects.values_list("opaque", flat=True), *Stage.objects.values_list("invite", flat=True)]
    assert len(set(drawn)) == len(drawn)


def test_a_copied_benchmark_has_the_rows_of_the_first(monkeypatch):
    monkeypatch.setattr(copies, "_worlds", {})
    made, before = [], {}
    for _ in range(3):
        studies.benchmark(3, 2)
        after = rows()
        made.append({key: row for key, row in after.items() if key not in before})
        before = after
    assert told(made[0]) == told(made[1]) == told(made[2])
