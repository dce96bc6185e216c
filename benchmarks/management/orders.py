"""Options of commands that order jobs, made from the order's fields, and the common parts of such commands."""

import dataclasses
from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from django import forms
from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from benchmarks.jobs import jobs
from benchmarks.jobs.orders import default_of, options_of
from benchmarks.management.reporting import ProgressLine, benchmark_named, problem_line
from benchmarks.models import Job, JobState
from benchmarks.records import Refused
from benchmarks.tasks import WORK_OF_MODELS

BY = "command"
TYPES = {forms.FloatField: float, forms.IntegerField: int}


def add_options(parser: ArgumentParser, order: type, without: Iterable[str] = ()) -> None:
    """Add an option for each field of the order, except those that the command reads differently."""
    for name, one in options_of(order).items():
        if name in without:
            continue
        field, default = one.field, default_of(order, name)
        given: dict[str, Any] = {"help": _help(field)}
        if default is dataclasses.MISSING:
            given["required"] = True
        else:
            given["default"] = default
        if isinstance(field, forms.BooleanField):
            given["action"] = "store_true"
        else:
            given["type"] = next((python for kind, python in TYPES.items() if isinstance(field, kind)), str)
        if isinstance(field, forms.MultipleChoiceField):
            given["action"] = "append"
        if isinstance(field, forms.ChoiceField):
            given["choices"] = [value for value, _ in field.choices]  # type: ignore[union-attr, misc]
        parser.add_argument(f"--{(one.option or name).replace('_', '-')}", **given)


def _help(field: forms.Field) -> str:
    """Return a field's label, help and limits; argparse treats % as a placeholder."""
    least, most = getattr(field, "min_value", None), getattr(field, "max_value", None)
    limits = "" if least is None or most is None else f"{least:g} to {most:,.10g}"
    found = ". ".join(str(part).rstrip(".") for part in (field.label, field.help_text, limits) if part)
    return found.replace("`", "").replace("%", "%%")


def values_of(order: type, options: dict[str, Any]) -> dict[str, Any]:
    """Return the order's fields among the options."""
    found = {name: one.option or name for name, one in options_of(order).items()}
    return {name: options[option] for name, option in found.items() if option in options}


def run_here(job: Job, work: Callable[[Job, jobs.Progress], None], out: OutputWrapper) -> Job:
    """Run the job in this process, with a line of progress on `out`; return it as it is afterwards."""
    progress = ProgressLine(out)
    job = jobs.run(job_id=job.pk, by=BY, work=work, tell=progress.show)
    progress.end()
    return job


class ModelCommand(BaseCommand):
    """A command that orders work by a model on a benchmark, in a worker or `--now`.

    A subclass defines what it `takes`, how to `queue` it, and the `summary` of a finished job's report.
    """

    takes: type
    own_options: ClassVar[Iterable[str]] = ()  # fields that the subclass reads differently
    cancelled: ClassVar[str]  # what a cancelled job leaves behind
    about: ClassVar[str] = "benchmark"  # the first argument, read by `find`

    def add_arguments(self, parser):
        parser.add_argument(self.about, help=f"the {self.about}'s name")
        add_options(parser, self.takes, self.own_options)
        parser.add_argument("--now", action="store_true", help="run here and now, instead of in a worker")

    def handle(self, *, now, **options):
        try:
            job = self.queue(self.find(options.pop(self.about)), self.order(options), now, options)
        except Refused as refusal:
            raise CommandError(f"{refusal.problems[0].code} · {refusal.problems[0].advice}") from None
        if job is None:
            return
        if not now:
            jobs.dispatch(job)
            self.stdout.write(f"Queued as job {job.pk}, for a worker that serves the queue `models`.")
            return
        job = run_here(job, WORK_OF_MODELS[job.kind], self.stderr)
        if job.state == JobState.CANCELLED:
            raise CommandError(f"Cancelled. {self.cancelled}")
        if job.state != JobState.DONE:
            raise CommandError("\n".join(map(problem_line, job.problems)))
        self.stdout.write("\n".join(self.summary(job)))

    def find(self, name: str) -> Any:
        """Find the object with that name. Raises CommandError if there is none."""
        return benchmark_named(name)

    def order(self, options: dict[str, Any]) -> Any:
        return self.takes(**values_of(self.takes, options))

    def queue(self, found: Any, order: Any, now: bool, options: dict[str, Any]) -> Job | None:
        """Queue the job for the result of `find`; None if the command was to do something else. Raises Refused."""
        raise NotImplementedError

    def summary(self, job: Job) -> list[str]:
        """Return the lines for a finished job."""
        raise NotImplementedError
