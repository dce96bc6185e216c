"""`manage.py create_study BENCHMARK --protocol bivlc-choose --overlap 2`: a study, its tasks and its invite link."""

from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse

from annotation.models import TieRule
from annotation.plans import StagePlan
from annotation.protocols.registry import PROTOCOLS
from annotation.running import running_at
from annotation.studies import CannotCreate, create_study
from benchmarks.models import Benchmark


def money(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path} cannot be read: {error}.") from None


class Command(BaseCommand):
    help = "Set a study up on a benchmark and print the link that invites annotators."

    def add_arguments(self, parser):
        parser.add_argument("benchmark", help="the benchmark's name or number")
        parser.add_argument("--protocol", choices=PROTOCOLS, required=True)
        parser.add_argument("--name", help="default: the benchmark's name and the protocol")
        parser.add_argument("--overlap", type=int, default=1, help="judgments an item (default 1)")
        parser.add_argument("--quota", type=int, help="judgments an annotator at most")
        parser.add_argument("--lease", type=int, default=600, help="seconds a screen is kept for an annotator")
        parser.add_argument("--tie-rule", choices=TieRule.values, default=TieRule.DROP)
        parser.add_argument("--pay", type=money, default=Decimal(0), help="pay for an hour of active time")
        parser.add_argument("--currency", default="USD")
        parser.add_argument("--instructions", type=Path, help="a text file; default: the protocol's")
        parser.add_argument("--auto-advance", action="store_true", help="an answer needs no Enter")
        parser.add_argument("--seed", type=int, help="of the order of items")
        parser.add_argument("--url", help="where annotators reach Winnow; default: where `make run` runs")

    def handle(self, *, benchmark, name, protocol, quota, lease, pay, instructions, url, **rest):
        source = self.benchmark(benchmark)
        settings_ = {key: rest[key] for key in ("overlap", "tie_rule", "auto_advance")}
        settings_ |= {"quota": quota, "lease_seconds": lease}
        words = read(Path(instructions)) if instructions else ""
        try:
            study = create_study(
                name=name or f"{source.name}, {protocol}", benchmark=source, by="command", pay_per_hour=pay,
                stages=[StagePlan(protocol, instructions=words, settings=settings_)],
                currency=rest["currency"], seed=rest["seed"],
            )  # fmt: skip
        except CannotCreate as refusal:
            raise CommandError(str(refusal)) from None
        stage = study.stages.get()
        self.stdout.write(f"Study {study.pk}: {study.name}, {stage.slots.count():,} judgments wanted.")
        home = (url or running_at(settings.VAR)).rstrip("/")
        self.stdout.write(f"Invite annotators: {home}{reverse('join', args=[study.invite])}")

    def benchmark(self, wanted: str) -> Benchmark:
        found = Benchmark.objects.filter(name=wanted).first()
        if found is None and wanted.isdecimal():
            found = Benchmark.objects.filter(pk=int(wanted)).first()
        if found is None:
            raise CommandError(f"There is no benchmark {wanted!r}. Import it first: manage.py import_benchmark.")
        return found
