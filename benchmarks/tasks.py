"""The Celery worker's tasks. Each takes ids and may run twice; results are in the Job row."""

import logging
import threading
from collections.abc import Callable, Mapping

from celery import shared_task
from celery.signals import worker_ready
from django.db import Error, connection

from benchmarks.accounts import idempotency
from benchmarks.corrections import work as corrections
from benchmarks.generation import caption_order, captions
from benchmarks.generation import images as generated_images
from benchmarks.housekeeping import deferred_files
from benchmarks.imports import frames, listeners, staging
from benchmarks.imports import run as run_import_module
from benchmarks.jobs import jobs, kept_uploads, model_workers, rounds, uploads, work_folder
from benchmarks.models import Job, JobState
from benchmarks.notifications import jobs as job_notifications
from benchmarks.notifications import kinds as notification_kinds
from benchmarks.notifications import send
from benchmarks.runs import figures as run_figures
from benchmarks.runs import import_predictions
from benchmarks.scoring import ask, order_tasks, retrieval, score
from benchmarks.storage.files import Unavailable
from benchmarks.training import train
from workers.celery import serves_models

Work = Callable[[Job, jobs.Progress], None]
BY = "worker"
LOOK_EVERY = 5  # seconds
SWEEP_EVERY = 3600
NOTIFY_EVERY = 60  # seconds
WORK_OF_MODELS: Mapping[str, Work] = {  # by kind of job
    score.KIND: score.Scoring.do,
    score.RETRIEVAL: retrieval.Retrieval.do,
    score.ORDER_TASKS: order_tasks.OrderTasks.do,
    ask.KIND: ask.Asking.do,
    caption_order.KIND: captions.Generation.do,
    generated_images.KIND: generated_images.Drawing.do,
    train.KIND: train.Training.do,
}
REGISTERED = (job_notifications,)  # modules with kinds of messages, which pages and the worker must load
log = logging.getLogger(__name__)


@jobs.runs("import")
@shared_task
def run_import(job_id: int) -> None:
    follow_up(jobs.run(job_id=job_id, by=BY, work=with_files(run_import_module.import_files)))


@shared_task
def run_with_model(job_id: int) -> None:
    """Runs on the queue `models`, in a process that may load torch."""
    work = WORK_OF_MODELS[Job.objects.values_list("kind", flat=True).get(pk=job_id)]
    follow_up(jobs.run(job_id=job_id, by=BY, work=work))


for kind in WORK_OF_MODELS:
    jobs.runs(kind)(run_with_model)


@jobs.runs(import_predictions.KIND)
@shared_task
def run_predictions(job_id: int) -> None:
    follow_up(jobs.run(job_id=job_id, by=BY, work=with_files(import_predictions.PredictionsImport.do)))


@jobs.runs(corrections.KIND)
@shared_task
def run_corrections(job_id: int) -> None:
    follow_up(jobs.run(job_id=job_id, by=BY, work=with_files(corrections.Correcting.do)))


def with_files(work: Work) -> Work:
    """Wrap `work` so that the job's uploaded files are on this machine."""

    def run(job: Job, progress: jobs.Progress) -> None:
        with uploads.at_hand(job, progress):
            work(job, progress)

    return run


def follow_up(job: Job) -> None:
    """Delete the uploaded files when the job has ended, and compute a run's scores before anyone asks."""
    if job.finished_at and job.params.get("upload"):
        uploads.drop_job(job)
    if job.state == JobState.DONE and not job.report.keys() & {"check_only", "look"}:  # kept for the next try
        kept_uploads.drop(id for ids in job.params.get("kept", {}).values() for id in ids)
    if "run" in job.report:
        run_figures.compute_missing([job.report["run"]])


@worker_ready.connect
def tidy_up(**signal) -> None:
    """When a worker starts, clean up, and repeat or resend what an earlier one left unfinished."""
    try:
        staging.sweep_staging()
        deferred_files.finish_dead()
        sweep()
        work_folder.sweep()
    except Unavailable as error:  # the next start or job does it
        log.warning("Could not clean up: %s", error)
    jobs.revive_jobs(by=BY)
    listeners.notify_all()


@worker_ready.connect
def start_rounds(**signal) -> None:
    """Resend lost jobs even while all task processes are busy, in threads because a mail server may be slow."""
    rounds.start(requeue_lost_jobs, every=LOOK_EVERY, what="look for lost jobs")
    rounds.start(sweep, every=SWEEP_EVERY, what="clean up")
    if notification_kinds.offered():
        rounds.start(send.send_all, every=NOTIFY_EVERY, what="send messages")
    if serves_models():
        model_workers.report_in()
        rounds.start(model_workers.report_in, every=model_workers.EVERY, what="report in")


@worker_ready.connect
def start_framing(**signal) -> None:
    """Start framing in a thread: the first start after an upgrade may frame tens of thousands of images."""
    threading.Thread(target=frame_images, daemon=True).start()


def requeue_lost_jobs() -> None:
    jobs.revive_jobs(by=BY, resend=jobs.RESEND)


def sweep() -> None:
    """Remove files that will no longer be fetched."""
    uploads.sweep()
    idempotency.sweep()
    generated_images.sweep()


def frame_images() -> None:
    try:
        frames.make_missing_everywhere()
    except Error as error:  # the database is unavailable; the next start does it
        log.warning("Could not frame images: %s", error)
    finally:
        connection.close()
