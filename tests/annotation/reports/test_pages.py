"""The page of a report: its tables against the JSON, every protocol, empty and large studies, the file, the answers."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation import tasks
from annotation.designs.plan import StagePlan
from annotation.designs.presets import PRESETS
from annotation.figures import cache
from annotation.models import Study
from annotation.protocols.registry import PROTOCOLS
from annotation.templatetags import figures
from benchmarks.models import Caption, ItemImage, Job
from tests.annotation.dashboard.test_text_figures import worked
from tests.builders import crowds, studies

pytestmark = pytest.mark.django_db
NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")
MADE_HERE = re.compile(r"A-\d+|\bstage \d+|\d+ \w{3} \d{4}, \d\d:\d\d UTC|95%")  # names, times, heads: no figures


class Cells(HTMLParser):
    """The text of every cell of a table's body and foot."""

    def __init__(self):
        super().__init__()
        self.found, self.inside = [], False

    def handle_starttag(self, tag, attrs):
        if tag == "td":
            self.inside = True
            self.found.append("")

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "td"

    def handle_data(self, data):
        if self.inside:
            self.found[-1] += f" {data}"


def cells(page: str) -> list[str]:
    reader = Cells()
    reader.feed(page)
    return reader.found


def numbers(value: object) -> Iterator[float]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers(one)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def written(value: float, currency: str) -> Iterator[str]:
    """Every way in which a page writes a number."""
    yield f"{value:,}"
    yield from (figures.decimals(value, places) for places in range(4))
    yield from (form(value) for form in (figures.percent, figures.exact_percent, figures.whole_percent, figures.hours))
    yield from (figures.money(value, currency), figures.to_percent(value, value))


def known(found: dict) -> set[str]:
    said = (text for value in set(numbers(found)) for text in written(value, found["study"]["currency"]))
    return {number for text in said for number in NUMBER.findall(text)}


def page(client, study: Study, name: str = "study-report") -> str:
    return client.get(reverse(name, args=[study.pk])).content.decode()


def answer(client, study: Study) -> dict:
    return client.get(reverse("study-report-json", args=[study.pk])).json()


def check(client, study: Study) -> str:
    """Every number in a table is in the JSON; returns the page."""
    whole, found = page(client, study), known(answer(client, study))
    lacking = {
        number: cell
        for cell in cells(whole)
        for number in NUMBER.findall(MADE_HERE.sub("", cell))
        if number not in found
    }
    assert not lacking
    return whole


@pytest.fixture
def study() -> Study:
    return crowds.stage(items=6, people=3).study


@pytest.fixture
def pipeline() -> Study:
    plans = [StagePlan("bivlc-choose", "choose", settings={"overlap": 2, "carries": "negative"})]
    plans += [StagePlan("bivlc-disambiguate", "disambiguate", source="choose")]
    plans += [StagePlan(f"bivlc-{name}", name, source="disambiguate") for name in ("i2t", "t2i")]
    made = studies.study(
        benchmark=crowds.benchmark(18), stages=plans, pay_per_hour=12, consent="You may stop at any time."
    )
    return crowds.work(made, people=4).study


def test_every_number_of_a_pipeline_is_in_the_json(client, manager, pipeline):
    whole = check(client, pipeline)
    for words in (
        "Which picture shows everything the sentence says?",
        "You may stop at any time.",
        "Pick a picture that",
        "entered stage 1",
    ):
        assert words in whole
    for name in ("set-up", "stages", "funnel", "agreement", "baseline", "annotators", "exclusions", "cost", "cases"):
        assert f'<section id="{name}"' in whole


@pytest.mark.parametrize("protocol", ["visla-paraphrase", "visla-triplet", "hard-positive-rank", "sugarcrepe-compare"])
def test_what_a_papers_protocol_reports_stands_there(client, manager, protocol):
    assert 'id="papers"' in check(client, worked(protocol).study)


@pytest.fixture
def of_every_kind():
    """A benchmark with one item that suits every protocol."""
    made = studies.benchmark()
    item = made.items.get()
    ItemImage.objects.create(item=item, image=studies.image(), role="negative", source_name="negative.jpg")
    for role, position in (("second_positive", 0), ("negative", 1), ("candidate", 0), ("candidate", 1)):
        Caption.objects.create(item=item, role=role, position=position, text=f"The {role} {position} of it.")
    return made


@pytest.mark.parametrize(
    "name", ["bivlc", "visla-generic", "visla-spatial", "hard-positives", "sugarcrepe-eval", "verify"]
)
def test_a_study_that_nobody_has_worked_on_has_a_report(client, manager, of_every_kind, name):
    stages = PRESETS[name].stages
    whole = check(client, studies.study(benchmark=of_every_kind, stages=list(stages)))
    assert "Nobody was excluded" in whole and "no item has two judgments" in whole
    assert all(PROTOCOLS[one.protocol].title in whole for one in stages)


@pytest.mark.django_db(transaction=True)
def test_a_large_study_is_left_to_the_worker(client, manager, study, monkeypatch):
    monkeypatch.setattr(cache, "SMALL", 0)
    asked = client.get(reverse("study-report-json", args=[study.pk]))
    assert asked.status_code == 202 and "Try again" in asked.json()["detail"]
    assert "The results are being computed" in page(client, study)
    tasks.compute_figures(Job.objects.get(state="queued", params__kind="report").pk)
    assert answer(client, study)["totals"]["annotators"] == 3 and "Download JSON" in page(client, study)


def test_the_study_page_leads_to_it(client, manager):
    study = studies.study()
    assert reverse("study-report", args=[study.pk]) in page(client, study, "study-results")


def test_the_command_writes_both_and_the_page_stands_alone(client, manager, study, tmp_path):
    numbers_file, file = tmp_path / "report.json", tmp_path / "report.html"
    call_command("report", str(study.pk), json=numbers_file, html=file, verbosity=0)
    whole = file.read_text(encoding="utf-8")
    assert json.loads(numbers_file.read_text()) == answer(client, study)
    assert "entered stage" not in whole and "finally kept" in whole  # of its only stage both would say the same
    assert "<link" not in whole and "<script" not in whole and "@media print" in whole
    with pytest.raises(CommandError, match="Choose what to write"):
        call_command("report", str(study.pk))
