"""The Celery application for background work (imports, exports), never for judgments (law 1)."""

import gc
import os

from celery import Celery
from celery.signals import worker_before_create_process

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("winnow")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_before_create_process.connect
def share_memory(**signal) -> None:
    """The collector writes to every object that it looks at, and a forked process would stop sharing it."""
    gc.collect()
    gc.freeze()
