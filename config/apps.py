"""Registers the checks of Redis and of the login providers."""

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from config.cache import redis_answers


class Config(AppConfig):
    name = "config"

    def ready(self) -> None:
        checks.register(redis_works, deploy=True)
        checks.register(providers_work, deploy=True)


def redis_works(**given) -> list[checks.CheckMessage]:
    """Check that Redis answers: only for `check --deploy`, because it contacts another server."""
    if redis_answers():
        return []
    what = "Redis does not answer at REDIS_URL, and jobs need it; the URL looks like redis://host:6379/0."
    return [checks.Error(what, id="winnow.E002")]


def providers_work(**given) -> list[checks.CheckMessage]:
    """Check that each provider's metadata fit the settings. A provider that does not respond now is not an error."""
    found: list[checks.CheckMessage] = []
    for slug in settings.PROVIDERS:
        from requests import RequestException

        from benchmarks.accounts import provider  # here: both take long to load

        try:
            provider.named(None, slug).check()
        except RequestException as error:
            what = f"WINNOW_PROVIDERS, [{slug}]: the provider does not answer, for now: {error}."
            found.append(checks.Info(what, id="winnow.I003"))
        except provider.WRONG as error:
            what = f"WINNOW_PROVIDERS, [{slug}]: {error}. docs/guide/login.md explains each setting."
            found.append(checks.Error(what, id="winnow.E003"))
    return found
