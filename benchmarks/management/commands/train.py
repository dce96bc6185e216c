"""`manage.py train BENCHMARK --preset NAME --model … --name …`: train a model, here or by a worker."""

import os

from benchmarks.management.orders import BY, ModelCommand
from benchmarks.models import Job
from benchmarks.training import train


class Command(ModelCommand):
    help = "Train a model on a benchmark. docs/guide/training.md lists the presets, and what is stored."
    takes = train.TrainOrder
    cancelled = "The checkpoint is kept; the same command continues from it."

    def queue(self, benchmark, order, now, options) -> Job | None:
        if os.environ.get("RANK", "0") != "0":  # one of several processes of torchrun; only the first reports
            train.follow(train.params_of(benchmark, order))
            return None
        return train.queue_train(benchmark=benchmark, order=order, by=BY, foreground=now)

    def summary(self, job: Job) -> list[str]:
        report = job.report
        if "note" in report:
            return [f"{report['note']}: {report['name']}.", f"Score with it: --model {report['model']}"]
        return [
            f"Trained {report['name']} on {report['train']:,} items ({report['precision']}, {report['device']}).",
            f"Accuracy on {report['validation']:,} validation items: {report['accuracy']:.3f} "
            f"(epoch {report['epoch']}).",
            *(f"note: {count:,} items lack a {what}" for what, count in report["lacking"].items()),
            *(f"note: {note}" for note in report["notes"]),
            f"Score with it: --model {report['model']}",
            f"Done in {report['seconds']:,} s.",
        ]
