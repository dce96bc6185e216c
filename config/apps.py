"""Registers the check of Redis."""

from django.apps import AppConfig
from django.core import checks

from config.cache import redis_answers


class Config(AppConfig):
    name = "config"

    def ready(self) -> None:
        checks.register(redis_works, deploy=True)


def redis_works(**given) -> list[checks.CheckMessage]:
    """Whether Redis answers: for `check --deploy`, since it asks another server."""
    if redis_answers():
        return []
    what = "No Redis answers at REDIS_URL, and without one no job is done; it looks like redis://host:6379/0."
    return [checks.Error(what, id="winnow.E002")]
