"""Find out whether a worker that runs models is active: each reports in, and the cache forgets those that stop."""

from django.core.cache import cache

EVERY = 10  # seconds
_KEY = "model-worker"


def report_in() -> None:
    cache.set(_KEY, True, 3 * EVERY)


def is_running() -> bool:
    return bool(cache.get(_KEY))
