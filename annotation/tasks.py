"""What the Celery worker runs for studies. Takes ids, may run twice; what happened stands in the Job row."""

from celery import shared_task

from annotation import annotators, api_figures, exports, overview, queries, reckoning
from benchmarks import jobs

REGISTERED = (annotators, api_figures, overview, queries)  # modules with kinds of figures: the worker must know them


@jobs.runs(exports.KIND)
@shared_task
def run_export(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=exports.run_export)


@jobs.runs(reckoning.KIND)
@shared_task
def run_reckon(job_id: int) -> None:
    jobs.run(job_id=job_id, by="worker", work=reckoning.run_reckon)
