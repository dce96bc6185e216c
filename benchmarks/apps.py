"""Registers the check of the place where files are kept."""

from django.apps import AppConfig
from django.core import checks

from benchmarks.storage.files import Unavailable, kept


class Benchmarks(AppConfig):
    name = "benchmarks"

    def ready(self) -> None:
        checks.register(storage_works, deploy=True)


def storage_works(**given) -> list[checks.CheckMessage]:
    """Whether files can be stored and read: for `check --deploy`, since it asks another server."""
    try:
        kept.try_out()
    except Unavailable as error:
        return [checks.Error(str(error), id="winnow.E001")]
    return []
