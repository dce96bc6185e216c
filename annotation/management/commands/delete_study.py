"""`manage.py delete_study STUDY`: a study goes with all its judgments and exports."""

from django.core.management.base import BaseCommand, CommandError

from annotation.management.named import named
from annotation.models import Study
from annotation.studies.deletion import delete_study
from benchmarks.housekeeping.delete import CannotDelete, delete_benchmark


class Command(BaseCommand):
    help = "Delete a study with its judgments, annotators and exports. Its benchmark stays, unless it is asked to go."

    def add_arguments(self, parser):
        parser.add_argument("study", help="the study's name or number")
        parser.add_argument("--yes", action="store_true", help="do not ask for the name")
        parser.add_argument("--with-releases", action="store_true", help="frozen releases too, which others may cite")
        parser.add_argument(
            "--with-benchmark", action="store_true", help="the benchmark too, with images that no other item shows"
        )

    def handle(self, *, study, yes, with_benchmark, with_releases, **options):
        found = named(Study.objects.select_related("benchmark"), study)
        if not yes and input(f"Type the study's name to delete it, “{found.name}”: ") != found.name:
            raise CommandError("That is another name. Nothing was deleted.")
        try:
            went = delete_study(study=found, by="command", releases=with_releases)
            self.stdout.write("Deleted: " + ", ".join(f"{count:,} {what}" for what, count in went.items()) + ".")
            if with_benchmark:
                went = delete_benchmark(benchmark=found.benchmark, by="command")
                self.stdout.write("{items:,} items and {images:,} images ({bytes:,} bytes) too.".format(**went))
        except CannotDelete as why:
            raise CommandError(str(why)) from None
