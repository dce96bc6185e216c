"""`manage.py train BENCHMARK --preset NAME --model … --name …`: train a model, here or by a worker."""

import os

from django.core.management.base import BaseCommand, CommandError

from benchmarks import tasks
from benchmarks.jobs import jobs
from benchmarks.management.commands.score import sentence
from benchmarks.management.reporting import ProgressLine, benchmark_named, problem_line
from benchmarks.models import Job, JobState
from benchmarks.records import Refused
from benchmarks.training import train
from workers.models.presets import PRESETS

BY = "command"


class Command(BaseCommand):
    help = "Train a model on a benchmark. docs/guide/training.md lists the presets, and what is stored."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name")
        parser.add_argument("--preset", required=True, choices=list(PRESETS), help="the losses and numbers of a paper")
        parser.add_argument("--name", required=True, help="the new model's name")
        parser.add_argument(
            "--model", required=True, help="the base: an architecture of open_clip, hf-hub:ORG/MODEL, local-dir:FOLDER"
        )
        parser.add_argument("--pretrained", default="", help="weights of an architecture: a tag or a file")
        parser.add_argument("--release", default="", help="train on the training side of this release: “NAME VERSION”")
        parser.add_argument("--epochs", type=int, help="instead of the preset's")
        parser.add_argument("--batch", type=int, help="items per batch, instead of the preset's")
        parser.add_argument("--rate", type=float, help="learning rate, instead of the preset's")
        parser.add_argument("--seed", type=int, help="of the split, the order and the choice of negatives (default: 0)")
        parser.add_argument("--device", default="auto", help="auto (a GPU if there is one), cpu, cuda, cuda:1, mps")
        parser.add_argument("--now", action="store_true", help="run here and now, instead of in a worker")

    def handle(self, *, benchmark, now, **given):
        names = ("preset", "name", "model", "pretrained", "release", "device", *train.CHANGES)
        asked = {name: given[name] for name in names}
        try:
            if os.environ.get("RANK", "0") != "0":  # one of several processes of torchrun; the first one reports
                return train.follow(train.params_of(benchmark_named(benchmark), **asked))
            job = train.queue_train(benchmark=benchmark_named(benchmark), **asked, by=BY, foreground=now)
        except Refused as refusal:
            raise CommandError(sentence(refusal.problems[0].code, refusal.problems[0].advice)) from None
        if now:
            progress = ProgressLine(self.stderr)
            job = jobs.run(job_id=job.pk, by=BY, work=train.train, tell=progress.show)
            progress.end()
            self.answer(job)
        else:
            tasks.run_train.delay_on_commit(job.pk)
            self.stdout.write(f"Queued as job {job.pk}, for a worker that serves the queue `models`.")

    def answer(self, job: Job) -> None:
        if job.state == JobState.DONE:
            self.stdout.write("\n".join(summary(job.report)))
        elif job.state == JobState.CANCELLED:
            raise CommandError("Cancelled. The checkpoint is kept; the same command continues from it.")
        else:
            raise CommandError(problem_line(job.problems[0]))


def summary(report: dict) -> list[str]:
    if "note" in report:
        return [f"{report['note']}: {report['name']}.", f"Score with it: --model {report['model']}"]
    return [
        f"Trained {report['name']} on {report['train']:,} items ({report['precision']}, {report['device']}).",
        f"Accuracy on {report['validation']:,} validation items: {report['accuracy']:.3f} (epoch {report['epoch']}).",
        *(f"note: {count:,} items lack a {what}" for what, count in report["lacking"].items()),
        *(f"note: {note}" for note in report["notes"]),
        f"Score with it: --model {report['model']}",
        f"Done in {report['seconds']:,} s.",
    ]
