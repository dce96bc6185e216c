"""`manage.py delete_study STUDY`: delete a study with all its judgments and exports."""

from django.core.management.base import BaseCommand, CommandError

from annotation.management.named import named
from annotation.models import Study
from annotation.studies.deletion import delete_study
from benchmarks.housekeeping.delete import CannotDelete, delete_benchmark


class Command(BaseCommand):
    help = "Delete a study with its judgments, annotators and exports. Its benchmark is kept unless you ask otherwise."

    def add_arguments(self, parser):
        parser.add_argument("study", help="the study's name or number")
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")
        parser.add_argument("--with-releases", action="store_true", help="also delete frozen releases")
        parser.add_argument(
            "--with-benchmark", action="store_true", help="also delete the benchmark and images that no other item uses"
        )

    def handle(self, *, study, yes, with_benchmark, with_releases, **options):
        found = named(Study.objects.select_related("benchmark"), study)
        if not yes and input(f"Type the study's name to delete it, “{found.name}”: ") != found.name:
            raise CommandError("That is not the study's name. Nothing was deleted.")
        try:
            went = delete_study(study=found, by="command", releases=with_releases)
            self.stdout.write("Deleted: " + ", ".join(f"{count:,} {what}" for what, count in went.items()) + ".")
            if with_benchmark:
                went = delete_benchmark(benchmark=found.benchmark, by="command")
                self.stdout.write("Also {items:,} items and {images:,} images ({bytes:,} bytes).".format(**went))
        except CannotDelete as why:
            raise CommandError(str(why)) from None
