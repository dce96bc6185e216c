"""`manage.py object_storage create|from-folder|to-folder`: create the bucket for files, and move files in or out."""

import sys
from typing import cast

from django.core.files.storage import default_storage
from django.core.management.base import BaseCommand, CommandError

from benchmarks.storage.files import Unavailable, kept
from benchmarks.storage.folder import Folder


class Command(BaseCommand):
    help = "Create the bucket named by WINNOW_S3_BUCKET, or copy files between it and the folder of files."

    def add_arguments(self, parser):
        parser.add_argument("what", choices=["create", "from-folder", "to-folder"])
        parser.add_argument("--delete", action="store_true", help="delete files that only the target has")

    def handle(self, *, what, delete, **options):
        if not kept.in_bucket:
            raise CommandError("Set WINNOW_S3_BUCKET and the variables that belong to it for this command.")
        from benchmarks.storage.bucket import Bucket  # late: only needed with a bucket
        from benchmarks.storage.transfer import Damaged

        bucket = cast(Bucket, default_storage)
        try:
            if what == "create":
                bucket.create()
            bucket.try_out()
            if what == "create":
                self.stdout.write(f"The bucket {bucket.bucket_name} is ready.")
            else:
                self.copy(bucket, what == "from-folder", delete)
        except (Unavailable, Damaged) as why:
            again = "" if what == "create" else " Copied files are kept; run this again to continue."
            raise CommandError(f"{why}{again}") from None

    def copy(self, bucket, into: bool, delete: bool) -> None:
        from benchmarks.storage import transfer

        folder = Folder()
        if into:
            copied = transfer.to_bucket(folder, bucket, self.tell)
        else:
            copied = transfer.to_folder(bucket, folder, self.tell)
        self.stdout.write(f"Copied {copied.files:,} files ({copied.bytes:,} bytes). All have the same SHA-256.")
        self.stdout.write(f"Files that were there already: {copied.there:,}.")
        source, target = (folder, bucket) if into else (bucket, folder)
        if others := transfer.only_in(target, source):
            if delete:
                target.remove(others)
            done = "deleted" if delete else "left in place; --delete deletes them"
            self.stdout.write(f"Files that only the target had: {len(others):,}, {done}.")

    def tell(self, files: int, size: int) -> None:
        if sys.stderr.isatty() and files % 100 == 0:
            self.stderr.write(f"\r{files:,} files, {size:,} bytes copied", ending="")
            self.stderr.flush()
