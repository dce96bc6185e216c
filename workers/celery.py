"""The Celery application: what runs the slow work (imports, exports), never a judgment (law 1)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("winnow")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
