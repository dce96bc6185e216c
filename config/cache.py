"""Django's cache in Redis, which holds nothing while Redis is away: what pages keep there they can compute again."""

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
    """While Redis is away, each method answers as for a key that is not there."""

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

    def set_many(self, data, timeout) -> None:
        with _even_without_redis():
            super().set_many(data, timeout)

    def incr(self, key, delta) -> int:
        with _even_without_redis():
            return super().incr(key, delta)
        raise ValueError(f"{key} is not there: Redis is away.")


class Cache(RedisCache):
    def __init__(self, server, params):
        super().__init__(server, params)
        self._class = Client
