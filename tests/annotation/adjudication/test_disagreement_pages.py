"""The page that lists disagreements, and the way from it through adjudication and on."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.adjudication import decisions, disagreement_list
from annotation.adjudication import views as view
from annotation.judging import submissions
from annotation.models import Outcome, Stage
from benchmarks.models import Item, ItemImage
from tests.builders import studies

pytestmark = pytest.mark.django_db


def split(items: int = 1, answers=("none", "none", "candidate-1"), **settings) -> Stage:
    study = studies.study(items=items, **{"overlap": len(answers), **settings})
    stage = study.stages.select_related("study").get()
    for answer in answers:
        person = studies.annotator(study, name="Ann Otator")
        while studies.judgment(person, stage, answer):
            pass
    return stage


def url(stage: Stage, name: str = "study-disagreements", **query) -> str:
    asked = "&".join(f"{name}={value}" for name, value in {"stage": stage.position, **query}.items())
    return f"{reverse(name, args=[stage.study_id])}?{asked}"


def links(page: str) -> list[str]:
    """To adjudication, in the order of the list."""
    return [html.unescape(found) for found in re.findall(r'id="case-\d+" href="([^"]*)"', page)]


def test_a_row_has_what_was_asked_and_who_gave_each_answer_by_pseudonym(client, manager):
    stage = split()
    task = stage.tasks.get()
    page = client.get(url(stage)).text
    assert task.item.captions.get(role="negative").text in page
    assert "<b>votes 2–1</b>" in page and ">A-01</span>," in page and ">A-02</span>" in page
    assert task.item.item_images.get(role="candidate", position=1).image.opaque in page
    names = ("Ann Otator", "candidate-", *ItemImage.objects.values_list("source_name", flat=True))
    assert not [secret for secret in names if secret in page]


def test_what_it_stands_at_is_told(client, manager):
    stage = split(overlap=4)
    assert "3 of 4 judgments so far" in client.get(url(stage)).text
    assert "dropped, no image fits, by the rule" in client.get(url(split())).text
    assert "undecided" in client.get(url(split(answers=("none", "candidate-1"), tie_rule="adjudicate"))).text


def test_filters_are_kept_by_links_and_shown_by_the_form(client, manager, monkeypatch):
    monkeypatch.setattr(view, "PAGE", 2)
    stage = split(items=5)
    some = stage.tasks.order_by("item").values_list("item", flat=True)
    Item.objects.filter(pk__in=some[:1]).update(type="add")
    page = client.get(url(stage, sort="item", type="swap", differs="kind", page=1)).text
    later = html.unescape(re.search(r'rel="next" href="([^"]*)"', page)[1])
    assert all(part in later for part in ("page=2", "sort=item", "type=swap", "differs=kind"))
    assert (
        '<option value="item" selected>' in page
        and '<option value="swap" selected>swapped</option>' in page
        and '<option value="kind" selected>' in page
    )
    second = client.get(reverse("study-disagreements", args=[stage.study_id]) + later).text
    assert len(links(page)) == len(links(second)) == 2 and not set(links(page)) & set(links(second))
    assert "page 2 of 2" in second and 'rel="next"' not in second


@pytest.mark.parametrize(
    "answers, three, close",
    [
        (("candidate-1", "candidate-1", "none"), 0, 1),  # kept by two of three
        (("candidate-1", "candidate-1", "candidate-1", "none"), 0, 0),
        (("none", "none", "candidate-1"), 0, 0),  # dropped already
        (("none", "candidate-1", "candidate-2"), 1, 1),  # kept because two of three picked an image
    ],
)
def test_each_filter_has_the_count_of_its_rows(client, manager, answers, three, close):
    page = client.get(url(split(2, answers))).text
    counts = re.findall(r'<a href="(\?[^"]*)"[^>]*>([^<]+)<b>(\d+)</b></a>', page.partition('class="picks"')[2])
    assert [(words.strip(), int(n)) for _, words, n in counts] == [
        ("All", 2), ("Three answers", 2 * three), ("One vote from being dropped", 2 * close),
    ]  # fmt: skip
    for query, _, n in counts:
        there = client.get(reverse("study-disagreements", args=[Stage.objects.get().study_id]) + html.unescape(query))
        assert len(links(there.text)) == int(n)


def test_a_click_a_decision_and_the_next_of_the_same_list(client, manager):
    stage = split(items=4)
    first = stage.tasks.order_by("item").first()
    Item.objects.filter(pk=first.item_id).update(type="add")
    rows = links(client.get(url(stage, sort="item", type="swap")).text)
    assert len(rows) == 3
    page = client.get(rows[0]).text
    assert ">3 of 3<" in client.get(rows[2]).text
    for place, row in enumerate(rows, 1):
        assert f">{place} of 3<" in page
        form = page.partition('id="decision"')[2]
        fields = dict(re.findall(r'<input type="hidden" name="(task|seen|next)" value="([^"]*)"', form))
        assert f"task={fields['task']}&" in row
        answer = client.post(row, {**fields, "do": "decide", "verdict": "none", "note": "None has it."})
        assert "sort=item" in answer.url and "type=swap" in answer.url
        page = client.get(answer.url).text
    assert "This list is empty now: swapped, not decided by hand, item order." in page
    undo = dict(re.findall(r'name="(task|seen)" value="([^"]*)"', page.partition('id="undo"')[0]))
    where = html.unescape(re.findall(r'<form method="post" action="([^"]*)"', page.partition('id="undo"')[0])[-1])
    page = client.get(client.post(where, {**undo, "do": "undo"}).url).text
    assert ">3 of 3<" in page and "← Disagreements" in page
    assert not Outcome.objects.filter(task=first, by="adjudicator").exists()


def test_the_short_list_leads_on_to_the_whole(client, manager):
    stage = split()
    page = client.get(reverse("study-stage", args=[stage.study_id, 1])).text
    assert f"{url(stage, 'study-adjudicate', task=stage.tasks.get().pk, sort='split')}".replace("&", "&amp;") in page


def test_the_short_list_says_that_all_are_decided(client, manager):
    stage = split()
    task, stage_page = stage.tasks.get(), reverse("study-stage", args=[stage.study_id, 1])
    decisions.decide(task=task, by="test", seen=decisions.seen(task), note="No cup.", answer="none")
    assert "All decided by hand." in client.get(stage_page).text
    assert len(links(client.get(url(stage, case="decided")).text)) == 1


def test_what_makes_no_sense_is_passed_over(client, manager):
    stage = split()
    for query in ({"page": "x"}, {"page": "0"}, {"page": "9" * 9}, {"only": "x"}, {"sort": "x"}):
        assert client.get(url(stage, **query)).status_code == 200, query


def cost(client, address: str) -> int:
    with CaptureQueriesContext(connection) as spent:
        assert client.get(address).status_code == 200
    return len(spent)


@pytest.mark.parametrize("name, most", [("study-disagreements", 24), ("study-adjudicate", 32)])
def test_queries_at_one_and_at_three(client, manager, name, most):
    one, three = split(1), split(3)
    assert cost(client, url(three, name, sort="split")) <= cost(client, url(one, name, sort="split")) <= most


def test_a_judgment_costs_as_many_queries_whether_it_splits_or_not_but_one(manager):
    costs = []
    for answer in ("none", "candidate-1"):
        stage = studies.stage(overlap=3)
        studies.judgment(studies.annotator(stage.study), stage, "none")
        person = studies.annotator(stage.study)
        lease = submissions.assignment_leases.hold(annotator=person, stage=stage, wanted=1)[0]
        shown = "none" if answer == "none" else str(lease.shown.index(answer) + 1)
        with CaptureQueriesContext(connection) as spent:
            studies.submit(person, lease, shown)
        costs.append(len(spent))
    assert costs[1] == costs[0] + 1


def test_a_list_of_any_length_is_asked_for_in_part(client, manager, monkeypatch):
    """Pages end where the database would count its way down; the sentence says so."""
    monkeypatch.setattr(view, "PAGE", 1)
    monkeypatch.setattr(view, "PAGES", 2)
    page = client.get(url(split(3), page=2)).text
    assert "page 2 of 2; use the filters to see the rest" in page and 'rel="next"' not in page
    assert disagreement_list.ORDERS.keys() == disagreement_list.SORTS.keys() == disagreement_list.AFTER.keys()
