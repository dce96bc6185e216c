"""`manage.py backup OUT`: write the database and all files, as of one moment, to a new folder."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.housekeeping.backup import CannotBackUp, backup


class Command(BaseCommand):
    help = "Write the database and all files to a new folder, as of one moment. Winnow can keep running."

    def add_arguments(self, parser):
        parser.add_argument("out", type=Path, help="a new folder")
        parser.add_argument("--link", action="store_true", help="make hard links to images instead of copies")

    def handle(self, *, out, link, **options):
        try:
            manifest = backup(out=out, link=link)
        except CannotBackUp as why:
            raise CommandError(str(why)) from None
        self.stdout.write(summary(manifest))
        self.stdout.write(f"{out}, in {manifest['seconds']} s")


def summary(manifest: dict) -> str:
    found, media = manifest["tables"].values(), manifest["media"]
    rows, size = sum(table["rows"] for table in found), sum(table["bytes"] for table in found)
    return f"{rows:,} rows ({size:,} bytes compressed) and {media['files']:,} files ({media['bytes']:,} bytes)"
