"""What the Celery worker runs for studies. Takes ids, may run twice; what happened stands in the Job row."""

import logging
import threading
import time

from celery import shared_task
from celery.signals import worker_ready
from django.db import Error, connection

from annotation.api import figures as api_figures
from annotation.comparison import copying
from annotation.dashboard import study_page
from annotation.exports import job as export_job
from annotation.figures import agreement, annotators, blocked_items, cache, study_list
from annotation.notifications import digest, stages
from annotation.pipeline import audits, dawid_skene
from annotation.releases import lifecycle as release_lifecycle
from annotation.reports import report
from annotation.webhooks import send
from benchmarks.jobs import jobs
from workers.celery import serves_everything

SEND_EVERY = 1  # second
LOOK_EVERY = 60  # seconds
FORGET_EVERY = 3600  # seconds
log = logging.getLogger(__name__)

# Modules with kinds of figures, which the worker must know to compute them, and of messages.
REGISTERED = (
    annotators,
    api_figures,
    study_page,
    study_list,
    report,
    agreement,
    blocked_items,
    stages,
    digest,
    copying,
)


@jobs.runs(export_job.KIND)
@shared_task
def run_export(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=export_job.run_export)


@jobs.runs(release_lifecycle.KIND)
@shared_task
def run_release(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=release_lifecycle.run_release)


@jobs.runs(cache.KIND)
@shared_task
def run_reckon(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=cache.run_reckon)


@jobs.runs(dawid_skene.KIND)
@shared_task
def run_estimate(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=dawid_skene.run_estimate)


@worker_ready.connect
def start_sending(**signal) -> None:
    """In a thread of the worker's main process, since receivers may be slow and tasks take hours."""
    if serves_everything():  # events are signed with the secret key
        threading.Thread(target=send_webhooks, daemon=True).start()


@worker_ready.connect
def start_looking_at_audits(**signal) -> None:
    threading.Thread(target=look_at_audits, daemon=True).start()


def look_at_audits() -> None:
    """As long as the worker lives, stop audits that have met their target."""
    while True:
        time.sleep(LOOK_EVERY)
        try:
            audits.check_all()
        except Error as error:  # the database is down, and will come back
            log.warning("Could not look at audits: %s", error)
        except Exception:
            log.exception("Could not look at audits")
        finally:
            connection.close()


def send_webhooks() -> None:
    """As long as the worker lives, send events to webhooks, and remove old ones."""
    forgot, sender = time.monotonic(), send.Sender()
    while True:
        time.sleep(SEND_EVERY)
        try:
            sender.turn()
            if time.monotonic() - forgot > FORGET_EVERY:
                forgot = time.monotonic()
                send.forget_old()
        except Error as error:  # the database is down, and will come back
            log.warning("Could not send events to webhooks: %s", error)
            connection.close()
        except Exception:
            log.exception("Could not send events to webhooks")
