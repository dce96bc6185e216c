"""`manage.py verify_release DIR`: everything that a release says of itself, computed again from its files alone."""

import sys
from pathlib import Path

from django.core.management.base import BaseCommand

from annotation.releases.verification.verifying import verify


class Command(BaseCommand):
    help = "Verify a release in a folder: hashes, tables, forms, counts and every figure. It needs no database."
    requires_system_checks = []
    requires_migrations_checks = False

    def add_arguments(self, parser):
        parser.add_argument("folder", type=Path, metavar="DIR", help="the release, unpacked")
        parser.add_argument("--json", action="store_true", help="print what was found as JSON")

    def handle(self, *, folder, json: bool, **rest):
        report = verify(folder)
        self.stdout.write(report.written(json))
        if not report.good:
            sys.exit(1)
