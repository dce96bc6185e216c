"""Retrieval with perturbed order: what is compared, what is kept, and how it is asked for."""

import statistics

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.construction.image_order import GRIDS, permutation
from benchmarks.construction.order import SHUFFLES
from benchmarks.jobs import jobs
from benchmarks.metrics.retrieval import MEASURES
from benchmarks.models import Benchmark, Embedding, Job, ScoringModel
from benchmarks.runs import embeddings
from benchmarks.scoring import retrieval, score
from tests.builders import studies
from tests.builders.scored_benchmarks import cups, retrieved

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loaded_once")]


def measured(benchmark: Benchmark, model: str, seeds: int = 2) -> Job:
    order = score.ScoreOrder(model, device="cpu", measure="retrieval", seeds=seeds)
    job = score.queue_score(benchmark=benchmark, order=order, by="test")
    return jobs.run(job_id=job.pk, by="test", work=retrieval.Retrieval.do)


def test_recalls_are_those_of_the_models_vectors_and_kept_by_content(media, tmp_path, tiny, monkeypatch):
    benchmark = cups(tmp_path, count=4)
    job = measured(benchmark, tiny)
    assert job.state == "done", job.problems
    report = job.report
    assert (report["images"], report["captions"]) == (4, 4)
    assert [(row["of"], row["name"]) for row in report["rows"]] == [
        ("", ""),
        *(("text", name) for name in SHUFFLES),
        *(("image", name) for name in GRIDS),
    ]
    model = ScoringModel.objects.get()
    found = retrieval.material_of(benchmark)
    images = embeddings.vectors(model, found.images)
    texts = embeddings.vectors(model, [embeddings.of_text(text) for _, text in found.captions])
    table = np.array([[images[i] @ texts[embeddings.of_text(t)] for _, t in found.captions] for i in found.images])
    right = [row.argmax() == place for place, row in enumerate(table)]
    plain = report["rows"][0]["measures"]
    assert plain["i2t_r1"] == {"mean": np.mean(right), "sd": None} and plain["t2i_r5"]["mean"] == 1
    assert all(row["measures"][name]["sd"] is not None for row in report["rows"][1:] for name in MEASURES)
    # Each image as it is, and in the different orders that the seeds draw.
    orders = [
        {(key, name, permutation(name, key, seed)) for key in found.images for name in GRIDS for seed in range(n)}
        for n in (2, 3)
    ]
    assert report["encoded"]["images"] == 4 + len(orders[0])
    assert Embedding.objects.count() == sum(report["encoded"].values())

    third = measured(benchmark, tiny, seeds=3).report
    assert third["encoded"]["images"] == len(orders[1]) - len(orders[0]) > 0
    monkeypatch.setattr(score, "load", lambda *given: pytest.fail("loaded again"))
    again = measured(benchmark, tiny, seeds=3).report
    assert again["encoded"] == {"images": 0, "captions": 0} and again["rows"] == third["rows"]


def test_a_lost_job_keeps_what_it_encoded(media, tmp_path, tiny, monkeypatch):
    benchmark, row = cups(tmp_path), retrieval.Retrieval.row

    def dies(self, model, of, name, seeds):
        if of == "image":
            raise score.CannotScore("OUT_OF_MEMORY", "No memory.")
        return row(self, model, of, name, seeds)

    monkeypatch.setattr(retrieval.Retrieval, "row", dies)
    assert [one["code"] for one in measured(benchmark, tiny).problems] == ["OUT_OF_MEMORY"]
    monkeypatch.setattr(retrieval.Retrieval, "row", row)
    report = measured(benchmark, tiny).report
    assert report["encoded"] == {"images": 3 * 3 * 2, "captions": 0}


def test_mean_and_standard_deviation_are_over_the_seeds(monkeypatch):
    shares = iter([0.25, 0.5, 0.5])
    monkeypatch.setattr(retrieval.Retrieval, "recalls", lambda *given: dict.fromkeys(MEASURES, next(shares)))
    row = retrieval.Retrieval.row(object.__new__(retrieval.Retrieval), None, "text", "trigrams", 3)
    expected = {"mean": 1.25 / 3, "sd": statistics.stdev([0.25, 0.5, 0.5])}
    assert row["measures"]["t2i_r1"] == pytest.approx(expected)
    assert retrieval.in_words(row["measures"]["t2i_r1"]) == "0.417 ± 0.144"


def test_captions_of_the_same_words_tie_and_a_tie_is_not_right():
    vectors = np.eye(2, dtype=np.float32)
    assert retrieval.compare((vectors, [0, 1]), (vectors, [0, 1]), [0, 1])["i2t_r1"] == 1
    assert retrieval.compare((vectors, [0, 1]), (vectors[:1], [0, 0]), [0, 1])["i2t_r1"] == 0


@pytest.mark.parametrize("model", ["language-model:none", "sentence-transformers:none"])
def test_a_model_that_sees_no_images_is_refused(model):
    job = measured(studies.benchmark(), model)
    assert [problem["code"] for problem in job.problems] == ["NOTHING_TO_SCORE"]


def test_the_command_prints_a_table_like_the_papers(media, tmp_path, tiny, capsys):
    cups(tmp_path)
    call_command("score", "Cups", model=tiny, device="cpu", measure="retrieval", seeds=1, now=True)
    lines = capsys.readouterr().out.splitlines()
    assert "3 images, 3 captions, 1 seeds" in lines[0] and lines[1].split()[:3] == ["shuffled", "text", "R@1"]
    assert len(lines) == 3 + len(SHUFFLES) + len(GRIDS) + 1
    with pytest.raises(CommandError, match=r"WRONG_VALUE · Seeds of the shuffles.* 10"):
        call_command("score", "Cups", model=tiny, measure="retrieval", seeds=11)


def test_the_form_asks_for_it_and_the_pages_show_it(client):
    client.force_login(User.objects.create_superuser("ana"))
    benchmark = studies.benchmark()
    asked = {"model": "ViT-B-32", "pretrained": "openai", "device": "auto", "measure": "retrieval", "seeds": "2"}
    answer = client.post(reverse("score-new", args=[benchmark.pk]), asked)
    job = Job.objects.get()
    assert (job.kind, job.params["seeds"]) == ("retrieval", 2)
    assert "Waiting for a worker with models" in client.get(answer.url).text
    done = retrieved(benchmark)
    for page in (reverse("job-detail", args=[done.pk]), reverse("benchmark-models", args=[benchmark.pk])):
        text = client.get(page).text
        assert (
            "9 patches" in text
            and "4 columns" in text
            and text.count("0.500 ± 0.125") == 4 * 9
            and "over 2 seeds" in text
        )
    wrong = client.post(reverse("score-new", args=[benchmark.pk]), asked | {"seeds": "99"})
    assert wrong.status_code == 422 and "less than or equal to 10" in wrong.text
