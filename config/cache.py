"""Django's cache in Redis, which acts as empty while Redis is down: pages can recompute everything in it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


@contextmanager
def _even_without_redis() -> Iterator[None]:
    try:
        yield
    except RedisError as error:
        log.warning("Redis does not answer: %s", error)


class Client(RedisCacheClient):
    """While Redis is down, each method behaves as for a missing key."""

    def get(self, key, default) -> Any:
        with _even_without_redis():
            return super().get(key, default)
        return default

    def get_many(self, keys) -> dict:
        with _even_without_redis():
            return super().get_many(keys)
        return {}

    def add(self, key, value, timeout) -> bool:
        with _even_without_redis():
            return super().add(key, value, timeout)
        return True

    def set(self, key, value, timeout) -> None:
        with _even_without_redis():
            super().set(key, value, timeout)

    def delete(self, key) -> bool:
        with _even_without_redis():
            return super().delete(key)
        return False

    def set_many(self, data, timeout) -> None:
        with _even_without_redis():
            super().set_many(data, timeout)

    def incr(self, key, delta) -> int:
        with _even_without_redis():
            return super().incr(key, delta)
        raise ValueError(f"{key} is missing: Redis is down.")


class Cache(RedisCache):
    def __init__(self, server, params):
        super().__init__(server, params)
        self._class = Client
