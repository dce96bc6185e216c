"""`manage.py push_release DIR --to OWNER/NAME`: upload a release to a hub, under its version."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.management.releases import PLACES, opened
from annotation.releases import publish
from annotation.releases.archive_reader import ReleaseFiles
from annotation.releases.verification import verifying


class Command(BaseCommand):
    help = "Verify a release and upload it to a dataset hub. Winnow uploads releases only with this command."

    def add_arguments(self, parser):
        parser.add_argument("release", metavar="DIR", help=PLACES)
        parser.add_argument(
            "--to", required=True, metavar="OWNER/NAME", help="the repository, created if it does not exist"
        )
        parser.add_argument("--private", action="store_true", help="create it as a private repository")
        parser.add_argument("--yes", action="store_true", help="do not ask for confirmation")

    def handle(self, *, release, to, private, yes, **options):
        try:
            target = publish.target(to, private)
            with _folder(release) as folder:
                if problems := verifying.verify(folder).problems:
                    raise CommandError("\n".join(["The release failed verification. Nothing was sent.", *problems]))
                self.stdout.write(_before(folder, target))
                if not yes and input("Send it? Type yes: ").strip().lower() != "yes":
                    raise CommandError("Nothing was sent.")
                address = publish.push(folder, target, self.stdout.write)
        except publish.CannotPush as why:
            raise CommandError(str(why)) from why
        except EOFError:
            raise CommandError("Nobody confirmed, so nothing was sent. Use --yes to skip the question.") from None
        self.stdout.write(f"Uploaded to {address}")


@contextmanager
def _folder(place: str) -> Iterator[Path]:
    """Yield the folder itself; for a .zip or a frozen release, a temporary folder with its files."""
    with opened(place) as release:
        if Path(place).is_dir():
            yield Path(place)
            return
        with TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as above:
            release.unpack(Path(above) / "release")
            yield Path(above) / "release"


def _before(folder: Path, to: publish.Target) -> str:
    manifest = ReleaseFiles(folder).manifest
    plan, files = manifest["release"], manifest["files"]
    size = sum(file["bytes"] for file in files.values())
    who = "people with access to it" if to.private else "everyone who can read the hub"
    return (
        f"{plan['name']} {plan['version']}: {len(files) + 1:,} files, {size:,} bytes, content {manifest['content']},\n"
        f"will be uploaded to {to.address}, visible to {who}. Copies that others make cannot be recalled."
    )
