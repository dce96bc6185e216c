"""`manage.py backup OUT`: write the database and all files, as of one moment, to a new folder, once or regularly."""

import shutil
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.db import Error as DatabaseError
from django.db import connection

from benchmarks.housekeeping.backup import CannotBackUp, backup
from benchmarks.housekeeping.restore import CannotRestore, check

STAMP = "%Y%m%dT%H%M%SZ"
AGAIN = timedelta(minutes=10)  # after a failed backup


class Command(BaseCommand):
    help = "Write the database and all files to a new folder, as of one moment. Winnow can keep running."

    def add_arguments(self, parser):
        parser.add_argument("out", type=Path, help="a new folder; with --every, the folder of backups")
        parser.add_argument("--link", action="store_true", help="make hard links to images instead of copies")
        parser.add_argument("--every", type=float, metavar="HOURS", help="keep running, and back up at this interval")
        parser.add_argument("--keep", type=int, default=7, metavar="N", help="number of backups to keep (default: 7)")

    def handle(self, *, out, link, every, keep, **options):
        if every is None:
            self._once(out, link)
            return
        if not every > 0 or keep < 1:
            raise CommandError("--every and --keep must be above 0.")
        while True:
            time.sleep(max(0.0, (self._next(out, timedelta(hours=every), link, keep) - _now()).total_seconds()))

    def _once(self, out: Path, link: bool) -> None:
        try:
            manifest = backup(out=out, link=link)
        except CannotBackUp as why:
            raise CommandError(str(why)) from None
        self.stdout.write(summary(manifest))
        self.stdout.write(f"{out}, in {manifest['seconds']} s")

    def _next(self, folder: Path, every: timedelta, link: bool, keep: int) -> datetime:
        """Write a backup if it is due, read it back, and delete old ones; return when to check again."""
        kept = scheduled(folder)
        if kept and (due := _time_of(kept[-1]) + every) > _now():
            return due
        try:
            folder.mkdir(parents=True, exist_ok=True)
            new = folder / _now().strftime(STAMP)
            self._once(new, link)
            check(new)
        except (CommandError, CannotRestore, DatabaseError, OSError) as why:
            self.stderr.write(f"No backup: {why}")
            return _now() + AGAIN
        finally:
            connection.close()  # so that no connection is held for hours
        for old in scheduled(folder)[:-keep]:
            shutil.rmtree(old)
        return _time_of(new) + every


def scheduled(folder: Path) -> list[Path]:
    """Return the backups in the folder written by `--every`, oldest first."""
    return sorted(path for path in folder.glob("*T*Z") if (path / "manifest.json").exists())


def _now() -> datetime:
    return datetime.now(UTC)


def _time_of(path: Path) -> datetime:
    return datetime.strptime(path.name, STAMP).replace(tzinfo=UTC)


def summary(manifest: dict) -> str:
    found, media = manifest["tables"].values(), manifest["media"]
    rows, size = sum(table["rows"] for table in found), sum(table["bytes"] for table in found)
    return f"{rows:,} rows ({size:,} bytes compressed) and {media['files']:,} files ({media['bytes']:,} bytes)"
