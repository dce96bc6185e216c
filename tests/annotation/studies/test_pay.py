"""A study whose pay changed: what was judged before costs the earlier rate, and pages and files have the same sum."""

import csv
import io
import json
from datetime import timedelta

import pytest

from annotation.dashboard import people_page
from annotation.figures import annotators
from annotation.figures.stage import study_figures
from annotation.measures.pay import Pay
from annotation.models import Judgment, Stage
from annotation.participants import roster
from annotation.releases.verification.verifying import verify
from tests.annotation.releases.released import exported, release
from tests.builders import crowds
from tests.builders.pipelines import with_originals

HOUR_MS = 3_600_000


@pytest.fixture
def stage() -> Stage:
    """At 6 an hour until half of the judgments were given, at 9 for a while, and at 15 now."""
    stage = crowds.stage(items=12, people=3, overlap=2)
    times = list(Judgment.objects.order_by("created_at").values_list("created_at", flat=True))
    stage.study.earlier_pay = [[times[len(times) // 2].isoformat(), 6.0], [times[-4].isoformat(), 9.0]]
    stage.study.pay_per_hour = 15
    stage.study.save()
    return stage


def owed(stage: Stage) -> dict[int, float]:
    """By annotator, from the rows of judgments one by one."""
    (first, low), (second, mid) = stage.study.earlier_pay
    found: dict[int, float] = {}
    for row in Judgment.objects.filter(lease__task__stage=stage).select_related("lease__annotator"):
        at = row.created_at.isoformat()
        rate = low if at < first else mid if at < second else 15
        number = row.lease.annotator.number
        found[number] = found.get(number, 0) + row.active_ms / HOUR_MS * rate
    return found


@pytest.mark.django_db
def test_pages_and_sheets_pay_each_hour_at_its_rate(stage):
    due, study = owed(stage), stage.study
    figures, data = study_figures(stage), annotators.latest(study).data
    assert figures["cost"]["cost"] == pytest.approx(sum(due.values()), rel=1e-9)
    assert figures["cost"]["expected_cost"] - figures["cost"]["cost"] == pytest.approx(
        (figures["cost"]["expected_minutes"] - figures["cost"]["active_minutes"]) / 60 * 15
    )
    assert {line.who.number: line.one.pay for line in people_page.lines(study, data)} == pytest.approx(due)
    assert {int(row["annotator"][2:]): row["paid"] for row in figures["annotators"]} == pytest.approx(due)
    rows = csv.DictReader(io.StringIO(roster.pay_sheet(study, data)))
    assert {int(row["pseudonym"][2:]): float(row["pay_due"]) for row in rows} == pytest.approx(due, abs=0.005)


@pytest.mark.django_db(transaction=True)
def test_an_export_has_the_rates_and_a_release_verifies_with_them(stage, tmp_path):
    folder = exported(with_originals(stage.study), tmp_path / "in")
    assert json.loads((folder / "manifest.json").read_text())["study"]["earlier_pay"] == stage.study.earlier_pay
    whole, least = release(folder, tmp_path / "whole"), release(folder, tmp_path / "least", ())
    assert [verify(made).problems for made in (whole, least)] == [[], []]
    assert "earlier_pay" not in (least / "manifest.json").read_text()


@pytest.mark.parametrize(("first", "last", "pay"), [(0, 2, 20), (1, 5, 10 + 2 * 20 + 30), (9, 9, 0)])
def test_time_from_one_moment_to_another_is_paid_at_the_rates_between(first, last, pay):
    hour = round(timedelta(hours=1) / timedelta(microseconds=1))
    rates = Pay(30, ((2 * hour, 10), (4 * hour, 20)))
    assert rates.between(first * hour, last * hour) == pay
