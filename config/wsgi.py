"""The WSGI application: `config.wsgi:application`."""

import gc
import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
get_resolver().url_patterns  # noqa: B018  # imports every view before gunicorn forks: a new process answers at once
for module in ("provider_views", "second_factor"):  # loaded late by benchmarks.urls
    import_module(f"benchmarks.accounts.{module}")
gc.collect()
gc.freeze()  # the garbage collector writes to every object it visits, so forked processes would stop sharing it
