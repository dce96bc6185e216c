"""The two addresses that belong to no part: the front door and the health check."""

from contextlib import suppress

from django.core.cache import cache
from django.db import Error as DatabaseError
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return redirect("study-list" if request.user.is_staff else "login")


@require_safe
@never_cache
def health(request: HttpRequest) -> HttpResponse:
    """200 when this process reaches its database and Redis, 503 otherwise; a line for each."""
    state = {"database": False, "redis": False}
    with suppress(DatabaseError), connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        state["database"] = True
    with suppress(RedisError):
        cache.get("health")
        state["redis"] = True
    lines = [f"{name}: {'ok' if good else 'does not answer'}\n" for name, good in state.items()]
    return HttpResponse("".join(lines), status=200 if all(state.values()) else 503, content_type="text/plain")
