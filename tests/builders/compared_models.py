"""Benchmarks with models' predictions, for tests that compare them."""

import csv
import json
from pathlib import Path

from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Caption, Item, ItemImage, Job, Run
from benchmarks.predictions.kinds import BIVLC
from benchmarks.runs import import_predictions
from benchmarks.runs.published_tables import TABLES
from benchmarks.runs.reported import enter_reported
from tests.builders import annotators, studies

RIGHT = {"i_pos2t": "positive", "i_neg2t": "negative", "t_pos2i": "positive", "t_neg2i": "negative"}


def lines(benchmark: Benchmark, right: int, **fields) -> str:
    """Choices at BiVLC's questions: all right for the first `right` items, then T2I wrong."""
    found = []
    for place, item in enumerate(benchmark.items.order_by("position")):
        for question, choice in RIGHT.items():
            said = choice if place < right or question[0] == "i" else "none"
            found.append(json.dumps({"item": item.key, "question": question, "choice": said, **fields}) + "\n")
    return "".join(found)


def queued(benchmark: Benchmark, *files: Path, model: str = "CLIP", **more) -> Job:
    asked = {"kind": BIVLC.name, "source": "a repository"} | more
    order = import_predictions.PredictionsOrder(model, **asked)
    return import_predictions.queue_predictions(benchmark=benchmark, order=order, files=files, by="test")


def run(job: Job) -> Job:
    return jobs.run(job_id=job.pk, by="test", work=import_predictions.PredictionsImport.do)


def imported(benchmark: Benchmark, folder: Path, right: int, model: str = "CLIP", **more) -> Run:
    file = folder / f"{model}-{right}.jsonl"
    file.write_text(lines(benchmark, right))
    job = run(queued(benchmark, file, model=model, **more))
    assert job.state == "done", job.problems
    return Run.objects.get(pk=job.report["run"])


def reported(benchmark: Benchmark, table: str = "bivlc") -> list[Run]:
    found = next(one for one in TABLES if one.name == table)
    return enter_reported(benchmark=benchmark, kind=found.kind, rows=found.rows, by="test")


def pairs(items: int = 4) -> Benchmark:
    return annotators.benchmark_of_pairs(items)


def real_bivlc(results: Path) -> Benchmark:
    """The released items of BiVLC, by a results file's captions and types, each with a negative image's row."""
    benchmark = Benchmark.objects.create(name="BiVLC", source="jsonl")
    rows = list(csv.DictReader(results.open(newline="")))
    items = Item.objects.bulk_create(
        Item(benchmark=benchmark, key=str(n), position=n, type=row["type"], subtype=row["subtype"])
        for n, row in enumerate(rows)
    )
    Caption.objects.bulk_create(
        Caption(item=item, role=role, text=row[column])
        for item, row in zip(items, rows, strict=True)
        for role, column in (("positive", "caption"), ("negative", "negative_caption"))
    )
    ItemImage.objects.create(item=items[0], image=studies.image(), role="negative", source_name="0.jpg")
    return benchmark
