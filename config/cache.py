"""Django's cache in Redis, which acts as empty while Redis is down or hangs: pages can recompute everything in it."""

import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

from workers.neighbours import Neighbour, Unresponsive

REDIS = Neighbour("Redis", seconds=0.5, at_once=8)
log = logging.getLogger(__name__)


def _even_without_redis(missing: Callable[..., Any]) -> Callable[..., Any]:
    """A method of the client which, while Redis does not answer, behaves as `missing` with the same arguments."""
    usual = getattr(RedisCacheClient, missing.__name__)

    def method(self: RedisCacheClient, *args: Any, **kwargs: Any) -> Any:
        try:
            return REDIS.ask(lambda: usual(self, *args, **kwargs))
        except (RedisError, Unresponsive) as error:
            log.warning("The cache does without Redis: %s", error)
        return missing(self, *args, **kwargs)

    return method


class Client(RedisCacheClient):
    """While Redis is down, each method behaves as for a missing key."""

    @_even_without_redis
    def get(self, key, default) -> Any:
        return default

    @_even_without_redis
    def get_many(self, keys) -> dict:
        return {}

    @_even_without_redis
    def has_key(self, key) -> bool:
        return False

    @_even_without_redis
    def add(self, key, value, timeout) -> bool:
        return True

    @_even_without_redis
    def set(self, key, value, timeout) -> None:
        pass

    @_even_without_redis
    def set_many(self, data, timeout) -> None:
        pass

    @_even_without_redis
    def touch(self, key, timeout) -> bool:
        return False

    @_even_without_redis
    def delete(self, key) -> bool:
        return False

    @_even_without_redis
    def delete_many(self, keys) -> None:
        pass

    @_even_without_redis
    def incr(self, key, delta) -> int:
        raise ValueError(f"{key} is missing: Redis is down.")


class Cache(RedisCache):
    def __init__(self, server, params):
        super().__init__(server, params)
        self._class = Client
