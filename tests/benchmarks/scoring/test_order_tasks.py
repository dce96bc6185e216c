"""ARO's order tasks over several seeds: what is compared, what is kept, and how they are asked for and shown."""

import statistics
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import reverse

from benchmarks.construction import order
from benchmarks.construction.tagging import tagger
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Item, Job, ScoringModel
from benchmarks.runs import embeddings
from benchmarks.scoring import order_tasks, score
from tests.builders import imports, studies
from tests.builders.scored_benchmarks import ordered

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loaded_once")]
CAPTIONS = [
    "A small white cat sits on the old wooden chair beside a green ball.",
    "The tall man in a red coat rides a brown horse across the wide field.",
    "A young girl with a blue hat holds the yellow cup near an open window.",
    "A cup.",  # of which nothing can move
]


def captioned(folder: Path, tasks: tuple[str, ...] = ("coco", "flickr30k", "coco", "coco")) -> Benchmark:
    """An item of the type `order` for each caption, and one of another type, which has no part in order tasks."""
    items = [
        imports.item(
            number, type="order", subtype=task, images=[{"role": "positive", "file": f"{number}.jpg"}],
            captions=[{"role": "positive", "text": text}, {"role": "negative", "text": "A cat."}],
        )
        for number, (text, task) in enumerate(zip(CAPTIONS, tasks, strict=True))
    ]  # fmt: skip
    items.append(imports.item(9, images=[{"role": "positive", "file": "9.jpg"}]))
    files = {f"{number}.jpg": imports.jpeg(number, (40, 30)) for number in (*range(len(CAPTIONS)), 9)}
    return imports.benchmark_of(folder, items, files, "Orders")


def measured(benchmark: Benchmark, model: str, seeds: int | None = None) -> Job:
    order = score.ScoreOrder(model, device="cpu", measure=score.ORDER_TASKS, seeds=seeds)
    job = score.queue_score(benchmark=benchmark, order=order, by="test")
    return jobs.run(job_id=job.pk, by="test", work=order_tasks.OrderTasks.do)


def accuracy(model: ScoringModel, items: list[Item], seed: int) -> float:
    """Computed anew, item by item."""
    right = []
    for item in items:
        caption, image = item.captions.get(role="positive").text, item.item_images.get().image.sha256
        text, wrong = order.perturbed(caption, tagger().tags, seed)
        names = [image, *map(embeddings.of_text, [text, *wrong.values()])]
        found = embeddings.vectors(model, names)
        seen, own, *others = [found[name] for name in names]
        right.append(all(seen @ own > seen @ other for other in others))
    return statistics.fmean(right)


def test_five_seeds_in_one_go(media, tmp_path, tiny, monkeypatch):
    benchmark = captioned(tmp_path)
    job = measured(benchmark, tiny)
    assert job.state == "done", job.problems
    report, model = job.report, ScoringModel.objects.get()
    assert [report[name] for name in ("seeds", "images", "captions", "left_out")] == [5, 3, 3, 1]
    items = list(benchmark.items.filter(type="order").order_by("position"))[:3]
    parts = {"all": items, "coco": [items[0], items[2]], "flickr30k": [items[1]]}
    expected = []
    for name, own in parts.items():
        shares = [accuracy(model, own, seed) for seed in range(5)]
        expected.append({"name": name, "n": len(own), "mean": statistics.fmean(shares), "sd": statistics.stdev(shares)})
    assert report["rows"] == [pytest.approx(row) for row in expected]

    monkeypatch.setattr(score, "load", lambda *given: pytest.fail("loaded again"))
    again = measured(benchmark, tiny).report
    assert again["encoded"] == {"images": 0, "captions": 0} and again["rows"] == report["rows"]
    one = measured(benchmark, tiny, seeds=1).report["rows"][0]
    assert one == {"name": "all", "n": 3, "mean": accuracy(model, items, 0), "sd": None}


def test_a_benchmark_without_order_items_uses_all_its_captions(media, tmp_path, tiny):
    benchmark = captioned(tmp_path)
    Item.objects.filter(benchmark=benchmark).update(type="swap", subtype="att")
    report = measured(benchmark, tiny, seeds=2).report
    assert (report["captions"], report["left_out"], [row["name"] for row in report["rows"]]) == (3, 2, ["all"])


def test_captions_that_cannot_move_are_refused_together(media, tmp_path, tiny):
    benchmark = captioned(tmp_path)
    benchmark.items.filter(position__lt=3).delete()
    [problem] = measured(benchmark, tiny).problems
    assert problem["code"] == "NOTHING_TO_SCORE" and "four different wrong orders" in problem["advice"]


def test_the_command_prints_a_table_like_the_papers(media, tmp_path, tiny, capsys):
    captioned(tmp_path)
    call_command("score", "Orders", "--order-tasks", "--now", model=tiny, device="cpu")
    lines = capsys.readouterr().out.splitlines()
    assert "3 images, 3 captions, 5 seeds" in lines[0] and lines[1].split() == ["n", "all", "coco", "flickr30k"]
    assert lines[2].count(" ± ") == 3 and lines[3].split() == ["Chance", *["0.200"] * 3]
    assert lines[4] == "note: 1 captions do not have four different wrong orders and are left out."
    with pytest.raises(CommandError, match="not allowed with argument"):
        call_command("score", "Orders", "--order-tasks", "--perturbed-retrieval", model=tiny)


def test_the_form_asks_for_it_and_the_pages_show_all_models_in_one_table(client):
    client.force_login(User.objects.create_superuser("ana"))
    benchmark, address = studies.benchmark(), "ViT-B-32-quickgelu"
    asked = {"model": address, "pretrained": "openai", "device": "auto", "measure": "order-tasks", "seeds": ""}
    answer = client.post(reverse("score-new", args=[benchmark.pk]), asked)
    job = Job.objects.get()
    title = f"Order tasks on {benchmark.name} with {address} · openai"
    assert (job.kind, job.params["seeds"], job.title) == ("order-tasks", 5, title)
    assert "Waiting for a worker with models" in client.get(answer.url).text
    again = client.get(reverse("score-new", args=[benchmark.pk]), {"again": job.pk})
    assert again.context["form"]["measure"].value() == "order-tasks"
    done = [ordered(benchmark, name) for name in ("CLIP", "NegCLIP")]
    text = client.get(reverse("job-detail", args=[done[0].pk])).text
    assert text.count("0.460 ± 0.001") == 1 and "over 5 seeds" in text
    text = client.get(reverse("benchmark-models", args=[benchmark.pk])).text
    assert text.count("0.460 ± 0.001") == 2 and "NegCLIP" in text and text.count("0.200") == 1
