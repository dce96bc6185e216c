"""The pages of training in a real browser."""

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from benchmarks.jobs import jobs
from benchmarks.models import Job, TrainedModel
from tests.benchmarks.training.test_pages import CURVE, REPORT
from tests.browser.looking import flaws
from tests.builders import studies


def test_axe_finds_nothing_and_everything_fits(open_page, site, sign_in, axe_violations):
    user, benchmark = User.objects.create_superuser("ana"), studies.benchmark()
    facts = {"hyperparameters": {"epochs": 1, "image_epochs": 0}, "counts": {"train": 12}, "seconds": 6.0}
    TrainedModel.objects.create(name="mine", preset="negclip", accuracy=0.9, epoch=1, path="trained/mine-ab", **facts)
    params = {"kind": "train", "title": "Train mine", "params": {"benchmark": benchmark.pk}, "created_by": user}
    running, done = (jobs.queue_job(**params, by="ana") for _ in range(2))
    half = {"curve": CURVE, "train": 12, "validation": 3}
    Job.objects.filter(pk=running.pk).update(state="running", phase="training", report=half)
    report = REPORT | {"benchmark": benchmark.pk}
    Job.objects.filter(pk=done.pk).update(state="done", finished_at=timezone.now(), report=report)
    page = open_page()
    sign_in(page, user)
    addresses = [reverse("train-new", args=[benchmark.pk]), *(f"/jobs/{job.pk}/" for job in (running, done))]
    for address in addresses:
        page.goto(site + address)
        assert flaws(page, axe_violations) == [], address
    assert page.errors == []
