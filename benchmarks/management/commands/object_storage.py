"""`manage.py object_storage create|from-folder|to-folder`: the bucket of files, and the way into it and back."""

import sys
from typing import cast

from django.core.files.storage import default_storage
from django.core.management.base import BaseCommand, CommandError

from benchmarks.storage.files import Unavailable, kept
from benchmarks.storage.folder import Folder


class Command(BaseCommand):
    help = "Create the bucket that WINNOW_S3_BUCKET names, or copy files between it and the folder of files."

    def add_arguments(self, parser):
        parser.add_argument("what", choices=["create", "from-folder", "to-folder"])

    def handle(self, *, what, **options):
        if not kept.in_bucket:
            raise CommandError("Set WINNOW_S3_BUCKET and the variables that belong to it for this command.")
        from benchmarks.storage import bucket as buckets  # late: nothing else without a bucket loads its client
        from benchmarks.storage import transfer

        bucket, folder = cast(buckets.Bucket, default_storage), Folder()
        try:
            if what == "create":
                bucket.create()
                bucket.try_out()
                self.stdout.write(f"The bucket {bucket.bucket_name} is ready.")
                return
            bucket.try_out()
            if what == "from-folder":
                copied = transfer.to_bucket(folder, bucket, self.tell)
            else:
                copied = transfer.to_folder(bucket, folder, self.tell)
        except (Unavailable, transfer.Damaged) as why:
            raise CommandError(f"{why} What was copied stays; run this again to go on.") from None
        there = f"{copied.there:,} files were there already"
        self.stdout.write(
            f"Copied {copied.files:,} files ({copied.bytes:,} bytes); {there}. All have the same SHA-256."
        )

    def tell(self, files: int, size: int) -> None:
        if sys.stderr.isatty() and files % 100 == 0:
            self.stderr.write(f"\r{files:,} files, {size:,} bytes copied", ending="")
            self.stderr.flush()
