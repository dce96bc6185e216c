"""Django's cache in Redis, which holds nothing while Redis is away: what pages keep there they can compute again."""

import logging
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

log = logging.getLogger(__name__)


def _or(absent: Any, method: Callable) -> Callable:
    """`method`, which gives `absent` where Redis does not answer."""

    def tolerant(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except RedisError as error:
            log.warning("Redis does not answer: %s", error)
            return absent

    return tolerant


class Client(RedisCacheClient):
    """Each method gives what it gives of a key that is not there."""

    set = _or(None, RedisCacheClient.set)
    set_many = _or(None, RedisCacheClient.set_many)
    add = _or(True, RedisCacheClient.add)
    get_many = _or({}, RedisCacheClient.get_many)

    def get(self, key, default):
        return _or(default, RedisCacheClient.get)(self, key, default)

    def incr(self, key, delta):
        try:
            return super().incr(key, delta)
        except RedisError as error:
            raise ValueError(f"Redis does not answer: {error}") from None


class Cache(RedisCache):
    def __init__(self, server, params):
        super().__init__(server, params)
        self._class = Client
