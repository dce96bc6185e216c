"""`manage.py generate_images BENCHMARK`: generate candidate images for negative captions, here or by a worker."""

from pathlib import Path

from benchmarks.generation import images
from benchmarks.management.orders import BY, ModelCommand
from benchmarks.management.reporting import text_of
from benchmarks.models import Benchmark, Job


class Command(ModelCommand):
    help = "Draw candidate images for a benchmark's negative captions. See docs/guide/generating-images.md."
    takes, own_options = images.ImagesOrder, ("keys",)
    cancelled = "Finished images are kept for the next run."

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--ids", type=Path, help="a file with one item's id per line, instead of all items")

    def order(self, options):
        keys = text_of(options["ids"]).splitlines() if options["ids"] else ()
        return super().order(options | {"keys": keys})

    def queue(self, benchmark, order, now, options) -> Job:
        return images.queue_images(benchmark=benchmark, order=order, by=BY, foreground=now)

    def summary(self, job: Job) -> list[str]:
        report = job.report
        name = Benchmark.objects.get(pk=report["benchmark"]).name
        made = f"{report['new_candidates']:,} new candidates for {report['items']:,} items of {name}."
        return [made, *(f"note: {note['advice']}" for note in report["notes"])]
