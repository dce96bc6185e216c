"""Releases on the command line: a folder, a .zip or NAME@VERSION, and the options of a plan."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.management.base import CommandError

from annotation.models import Release
from annotation.releases import lifecycle as release_lifecycle
from annotation.releases.archive_reader import NotARelease, ReleaseFiles
from annotation.releases.plan import FORMS, PUBLIC, SHARD_MB, SPLITS, USUAL_FORMS, Plan

PLACES = "a release's folder, its .zip, or NAME@VERSION of a frozen release"


def released(wanted: str) -> Release:
    """Return a frozen release by NAME@VERSION. Raises CommandError, with a list of releases, if there is none."""
    name, _, version = wanted.partition("@")
    there = Release.objects.exclude(frozen_at=None).select_related("study")
    if found := there.filter(name=name, version=version).first():
        return found
    listed = ", ".join(f"{one.name}@{one.version}" for one in there[:9]) or "none"
    raise CommandError(f"There is no release {wanted!r}. The releases are {listed}.")


@contextmanager
def opened(place: str) -> Iterator[ReleaseFiles]:
    """Open the release; a path on disk takes precedence. Raises CommandError if there is no release."""
    on_disk = Path(place).exists() or "@" not in place
    try:
        with ReleaseFiles(Path(place)) if on_disk else release_lifecycle.open_release(released(place)) as found:
            found.manifest  # noqa: B018 (report an invalid release before anything else)
            yield found
    except NotARelease as problem:
        raise CommandError(f"{place}: {problem}") from None


def add_plan(parser: ArgumentParser) -> None:
    parser.add_argument("release", metavar="NAME@VERSION", help="name and version, such as cups@1.0")
    parser.add_argument("--stages", type=int, nargs="+", default=[], metavar="N", help="stage positions; default: all")
    parser.add_argument(
        "--splits", nargs="+", default=["one"], metavar="SPLIT",
        help=f"{', '.join(SPLITS)}, or percentages such as train=70 validation=20 test=10",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed for drawing the splits")
    parser.add_argument("--forms", nargs="*", default=list(USUAL_FORMS), choices=FORMS, help="besides parquet")
    parser.add_argument("--shard-mb", type=int, default=SHARD_MB, help="megabytes of images per shard")
    parser.add_argument("--public", nargs="*", default=[], choices=list(PUBLIC), help="besides the minimum")
    parser.add_argument("--words", type=Path, metavar="FILE", help="JSON: summary, authors, licence, demographics …")


def plan_of(options: dict, words: dict) -> Plan:
    name, _, version = options["release"].partition("@")
    copied = {field: options[field] for field in ("stages", "seed", "forms", "shard_mb", "public")}
    return Plan(name, version, splits=_splits(options["splits"]), words=words, **copied)


def _splits(given: list[str]) -> dict[str, int]:
    if len(given) == 1 and given[0] in SPLITS:
        return dict(SPLITS[given[0]])
    try:
        return {name: int(percent) for name, percent in (one.split("=") for one in given)}
    except ValueError:
        raise CommandError(f"--splits takes {', '.join(SPLITS)}, or percents such as train=80 validation=20.") from None
