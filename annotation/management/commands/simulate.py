"""`manage.py simulate STUDY --annotators 10 --error-rate 0.1`: simulated annotators work through a study over HTTP."""

import sys

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.management.named import named
from annotation.models import Study
from annotation.simulation.browser import Unreachable
from annotation.simulation.crowd import Plan, Report, running_at, simulate


class Command(BaseCommand):
    help = "Have simulated annotators join a study in the running Winnow and judge until no tasks are left."

    def add_arguments(self, parser):
        parser.add_argument("study", help="the study's name or number")
        parser.add_argument("--annotators", type=int, default=10)
        parser.add_argument("--error-rate", type=float, default=0.1, help="share of incorrect answers")
        parser.add_argument("--url", help="address of Winnow; default: that of `make run`, or else PORT, or else 8000")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--limit", type=int, help="stop after this many judgments in total")
        parser.add_argument("--concurrency", type=int, default=4, help="annotators active at the same time")
        parser.add_argument("--pace", type=float, default=0, help="1 simulates thinking time, 0 does not wait")

    def handle(self, *, study, **rest):
        plan = self.plan(rest)
        try:
            report = simulate(study=named(Study.objects.all(), study), plan=plan, tell=self.tell)
        except Unreachable as reason:
            raise CommandError(f"{reason} Start Winnow with `make run`, or give its address with --url.") from None
        self.stdout.write("\n".join(lines(report)))

    def plan(self, given: dict) -> Plan:
        plan = Plan(
            given["url"] or running_at(settings.VAR), int(given["annotators"]), float(given["error_rate"]),
            int(given["seed"]), given["limit"] and int(given["limit"]), int(given["concurrency"]), float(given["pace"]),
        )  # fmt: skip
        if not 0 <= plan.error_rate <= 1 or plan.annotators < 1 or plan.concurrency < 1 or plan.pace < 0:
            raise CommandError(
                "--error-rate must be from 0 to 1, --annotators and --concurrency at least 1, --pace at least 0."
            )
        return plan

    def tell(self, judgments: int) -> None:
        if sys.stderr.isatty():
            self.stderr.write(f"\r{judgments:,} judgments", ending="")
            self.stderr.flush()


def lines(report: Report) -> list[str]:
    rate = report.judgments / report.seconds if report.seconds else 0
    total = (
        f"{report.judgments:,} judgments in {report.seconds:.1f} s: {rate:.1f} per second, {len(report.errors)} errors"
    )
    each = [
        f"{tally.pseudonym}  {tally.judgments:>6,} judgments  {tally.skipped:>3} skipped  {tally.undone:>3} taken back"
        for tally in report.tallies
    ]
    return [*each, *report.errors[:10], total]
