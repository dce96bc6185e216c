"""Django's cache in Redis, treated as empty while Redis is down or hangs: pages can recompute everything in it."""

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
    """Wrap the client's method of that name to return the result of `missing` while Redis does not answer."""
    usual = getattr(RedisCacheClient, name)

    def method(self: RedisCacheClient, *args: Any, **kwargs: Any) -> Any:
        try:
            return REDIS.ask(lambda: usual(self, *args, **kwargs))
        except (RedisError, Unresponsive) as error:
            log.warning("The cache is working without Redis: %s", error)
        return missing(*args, **kwargs)

    return method


def _cannot_count(key, delta) -> int:
    raise ValueError(f"{key} is missing: Redis is down.")


MISSING: dict[str, Callable[..., Any]] = {  # each method's result for a missing key
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


# The times at which the latest requests were accepted, in one step because other processes do the same.
TAKE = """
local time, most, span = redis.call('TIME'), tonumber(ARGV[1]), ARGV[2] * 1000
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local first = redis.call('LINDEX', KEYS[1], 0)
while first and first + span <= now do
    redis.call('LPOP', KEYS[1])
    first = redis.call('LINDEX', KEYS[1], 0)
end
local left = most - redis.call('LLEN', KEYS[1])
if left > 0 then
    redis.call('RPUSH', KEYS[1], now)
    redis.call('PEXPIRE', KEYS[1], span)
end
return {left, (first or now) + span - now}
"""


def redis_answers() -> bool:
    with suppress(RedisError, Unresponsive, ValueError, OSError):
        return bool(REDIS.ask(redis.Redis.from_url(settings.REDIS_URL, **settings.AT_ONCE).ping))
    return False


class Cache(RedisCache):
    def __init__(self, server, params):
        super().__init__(server, params)
        self._class = Client

    def take(self, key: str, most: int, seconds: int) -> tuple[int, float]:
        """Take one of `most` places, each free again after `seconds`. Return how many were left (0: none was taken),
        and in how many seconds the next is free. While Redis is down, all are free.
        """
        name = self.make_and_validate_key(key)
        try:
            left, wait = REDIS.ask(lambda: self._cache.get_client(name, write=True).eval(TAKE, 1, name, most, seconds))
        except (RedisError, Unresponsive) as error:
            log.warning("Nothing is counted without Redis: %s", error)
            return most, 0
        return left, wait / 1000
