"""`manage.py export_split STUDY --out DIR`: write the validated split to a folder."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.exports.export import CannotExport, export_split
from annotation.management.named import named
from annotation.models import Study
from annotation.wording import items_in_words


class Command(BaseCommand):
    help = "Write a study's validated split: data.parquet, judgments, dropped items with reasons, a manifest."

    def add_arguments(self, parser):
        parser.add_argument("study", help="the study's name or number")
        parser.add_argument("--out", type=Path, required=True, help="a new folder, or the folder of an earlier export")

    def handle(self, *, study, out, **rest):
        found = named(Study.objects.all(), study)
        try:
            manifest = export_split(study=found, out=Path(out), by="command")
        except CannotExport as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(items_in_words(manifest["counts"]))
        for name, file in manifest["files"].items():
            rows = "" if file["rows"] is None else f" {file['rows']:,} rows"
            self.stdout.write(f"{file['sha256'][:12]}  {file['bytes']:>12,} bytes  {name}{rows}")
