"""The project package. It loads Celery's app so that shared tasks find it in every process."""

from workers.celery import app as celery_app

__all__ = ["celery_app"]
