"""`manage.py diff_release A B`: the differences between two releases, with the reasons."""

import json

from django.core.management.base import BaseCommand

from annotation.management.releases import PLACES, opened
from annotation.releases.compare import compare
from annotation.releases.compare_wording import SHOWN, sentences


class Command(BaseCommand):
    help = "Compare two releases: items added, removed and changed, with the reasons, and the setup."

    def add_arguments(self, parser):
        parser.add_argument("before", metavar="A", help=PLACES)
        parser.add_argument("after", metavar="B", help="the same")
        parser.add_argument("--json", action="store_true", help="print all results as JSON")
        parser.add_argument("--items", type=int, default=SHOWN, metavar="N", help=f"items per group ({SHOWN}); 0: none")

    def handle(self, *, before, after, items, **options):
        with opened(before) as a, opened(after) as b:
            found = compare(a, b)
        if options["json"]:
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=2))
            return
        for line in sentences(found, max(items, 0)):
            self.stdout.write(line)
