"""Django's cache in Redis, which acts as empty while Redis is down or hangs: pages can recompute everything in it."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import redis
from django.conf import settings
from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

from workers.neighbours import Neighbour, Unresponsive

REDIS = Neighbour("Redis", seconds=0.5, at_once=8)
log = logging.getLogger(__name__)


def _even_without_redis(name: str, missing: Callable[..., Any]) -> Callable[..., Any]:
    """The client's method of that name, which gives what `missing` gives while Redis does not answer."""
    usual = getattr(RedisCacheClient, name)

    def method(self: RedisCacheClient, *args: Any, **kwargs: Any) -> Any:
        try:
            return REDIS.ask(lambda: usual(self, *args, **kwargs))
        except (RedisError, Unresponsive) as error:
            log.warning("The cache does without Redis: %s", error)
        return missing(*args, **kwargs)

    return method


def _cannot_count(key, delta) -> int:
    raise ValueError(f"{key} is missing: Redis is down.")


MISSING: dict[str, Callable[..., Any]] = {  # what each method gives of a missing key
    "get": lambda key, default: default,
    "get_many": lambda keys: {},
    "has_key": lambda key: False,
    "add": lambda key, value, timeout: True,
    "set": lambda key, value, timeout: None,
    "set_many": lambda data, timeout: None,
    "touch": lambda key, timeout: False,
    "delete": lambda key: False,
    "delete_many": lambda keys: None,
    "incr": _cannot_count,
}
# While Redis is down, every key is missing.
Client = type(
    "Client", (RedisCacheClient,), {name: _even_without_redis(name, gives) for name, gives in MISSING.items()}
)


def redis_answers() -> bool:
    with suppress(RedisError, Unresponsive, ValueError, OSError):
        return bool(REDIS.ask(redis.Redis.from_url(settings.REDIS_URL, **settings.AT_ONCE).ping))
    return False


class Cache(RedisCache):
    def __init__(self, server, params):
        super().__init__(server, params)
        self._class = Client
