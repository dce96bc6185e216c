"""The Celery application for background work (imports, exports), never for judgments (law 1)."""

import gc
import logging
import os

from celery import Celery, Task
from celery.exceptions import OperationalError
from celery.signals import setup_logging, worker_before_create_process

from workers.neighbours import Neighbour, Unresponsive

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

BROKER = Neighbour("Redis", seconds=1, at_once=4)
log = logging.getLogger(__name__)

app = Celery("winnow")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


def serves_everything() -> bool:
    """Return whether this is not a worker only for models, which lacks the other workers' secrets."""
    return "celery" in app.amqp.queues.consume_from


def serves_models() -> bool:
    return "models" in app.amqp.queues.consume_from


@setup_logging.connect
def keep_logging(**signal) -> None:
    """Log like the web server (`LOGGING`): with a receiver, Celery does not set up anything itself."""


@worker_before_create_process.connect
def share_memory(**signal) -> None:
    """Freeze objects: the garbage collector writes to every object it visits, which ends sharing with forks."""
    gc.collect()
    gc.freeze()


def publish(task: Task, *given: object) -> None:
    """Send the task to a worker, unless Redis is down or hangs: nobody waits for that, and anything that must not be
    lost is in the database, where a worker finds it."""
    if app.conf.task_always_eager:
        task.delay(*given)
        return
    try:
        BROKER.ask(lambda: task.delay(*given))
    except (Unresponsive, OSError, OperationalError) as error:
        log.warning("A task waits until a worker finds it: %s", error)
