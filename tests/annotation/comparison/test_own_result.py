"""Models answer what a study has kept: with the images people chose, beside the people who judged there."""

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from annotation.comparison.own_result import result_of
from annotation.comparison.people_and_models import people_and_models
from annotation.models import Outcome, Study
from annotation.studies.deletion import delete_study
from benchmarks.jobs import jobs
from benchmarks.metrics import visla
from benchmarks.models import Caption, Embedding, Job, Run
from benchmarks.records import Refused
from benchmarks.runs.embeddings import FLOATS, of_text
from benchmarks.scoring import score
from tests.builders import pipelines, studies, text_annotators
from tests.builders.scored_benchmarks import tiny_clip

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> str:
    return tiny_clip(tmp_path_factory.mktemp("models") / "clip")


@pytest.fixture(scope="module")
def judged(module_world, tiny) -> Study:
    study = pipelines.pipeline()
    study.stages.exclude(state="closed").update(state="closed")
    call_command("score_result", study.name, "--model", tiny, "--now", "--device", "cpu")
    return study


@pytest.fixture
def study(judged, savepoint, manager) -> Study:
    return judged


def chosen(study: Study) -> dict[int, str]:
    """By item that people kept: the SHA-256 of the image they chose."""
    found = {}
    for outcome in Outcome.objects.filter(task__stage__name="choose", task__live=True, state="kept"):
        role, _, place = outcome.outcome.rpartition("-")
        found[outcome.task.item_id] = outcome.task.item.item_images.get(role=role, position=place).image.sha256
    return found


def vector(content: str) -> np.ndarray:
    return np.frombuffer(Embedding.objects.get(content=content).vector, FLOATS)


def test_a_model_scores_the_kept_items_with_the_images_that_people_chose(study):
    run, images = Run.objects.get(), chosen(study)
    assert run.study == study.pk
    kept = set(result_of(study).chosen)
    assert len(kept) > 1 and kept < set(study.benchmark.items.values_list("pk", flat=True))
    scores = dict(run.predictions.filter(question="s(c1,i1)").values_list("item", "score"))
    assert set(scores) == kept
    for item in study.benchmark.items.filter(pk__in=kept):
        foil = of_text(item.captions.get(role="negative", position=0).text)
        assert scores[item.pk] == pytest.approx(float(vector(foil) @ vector(images[item.pk])), abs=1e-6)


def test_its_row_stands_beside_people_on_the_kept_items(study, client):
    found = people_and_models(study)
    people, model = found["rows"]
    assert (people["title"], model["stands"]) == ("People", "result")
    assert found["measure"]["name"] == "group"
    assert people["valid"]["n"] and model["valid"]["n"] == len(result_of(study).chosen) == found["valid"]
    assert model["all"] is None and model["why"] == {"all": "scored on the items that were kept"}
    page = client.get(reverse("benchmark-models", args=[study.benchmark_id]))
    assert [section.title for section in page.context["sections"]] == ["People", "Models measured on a study’s result"]


def test_a_study_that_has_kept_nothing_is_not_scored(module_world):
    with pytest.raises(Refused, match="kept nothing yet"):
        result_of(studies.study(items=1))


def test_a_manager_orders_it_on_the_page_and_by_the_api(study, client, tiny):
    page = client.post(reverse("study-score", args=[study.pk]), {"model": tiny, "device": "cpu"})
    job = Job.objects.latest("pk")
    assert page.status_code == 302 and job.params["study"] == study.pk
    assert jobs.run(job_id=job.pk, by="test", work=score.Scoring.do).report["note"] == score.AGAIN
    asked = {"model": tiny, "device": "cpu"}
    given = {"content_type": "application/json", "headers": {"Idempotency-Key": "1"}}
    assert client.post(reverse("api-study-score", args=[study.pk]), asked, **given).status_code == 202
    listed = client.get(reverse("api-study-runs", args=[study.pk])).json()["results"]
    assert [run["id"] for run in listed] == [Run.objects.get().pk]
    assert client.get(reverse("api-run-list", args=[study.benchmark_id])).json()["results"] == []


def test_its_runs_go_with_the_study(study):
    delete_study(study=study, by="test")
    assert not Run.objects.exists()


def test_a_model_scores_the_captions_that_people_wrote(tiny, tmp_path):
    """In place of the second positive caption, with the item's image."""
    study = text_annotators.visla_study(tmp_path / "in", rows=12)
    text_annotators.work(study, seed=7)
    written = {item: texts["second_positive"] for item, texts in result_of(study).written.items()}
    imported = set(Caption.objects.filter(item__benchmark=study.benchmark).values_list("text", flat=True))
    assert {text for text in written.values() if text not in imported}
    call_command("score_result", study.name, "--model", tiny, "--now", "--device", "cpu")
    [run] = study.benchmark.runs.all()
    scores = dict(run.predictions.filter(question=visla.IMAGES[1]).values_list("item", "score"))
    assert (run.kind, run.study, set(scores)) == ("visla", study.pk, set(written))
    for item in study.benchmark.items.filter(pk__in=written):
        image = item.item_images.get(role="positive").image.sha256
        expected = float(vector(of_text(written[item.pk])) @ vector(image))
        assert scores[item.pk] == pytest.approx(expected, abs=1e-6)
