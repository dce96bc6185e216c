"""Registers the check of the file storage, and the end of a request's deadline for it."""

from django.apps import AppConfig
from django.core import checks
from django.core.signals import request_finished, request_started

from benchmarks.storage.files import Unavailable, kept
from workers import neighbours


class Benchmarks(AppConfig):
    name = "benchmarks"

    def ready(self) -> None:
        checks.register(storage_works, deploy=True)
        request_started.connect(begin_serving)
        request_finished.connect(end_serving)  # also after a streamed response


def begin_serving(**given) -> None:
    neighbours.serve(True)


def end_serving(**given) -> None:
    neighbours.serve(False)


def storage_works(**given) -> list[checks.CheckMessage]:
    """Check that files can be stored and read: only for `check --deploy`, because it contacts another server."""
    try:
        kept.try_out()
    except Unavailable as error:
        return [checks.Error(str(error), id="winnow.E001")]
    return []
