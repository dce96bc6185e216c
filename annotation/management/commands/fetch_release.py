"""`manage.py fetch_release NAME@VERSION --out DIR`: unpack a frozen release into a folder."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.management.releases import released
from annotation.releases import lifecycle as release_lifecycle


class Command(BaseCommand):
    help = "Unpack a frozen release into a new folder."

    def add_arguments(self, parser):
        parser.add_argument("release", metavar="NAME@VERSION")
        parser.add_argument("--out", type=Path, required=True, help="a new or empty folder")

    def handle(self, *, release, out, **options):
        found = released(release)
        try:
            count = release_lifecycle.unpack(found, out)
        except release_lifecycle.CannotFreeze as why:
            raise CommandError(str(why)) from None
        self.stdout.write(f"{found}: {count:,} files in {out}, content {found.content}.")
