"""`manage.py verify_release DIR`: recompute everything that a release states from its files."""

import sys
from pathlib import Path

from django.core.management.base import BaseCommand

from annotation.releases.verification.verifying import verify


class Command(BaseCommand):
    help = "Verify a release in a folder: hashes, tables, formats, counts and every number. Doesn't need a database."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser):
        parser.add_argument("folder", type=Path, metavar="DIR", help="the unpacked release")
        parser.add_argument("--json", action="store_true", help="print the results as JSON")

    def handle(self, *, folder, json: bool, **rest):
        report = verify(folder)
        self.stdout.write(report.written(json))
        if not report.good:
            sys.exit(1)
