"""What the Celery worker runs for studies. Takes ids, may run twice; what happened stands in the Job row."""

from celery import shared_task

from annotation import (
    annotators,
    api_figures,
    estimation,
    exports,
    freezing,
    overview,
    queries,
    reckoning,
    report_data,
    stage_agreement,
    stuck,
)
from benchmarks import jobs

# Modules with kinds of figures, which the worker must know to compute them.
REGISTERED = (annotators, api_figures, overview, queries, report_data, stage_agreement, stuck)


@jobs.runs(exports.KIND)
@shared_task
def run_export(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=exports.run_export)


@jobs.runs(freezing.KIND)
@shared_task
def run_release(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=freezing.run_release)


@jobs.runs(reckoning.KIND)
@shared_task
def run_reckon(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=reckoning.run_reckon)


@jobs.runs(estimation.KIND)
@shared_task
def run_estimate(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=estimation.run_estimate)
