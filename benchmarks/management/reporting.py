"""Shared by commands: finding a benchmark or a user by name, a progress line, and the problems of a job."""

import json
import sys
import time
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management.base import CommandError, OutputWrapper

from benchmarks.models import Benchmark, Job
from benchmarks.records import Problem


def benchmark_named(name: str) -> Benchmark:
    """Return the benchmark of this name. Raises CommandError with a list of benchmarks if there is none."""
    found = Benchmark.objects.filter(name=name).first()
    if found is None:
        there = ", ".join(Benchmark.objects.values_list("name", flat=True)[:9]) or "none"
        raise CommandError(f"There is no benchmark {name!r}. The benchmarks are {there}.")
    return found


def user_named(name: str) -> User:
    """Return the user with this login name. Raises CommandError if there is none."""
    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no user {name}.")
    return found


def text_of(path: Path | str) -> str:
    """Return the text of a file named in an option. Raises CommandError if it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from None


def problem_line(problem: dict) -> str:
    """Return `CODE · file · row · column · what to do`."""
    return str(Problem(**problem))


def write_problems(job: Job, out: OutputWrapper) -> None:
    for problem in job.problems:
        out.write(problem_line(problem))


class ProgressLine:
    """A progress line that overwrites itself on a terminal; nothing in a log file."""

    def __init__(self, out: OutputWrapper):
        self.out, self.phase, self.since = out, "", 0.0

    def show(self, phase: str, done: int, total: int | None) -> None:
        if not sys.stderr.isatty():
            return
        if phase != self.phase:
            self.phase, self.since = phase, time.monotonic()
        self.out.write(f"\r\x1b[K{_progress(phase, done, total, time.monotonic() - self.since)}", ending="")
        self.out.flush()

    def end(self) -> None:
        if self.phase:
            self.out.write("\r\x1b[K", ending="")


def _progress(phase: str, done: int, total: int | None, seconds: float) -> str:
    rate = done / seconds if seconds > 0.5 else 0
    if total is None:
        return f"{phase} {done:,}" if done else phase
    left = f" · {rate:,.0f}/s · {(total - done) / rate:,.0f} s left" if rate else ""
    return f"{phase} {done:,} of {total:,}{left}"


def columns_of(report: dict) -> list[str]:
    """Return what a look-only job found in a table: its columns with first values, and a mapping for them."""
    columns = [f"{one['name']}: {', '.join(one['examples']) or 'empty'}" for one in report["columns"]]
    known = [f"This looks like {one['title']}: {one['name']}." for one in report.get("known", ())]
    return [*columns, *known, "A mapping for it:", json.dumps(report["mapping"], indent=1, ensure_ascii=False)]
