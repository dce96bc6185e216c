"""What a command line names as a release: a folder, a .zip, or a frozen release by NAME@VERSION."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from django.core.management.base import CommandError

from annotation.management.releases import released
from annotation.releases import lifecycle as release_lifecycle
from annotation.releases.archive_reader import NotARelease, ReleaseFiles

PLACES = "a release's folder, its .zip, or NAME@VERSION of a frozen release"


@contextmanager
def opened(place: str) -> Iterator[ReleaseFiles]:
    """What is there on disk wins. CommandError where there is no release."""
    try:
        with _place(place) as found:
            found.manifest  # noqa: B018 (what is no release is told before anything else)
            yield found
    except NotARelease as problem:
        raise CommandError(f"{place}: {problem}") from None


def _place(place: str) -> AbstractContextManager[ReleaseFiles]:
    on_disk = Path(place).exists() or "@" not in place
    return ReleaseFiles(Path(place)) if on_disk else release_lifecycle.open_release(released(place))
