"""How long the comparison page takes with large runs: `python -m pytest -q -s bench/comparison_page.py`.

Makes a benchmark of 7,512 items and some runs of four scores each; prints how long a run's figures take to compute, and
the page where they are kept.
"""

import time

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from benchmarks.metrics.bivlc import SCORES
from benchmarks.models import Benchmark, Item, Run
from benchmarks.runs import figures as run_figures
from tests.builders import compared_models

ITEMS, RUNS = 7_512, 10
TYPES = [("replace", "obj"), ("replace", "att"), ("replace", "rel"), ("swap", "obj"), ("swap", "att"), ("add", "obj")]


def large() -> Benchmark:
    benchmark = Benchmark.objects.create(name="Large", source="bivlc-candidates")
    Item.objects.bulk_create(
        Item(benchmark=benchmark, key=str(n), position=n, type=TYPES[n % 6][0], subtype=TYPES[n % 6][1])
        for n in range(ITEMS)
    )
    dice = np.random.default_rng(1)
    keys = list(benchmark.items.values_list("pk", flat=True))
    for number in range(RUNS):
        run = Run.objects.create(
            benchmark=benchmark, origin="imported", kind="bivlc", title=f"Model {number}", source="drawn"
        )
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY benchmarks_prediction (run_id, item_id, question, score) FROM STDIN") as copy,
        ):
            for name in SCORES:
                for item, score in zip(keys, dice.random(ITEMS).tolist(), strict=True):
                    copy.write_row((run.pk, item, name, score))
    return benchmark


def timed(what: str, act) -> float:
    began = time.perf_counter()
    act()
    spent = time.perf_counter() - began
    print(f"{what}: {1000 * spent:,.0f} ms")
    return spent


@pytest.mark.django_db
def test_a_page_of_large_runs(client):
    benchmark = large()
    compared_models.reported(benchmark)
    client.force_login(User.objects.create_superuser("ana"))
    url = reverse("benchmark-models", args=[benchmark.pk])
    runs = list(benchmark.runs.filter(origin="imported"))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE benchmarks_prediction, benchmarks_item")
    print()
    timed(f"page with {RUNS - 1} of {RUNS} runs left to the worker", lambda: client.get(url))
    timed("a run's figures", lambda: run_figures.compute(runs[0]))
    run_figures.compute_missing(run.pk for run in runs)
    spent = [timed(f"page of {RUNS} runs", lambda: client.get(url)) for _ in range(5)]
    assert min(spent) < 0.3
