"""`manage.py erase_annotator STUDY A-07`: erase an annotator's personal data."""

from django.core.management.base import BaseCommand, CommandError

from annotation.management.named import named
from annotation.models import Study
from annotation.participants.erasure import erase


class Command(BaseCommand):
    help = "Erase an annotator's name, Prolific ids and link. Their judgments stay under the pseudonym."

    def add_arguments(self, parser):
        parser.add_argument("study", help="the study's name or number")
        parser.add_argument("annotator", help="the pseudonym, such as A-07")

    def handle(self, *, study, annotator, **options):
        found = named(Study.objects.all(), study)
        who = next((one for one in found.annotators.all() if one.pseudonym == annotator.upper()), None)
        if who is None:
            raise CommandError(f"There is no annotator {annotator} in {found.name}.")
        done = erase(annotator=who, by="command")
        self.stdout.write(f"{who.pseudonym}: {'erased' if done else 'had already been erased'}.")
