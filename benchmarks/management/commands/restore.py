"""`manage.py restore DIR`: restore a backup, completely or not at all."""

import time
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from benchmarks.housekeeping.restore import CannotRestore, check, restore
from benchmarks.imports.staging import InUse
from benchmarks.management.commands.backup import summary


class Command(BaseCommand):
    help = "Restore a backup into an empty installation of the same version. Stop the web server and worker first."

    def add_arguments(self, parser):
        parser.add_argument("folder", type=Path, help="a folder written by manage.py backup")
        parser.add_argument("--replace", action="store_true", help="delete all data of this installation first")
        parser.add_argument("--check", action="store_true", help="only read the backup, and check that it is complete")

    def handle(self, *, folder, replace, **options):
        started, reads = time.monotonic(), options["check"]
        try:
            manifest = check(folder) if reads else restore(folder=folder, replace=replace, by="command")
        except (CannotRestore, InUse) as why:
            raise CommandError(str(why)) from None
        self.stdout.write(f"{summary(manifest)}, as of {manifest['at']}")
        self.stdout.write(f"{'whole, read' if reads else 'restored'} in {time.monotonic() - started:.1f} s")
