"""Celery tasks for studies. They take ids and may run twice; the Job row records what happened."""

from celery import shared_task
from celery.signals import worker_ready

from annotation.api import figures as api_figures
from annotation.comparison import copying
from annotation.dashboard import results_page, study_overview
from annotation.exports import job as export_job
from annotation.figures import agreement, annotators, blocked_items, cache, study_list
from annotation.imported_ratings import order as ratings_order
from annotation.imported_ratings.study import RatingsImport
from annotation.notifications import digest, stages
from annotation.pipeline import audits, dawid_skene
from annotation.releases import lifecycle as release_lifecycle
from annotation.reports import report
from annotation.webhooks import send
from benchmarks.jobs import jobs, rounds
from benchmarks.tasks import follow_up, with_files
from workers.celery import serves_everything

SEND_EVERY = 1  # second
LOOK_EVERY = 60  # seconds
FORGET_EVERY = 3600  # seconds

# Modules that register statistics and messages; the worker must load them.
REGISTERED = (
    annotators,
    api_figures,
    study_overview,
    results_page,
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


@jobs.runs(ratings_order.KIND)
@shared_task
def run_ratings(job_id: int) -> None:
    follow_up(jobs.run(job_id=job_id, by="worker", work=with_files(RatingsImport.do)))


@jobs.runs(cache.KIND)
@shared_task
def compute_figures(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=cache.compute_figures)


@jobs.runs(dawid_skene.KIND)
@shared_task
def run_estimate(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=dawid_skene.run_estimate)


@worker_ready.connect
def start_rounds(**signal) -> None:
    rounds.start(audits.check_all, every=LOOK_EVERY, what="look at audits")
    if serves_everything():  # events are signed with the secret key
        rounds.start(send.Sender().turn, every=SEND_EVERY, what="send events to webhooks")
        rounds.start(send.forget_old, every=FORGET_EVERY, what="forget old events")
