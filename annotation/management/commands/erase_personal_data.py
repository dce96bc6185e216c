"""`manage.py erase_personal_data --older-than DAYS`: erase the personal data of annotators inactive for that long."""

from collections.abc import Iterable
from datetime import timedelta

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.models import Annotator
from annotation.participants.erasure import erase_before, of_before
from annotation.wording import counted


class Command(BaseCommand):
    help = "Erase the personal data of annotators who have been inactive for this many days, in every study."

    def add_arguments(self, parser):
        parser.add_argument("--older-than", type=int, required=True, metavar="DAYS")
        parser.add_argument("--dry-run", action="store_true", help="only list annotators whose data would be erased")

    def handle(self, *, older_than, dry_run, **options):
        if not 0 <= older_than <= 36500:
            raise CommandError("--older-than must be a number of days from 0 to 36500.")
        found: Iterable[Annotator] = (
            erase_before(days=older_than, by="command")
            if not dry_run
            else (of_before(timezone.now() - timedelta(days=older_than)).order_by("pk"))
        )
        count = 0
        for who in found:
            count += 1
            self.stdout.write(f"{who.study.name}: {who.pseudonym}")
        self.stdout.write(f"{counted(count, 'annotator')} {'would be ' * dry_run}erased.")
