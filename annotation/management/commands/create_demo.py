"""`manage.py create_demo`: create drawn scenes and a study on them, to show something on a first start."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

import benchmarks
from annotation.designs.plan import StagePlan
from annotation.designs.presets import baseline_plans
from annotation.models import Promotion, Study
from annotation.studies.lifecycle import create_study
from benchmarks.formats import jsonl
from benchmarks.formats.base import ProblemLog
from benchmarks.imports import run as run_import
from benchmarks.models import Benchmark
from workers.archives.folder import Folder

BENCHMARK = "Drawn scenes"
STUDY = "Demo: drawn scenes"
SEED = 5  # for the study's order
BY = "command"
BEFORE = ("choose", "disambiguate")  # annotators who saw an item there would know the answers
AT_ONCE = {"promotion": Promotion.SETTLED}  # each item goes on as soon as it is settled
SCENES = Path(benchmarks.__file__).with_name("demo")  # items.jsonl in Winnow's own format, and its pictures


class Command(BaseCommand):
    help = "Create the demo study with drawn scenes, unless it exists, and print the path of its invitation."

    def add_arguments(self, parser):
        parser.add_argument(
            "--items", type=int, default=settings.DEMO_ITEMS, help="number of items in the demo benchmark, at most 60"
        )

    def handle(self, *, items, **rest):
        study = Study.objects.filter(name=STUDY).first() or create_demo(items=int(items), by=BY)
        self.stdout.write(reverse("join", args=[study.invite]))


def create_demo(*, items: int, by: str) -> Study:
    """Create the demo in two steps, each a transaction: if an earlier run stopped between them, this one continues."""
    benchmark = Benchmark.objects.filter(name=BENCHMARK).first() or import_demo(items=items, by=by)
    return create_study(name=STUDY, benchmark=benchmark, stages=plans(), seed=SEED, by=by)


def plans() -> list[StagePlan]:
    """Return BiVLC's pipeline without samples: one link leads any annotator through all of it."""
    return [
        StagePlan("bivlc-choose", name="choose", settings={"overlap": 2, "carries": "negative"}),
        StagePlan("bivlc-disambiguate", name="disambiguate", source="choose"),
        *baseline_plans(source="disambiguate", sample=None, design="different", apart=BEFORE, seed_settings=AT_ONCE),
    ]


def import_demo(*, items: int, by: str) -> Benchmark:
    records = list(jsonl.read_items(SCENES / "items.jsonl", ProblemLog()))
    if not 0 < items <= len(records):
        raise CommandError(f"The demo has {len(records)} items; choose from 1 to {len(records)}, not {items}.")
    pictures = Folder(SCENES / "pictures", "pictures")
    return run_import.import_items(name=BENCHMARK, records=records[:items], images=pictures, source="drawn", by=by)
