"""The page and the files of an audit's corrected table."""

import csv
import io

import pytest
from django.urls import reverse

from annotation.models import Stage
from annotation.pipeline import audits
from benchmarks.runs.reported import HUMAN, ReportedRow, enter_reported
from tests.builders import compared_models, studies

pytestmark = pytest.mark.usefixtures("savepoint", "manager")


@pytest.fixture(scope="module")
def built(module_world) -> Stage:
    """The first 6 of 12 items are right, the others wrong; one model is right about the first 9 items, the other about
    the last 4 of these too, but less often everywhere.
    """
    benchmark = compared_models.pairs(12)
    compared_models.imported(benchmark, module_world, right=9, model="CLIP")
    compared_models.imported(benchmark, module_world, right=4, model="=SigLIP")
    made = studies.stage(benchmark=benchmark, protocol="verify", strategy="audit", target_half_width=0.01, overlap=1)
    annotator = studies.annotator(made.study)
    for _ in range(24):
        lease = studies.assignment_leases.hold(annotator=annotator, stage=made, wanted=1)[0]
        studies.submit(annotator, lease, "yes" if lease.task.item.position < 6 else "no")
    return made


@pytest.fixture
def stage(built) -> Stage:
    return Stage.objects.select_related("study").get(pk=built.pk)


def page(client, stage, **asked):
    return client.get(reverse("study-corrected", args=[stage.study_id, stage.position]), asked)


def enter(stage, *rows):
    enter_reported(benchmark=stage.study.benchmark, kind="bivlc", rows=rows, by="test")


def table(shown) -> str:
    return shown.text.partition("<table")[2].partition("</table>")[0]


def test_the_page_has_all_items_the_audited_and_the_valid_ones(client, stage):
    assert sum(audits.judged(stage).values()) == 6
    shown = page(client, stage, measure="group")
    found = shown.context["found"]
    assert (found.audited, found.valid) == (12, 6)
    first, second = found.rows
    assert (first.name, first.everywhere, first.audited.share, first.valid.share) == ("CLIP", 0.75, 0.75, 1)
    assert (second.name, second.valid.share) == ("=SigLIP", pytest.approx(4 / 6))
    for words in ("12 audited items", "6 of them valid", "33.3%", "\\toprule"):
        assert words in shown.text
    assert "CLIP & 75.00 & 1 & 75.00 [" in shown.context["latex"]


def test_the_file_has_every_digit_and_no_formula(client, stage):
    file = page(client, stage, measure="group", csv="corrected")
    rows = list(csv.DictReader(io.StringIO(file.content.decode())))
    assert [(row["model"], row["valid_n"], row["rank_valid"]) for row in rows] == [
        ("CLIP", "6", "1"),
        ("'=SigLIP", "6", "2"),
    ]
    assert float(rows[1]["valid"]) == pytest.approx(4 / 6)


def test_reported_figures_stand_beside_the_models_of_the_same_name(client, stage):
    """If any is of this measure. A model's figure in a second source, and a model that has no answers, have rows
    without a rank.
    """
    enter(stage, ReportedRow("CLIP", "Paper A", measures={"i2t": 50}), ReportedRow("Human", "A", HUMAN, {"group": 9}))
    assert "reported" not in table(page(client, stage, measure="group"))
    assert "reported" not in page(client, stage, measure="group", csv="corrected").text
    enter(stage, ReportedRow("clip", "Paper B", measures={"group": 52.4}), ReportedRow("CLIP", "C", "", {"group": 50}))
    enter(stage, ReportedRow("GNM", "=Paper B", measures={"group": 57.96}))
    shown = page(client, stage, measure="group")
    rows = [(row.name, row.reported, row.source, bool(row.figures)) for row in shown.context["rows"]]
    assert rows == [
        ("CLIP", 0.524, "Paper B", True),
        ("=SigLIP", None, "", True),
        ("CLIP", 0.5, "C", False),
        ("GNM", 0.5796, "=Paper B", False),
    ]
    assert [row.rank for row in shown.context["found"].rows] == [1, 2]
    assert "57.96%" in table(shown) and "reported only" in table(shown)
    latex = shown.context["latex"]
    assert "CLIP & 52.40 & 75.00 & 1 & 75.00 [" in latex and "=SigLIP & -- & 33.33 & 2 &" in latex
    assert "GNM & 57.96 & -- & -- & -- & -- & -- \\\\\n" in latex and "% Reported (dagger): C." in latex
    file = page(client, stage, measure="group", csv="corrected").content.decode()
    found = list(csv.DictReader(io.StringIO(file)))
    assert [(row["reported"], row["reported_source"], row["rank_valid"]) for row in found] == [
        ("0.524", "Paper B", "1"), ("", "", "2"), ("0.5", "C", ""), ("0.5796", "'=Paper B", ""),
    ]  # fmt: skip
    assert all(len(line) == 15 for line in csv.reader(io.StringIO(file)))


def test_the_study_page_leads_there(client, stage):
    shown = client.get(reverse("study-stage", args=[stage.study_id, 1])).content.decode()
    assert reverse("study-corrected", args=[stage.study_id, 1]) in shown


def test_without_a_model_or_an_audit_it_says_so(client, manager):
    audit = studies.stage(items=2, strategy="audit", target_half_width=0.1)
    assert "No model has answers" in page(client, audit).text
    assert "This stage is not an audit." in page(client, studies.stage(items=1)).text
