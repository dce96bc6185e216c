"""A separate Winnow for a measurement: servers in a temporary place, migrated; removed afterwards."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from config.services import Servers, database_url, redis_url


@contextlib.contextmanager
def winnow(durable: bool = True) -> Iterator[Path]:
    """Yield its `var`. `durable`: writes reach the disk before they are acknowledged, as in the product."""
    with tempfile.TemporaryDirectory(prefix="winnow-load-") as folder:
        var = Path(folder).resolve()
        servers = Servers(var, durable=durable)
        servers.start()
        os.environ |= {"WINNOW_VAR": str(var), "DATABASE_URL": database_url(var), "REDIS_URL": redis_url(var)}
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        try:
            import django

            django.setup()
            from django.core.management import call_command

            call_command("migrate", verbosity=0)
            yield var
        finally:
            from django.db import connections

            connections.close_all()
            servers.stop()
