"""What the Celery worker runs. Each task takes ids and may run twice; what happened stands in the Job row."""

import shutil

from celery import shared_task
from celery.signals import worker_ready

from benchmarks import actions, jobs, staging

BY = "worker"


@jobs.runs("import")
@shared_task
def run_import(job_id: int) -> None:
    job = jobs.run(job_id=job_id, by=BY, work=actions.import_files)
    if job.finished_at and job.params.get("upload"):
        shutil.rmtree(job.params["upload"], ignore_errors=True)


@worker_ready.connect
def tidy_up(**signal) -> None:
    """A worker starts: what an earlier one left half done is swept away or sent again."""
    staging.sweep_staging()
    jobs.revive_jobs(by=BY)
