"""`manage.py create_demo`: drawn scenes and a study of them, so that a first start has something to show."""

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse

from annotation.designs.plan import StagePlan
from annotation.designs.presets import baseline_plans
from annotation.models import Study
from annotation.studies.lifecycle import create_study
from benchmarks.demo.items import demo_benchmark
from benchmarks.imports import run as run_import
from benchmarks.models import Benchmark

BENCHMARK = "Drawn scenes"
STUDY = "Demo: drawn scenes"
BY = "command"
BEFORE = ("choose", "disambiguate")  # annotators who saw an item there would know the answers


class Command(BaseCommand):
    help = "Create the demo study with drawn scenes, unless it exists, and print the path of its invitation."

    def add_arguments(self, parser):
        parser.add_argument(
            "--items", type=int, default=settings.DEMO_ITEMS, help="number of items in the demo benchmark"
        )
        parser.add_argument("--seed", type=int, default=5, help="the same seed draws the same scenes")

    def handle(self, *, items, seed, **rest):
        study = Study.objects.filter(name=STUDY).first() or create_demo(items=int(items), seed=int(seed), by=BY)
        self.stdout.write(reverse("join", args=[study.invite]))


def create_demo(*, items: int, seed: int, by: str) -> Study:
    """Two steps, each a transaction: if an earlier run stopped between them, this one continues."""
    benchmark = Benchmark.objects.filter(name=BENCHMARK).first() or import_demo(items=items, seed=seed, by=by)
    return create_study(name=STUDY, benchmark=benchmark, stages=plans(), seed=seed, by=by)


def plans() -> list[StagePlan]:
    """BiVLC's pipeline, small enough for a first look: a single link leads any annotator through all of it."""
    return [
        StagePlan("bivlc-choose", name="choose", settings={"overlap": 2, "carries": "negative"}),
        StagePlan("bivlc-disambiguate", name="disambiguate", source="choose"),
        *baseline_plans(source="disambiguate", sample=10, design="different", apart=BEFORE),
    ]


def import_demo(*, items: int, seed: int, by: str) -> Benchmark:
    records, images = demo_benchmark(items, seed)
    return run_import.import_items(name=BENCHMARK, records=records, images=images, source="drawn", by=by)
