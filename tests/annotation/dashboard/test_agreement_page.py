"""The page of a stage's agreement: what it shows, to whom, with how many queries, as a file, and without a barrier."""

import csv
import io
import re

import pytest
from django.urls import reverse

from annotation.dashboard import agreement_page, study_overview
from annotation.figures import agreement, cache
from annotation.measures.agreement_measures import BY_KEY, measures_on
from annotation.models import CachedFigures, Stage
from annotation.protocols.base import NOMINAL
from annotation.templatetags.figures import decimals
from benchmarks.models import Item
from tests.builders import crowds, studies

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def stage(module_world) -> Stage:
    return crowds.stage(items=24, people=4, overlap=3)


def address(stage):
    return reverse("study-agreement", args=[stage.study_id])


def text(client, stage, **asked) -> str:
    return client.get(address(stage), asked).content.decode()


def test_every_measure_stands_with_its_interval_and_count(client, manager, stage):
    page = text(client, stage, view="answer")
    for name, told in agreement.stage_agreement(stage, "answer")["whole"]["measures"].items():
        assert BY_KEY[name].name in page
        assert decimals(told["value"], 3) in page and decimals(told["low"], 3) in page


@pytest.mark.parametrize("by", agreement_page.BY)
def test_each_breakdown_has_its_rows(client, manager, stage, by):
    rows = agreement.stage_agreement(stage, "any or none")[by]
    if by == "pair":  # the lowest first
        rows.sort(key=lambda row: row["measures"]["alpha_nominal"]["value"])
    page = text(client, stage, view="any or none", by=by)
    table = page[page.index('class="table figures stacked-cells by-table rows"') :]
    table = table[: table.index("</table>")]
    names = re.findall(r'<th scope="row"[^>]*>(.*?)</th>', table)
    assert names == [agreement_page.name_of(by, row) for row in rows] != []
    assert all(decimals(row["measures"]["alpha_nominal"]["value"], 3) in table for row in rows)


def test_what_is_not_defined_is_said_in_words(client, manager):
    stage = studies.stage(items=2)
    assert "Nothing judged yet" in text(client, stage)
    studies.judgment(studies.annotator(stage.study), stage, "none")
    assert (
        study_overview.overview(stage)["shares"] == [1.0] == agreement.stage_agreement(stage, "any or none")["shares"]
    )
    page = text(client, stage)
    assert "no item has two judgments" in page and "no two annotators judged the same item" in page
    assert "No two annotators have judged the same task yet" in text(client, stage, by="pair")


def test_a_chosen_pair_has_its_confusion_table(client, manager):
    stage = studies.stage(items=3, overlap=2)
    for answers in (["none", "candidate-1", "none"], ["none", "none", "none"]):
        person = studies.annotator(stage.study)
        for answer in answers:
            studies.judgment(person, stage, answer)
    page = text(client, stage, view="answer", by="pair", pair="A-01 and A-02")
    assert "Where the answers of" not in text(client, stage, view="answer")
    shown = client.get(address(stage), {"view": "answer", "by": "pair"}).context
    square, pooled = shown["confused"], shown["pooled"]
    name = '<span class="nowrap">{}</span>'.format
    assert f"Where the answers of {name('A-01')} and {name('A-02')} differ" in page
    assert square["heads"] == ["image 2", "None"]
    assert [[count for count, _ in row["cells"]] for row in square["rows"]] == [[0, 1], [0, 2]]
    assert [[count for count, _ in row["cells"]] for row in pooled["rows"]] == [[0, 1], [None, 2]]


def test_the_file_has_every_digit(client, manager, stage):
    response = client.get(address(stage), {"view": "answer", "by": "subtype", "csv": "measures"})
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    data = agreement.stage_agreement(stage, "answer")
    assert [row["name"] for row in rows[:2]] == ["whole stage", "add obj"] and len(rows) == 1 + len(data["subtype"])
    assert {measure.key for measure in measures_on(NOMINAL)} < set(rows[0])
    assert response["Content-Disposition"].endswith('stage-1-subtype.csv"')
    told = data["subtype"][0]["measures"]["ac1"]
    (row,) = [row for row in rows if row["name"] == "add obj"]
    assert [float(row[end]) for end in ("ac1", "ac1_low", "ac1_high")] == [told["value"], told["low"], told["high"]]


def test_a_type_that_a_spreadsheet_would_compute_is_text(client, manager):
    stage = crowds.stage()
    Item.objects.update(type="=1+1")
    response = client.get(address(stage), {"by": "type", "csv": "measures"})
    assert {row["name"] for row in csv.DictReader(io.StringIO(response.content.decode()))} == {"whole stage", "'=1+1"}


def test_what_is_asked_wrongly_is_what_other_pages_show_first(client, manager):
    stage = studies.stage(items=2)
    shown = client.get(address(stage), {"view": "x", "by": "x", "measure": "x", "stage": "x", "pair": "x"}).context
    assert (shown["asked"].view, shown["asked"].by, shown["asked"].measure) == ("any or none", "type", "alpha_nominal")


def test_nothing_is_sent_where_nothing_changed_and_a_closed_study_is_not_asked(client, manager):
    stage = crowds.stage(items=6)
    seen = client.get(address(stage)).context["seen"]
    assert client.get(address(stage), {"seen": seen}).status_code == 204
    assert 'hx-trigger="every 30s"' in text(client, stage)
    stage.study.state = "closed"
    stage.study.save()
    assert "every 30s" not in text(client, stage)


def test_it_is_computed_once_and_of_many_judgments_by_the_worker(client, manager, monkeypatch):
    stage = crowds.stage(items=6)
    text(client, stage)
    made = CachedFigures.objects.get(kind="agreement")
    text(client, stage, by="week")
    assert CachedFigures.objects.get(kind="agreement").made_at == made.made_at
    monkeypatch.setattr(cache, "SMALL", 3)
    page = text(client, stage, view="answer")
    assert "The results are being computed" in page
    assert client.get(address(stage), {"view": "answer", "csv": "measures"}).status_code == 404


def test_the_plot_shows_the_rows_of_the_page_of_their_table(client, manager, stage, monkeypatch):
    monkeypatch.setattr(agreement_page, "PAGE", 3)
    shown = client.get(address(stage), {"by": "annotator", "measures-sort": "-name", "measures-page": 2})
    assert [row[0] for row in shown.context["plots"]["by"].rows] == ["A-01"]
    assert "Rows 4 to 4 of 4" in " ".join(shown.text.split())


def test_it_takes_few_queries(client, manager, stage, django_assert_max_num_queries):
    with django_assert_max_num_queries(22):  # four of them of the rail, one of who differs
        text(client, stage, by="pair")
