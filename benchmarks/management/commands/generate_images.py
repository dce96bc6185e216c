"""`manage.py generate_images BENCHMARK`: draw candidate images for the negative captions, here or by a worker."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks import tasks
from benchmarks.generation import images
from benchmarks.jobs import jobs
from benchmarks.management.reporting import ProgressLine, benchmark_named, problem_line
from benchmarks.models import JobState
from benchmarks.records import Refused

BY = "command"


class Command(BaseCommand):
    help = "Draw candidate images for a benchmark's negative captions. See docs/guide/generating-images.md."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument("--model", default="sdxl-dpo", help="a pipeline's hub id or folder; or sdxl-dpo")
        parser.add_argument("--unet", default="", help="another denoising network for it, by hub id or folder")
        parser.add_argument("--count", type=int, default=4, help=f"images per item, at most {images.MOST}")
        parser.add_argument("--steps", type=int, default=50, help="denoising steps")
        parser.add_argument("--guidance", type=float, default=5.0, help="how closely images follow the caption")
        parser.add_argument("--seed", type=int, default=0, help="each image's seed follows from it and the item's id")
        parser.add_argument("--ids", type=Path, help="a file with one item's id per line, instead of all items")
        parser.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1, mps")
        parser.add_argument("--now", action="store_true", help="run here and now, instead of in a worker")

    def handle(self, *, benchmark, ids, now, **asked):
        found = benchmark_named(benchmark)
        wanted = {name: asked[name] for name in ("model", "unet", "count", "steps", "guidance", "seed", "device")}
        try:
            keys = _lines(ids) if ids else ()
            job = images.queue_images(benchmark=found, **wanted, keys=keys, by=BY, foreground=now)
        except Refused as refusal:
            raise CommandError(f"{refusal.problems[0].code} · {refusal.problems[0].advice}") from None
        if not now:
            tasks.generate_images.delay_on_commit(job.pk)
            self.stdout.write(f"Queued as job {job.pk}, for a worker that serves the queue `models`.")
            return
        progress = ProgressLine(self.stderr)
        job = jobs.run(job_id=job.pk, by=BY, work=images.generate, tell=progress.show)
        progress.end()
        if job.state == JobState.CANCELLED:
            raise CommandError("Cancelled. Finished images are kept for the next run.")
        if job.state != JobState.DONE:
            raise CommandError(problem_line(job.problems[0]))
        self.stdout.write(
            f"{job.report['new_candidates']:,} new candidates for {job.report['items']:,} items of {found.name}."
        )
        for note in job.report["notes"]:
            self.stdout.write(f"note: {note['advice']}")


def _lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from None
