"""`manage.py backup OUT`: the database and all files, of one moment, in a new folder."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.housekeeping.backup import CannotBackUp, backup


class Command(BaseCommand):
    help = "Write the database and all files to a new folder, as they are at one moment. Winnow may go on running."

    def add_arguments(self, parser):
        parser.add_argument("out", type=Path, help="a new folder")
        parser.add_argument("--link", action="store_true", help="hard links to images instead of copies")

    def handle(self, *, out, link, **options):
        try:
            manifest = backup(out=out, link=link)
        except CannotBackUp as why:
            raise CommandError(str(why)) from None
        self.stdout.write(told(manifest))
        self.stdout.write(f"{out}, in {manifest['seconds']} s")


def told(manifest: dict) -> str:
    found, media = manifest["tables"].values(), manifest["media"]
    rows, size = sum(table["rows"] for table in found), sum(table["bytes"] for table in found)
    return f"{rows:,} rows ({size:,} bytes packed) and {media['files']:,} files ({media['bytes']:,} bytes)"
