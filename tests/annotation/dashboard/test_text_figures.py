"""The study page, the live part, the API and a benchmark's page, for stages whose papers report more."""

import json
import re

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.designs.plan import StagePlan
from annotation.figures.paper import paper
from annotation.figures.stage import study_figures
from annotation.models import Stage
from benchmarks.corrections.correct import Change, correct
from benchmarks.models import Item
from benchmarks.models.correction import Action
from benchmarks.views.likeness import likeness
from tests.builders import studies, text_annotators, text_items

pytestmark = pytest.mark.django_db
TRIPLE = {
    "positive": ["A cat sits on a mat."],
    "second_positive": ["A mat has a cat on it."],
    "negative": ["A mat sits on a cat."],
}
PAIR = {"positive": ["A cat sits on a mat."], "negative": ["A mat sits on a cat.", "A cat mat on a sits."]}
MATERIAL = {
    "visla-paraphrase": text_items.TEXTS,
    "visla-triplet": TRIPLE,
    "hard-positive-rank": TRIPLE,
    "sugarcrepe-compare": PAIR,
}
SAYS = {
    "visla-paraphrase": ["accepted unchanged", "Edit distance from the original", "what became of their edits"],
    "visla-triplet": ["accepted unchanged", "Guidelines: how often each holds"],
    "hard-positive-rank": ["puts both positive captions above", "Judgments by annotator", "95% interval"],
    "sugarcrepe-compare": ["ARO+CREPE", "SUGARCREPE", "commonsense", "grammar"],
}
QUERIES = {"visla-paraphrase": 3, "visla-triplet": 3, "hard-positive-rank": 2, "sugarcrepe-compare": 2}


def worked(protocol: str, items: int = 4, people: int = 3, overlap: int = 1) -> Stage:
    stage = text_items.stage(StagePlan(protocol, settings={"overlap": overlap}), items=items, texts=MATERIAL[protocol])
    Item.objects.filter(benchmark=stage.study.benchmark).update(meta={"origins": ["SUGARCREPE", "ARO+CREPE"]})
    text_annotators.work(stage.study, people=people)
    return stage


@pytest.fixture(scope="module")
def stages(module_world) -> dict[str, Stage]:
    """A stage of each protocol in which three annotators have judged four items."""
    return {protocol: worked(protocol) for protocol in MATERIAL}


@pytest.fixture
def stage(stages, savepoint, protocol) -> Stage:
    return stages[protocol]


def page(client, stage: Stage, name: str = "study-stage") -> str:
    return client.get(reverse(name, args=[stage.study_id, stage.position])).content.decode()


@pytest.mark.parametrize("protocol", SAYS)
def test_the_page_its_live_part_and_the_api_show_what_the_paper_reports(client, stage, manager, protocol):
    whole, live = page(client, stage), page(client, stage, "stage-live")
    assert 'id="live-paper"' in whole and 'id="live-paper"' in live
    for words in SAYS[protocol]:
        assert words in whole and words in live
    told = client.get(reverse("api-study-figures", args=[stage.study_id])).json()
    assert told["paper"] == json.loads(json.dumps(paper(stage)["paper"]))


@pytest.mark.parametrize("protocol", SAYS)
def test_an_untouched_stage_has_a_page(client, manager, protocol):
    stage = text_items.stage(protocol, items=2, texts=MATERIAL[protocol])
    assert 'id="live-paper"' in page(client, stage)
    json.dumps(study_figures(stage))


def test_other_stages_have_no_such_block(client, manager):
    stage = studies.stage(items=2)
    assert "paper" not in study_figures(stage)
    assert "live-paper" not in page(client, stage)


@pytest.mark.parametrize("protocol", QUERIES)
def test_it_takes_few_queries_however_many_judgments(stage, protocol, django_assert_num_queries):
    with django_assert_num_queries(QUERIES[protocol]):
        paper(stage)


def test_the_numbers_on_the_page_are_the_judgments(client, manager):
    """One takes a sentence, one edits and another confirms, one rejects, one edit waits."""
    stage = text_items.stage("visla-paraphrase", items=4)
    first, second = studies.annotator(stage.study), studies.annotator(stage.study)
    for said in (
        text_annotators.picks("caption-candidate-0"),
        text_annotators.edits("caption-candidate-0", "A cat rests on one mat."),
        text_annotators.rejects,
        text_annotators.edits("caption-candidate-1", "On a mat a cat is."),
    ):
        assert text_annotators.says(first, stage, said)
    assert text_annotators.says(second, stage, text_annotators.takes_edit)
    found = paper(stage)["paper"]
    fates = {name: count for name, count in found["fates"].items() if count}
    assert fates == {"accepted": 1, "confirmed": 1, "dropped": 1, "to_confirm": 1}
    assert found["annotators"][0]["of_edits"] == {
        "confirmed": 1, "edited_again": 0, "rejected": 0, "otherwise": 0, "waiting": 1,
    }  # fmt: skip
    (edits,) = found["edits"]
    assert (edits["n"], edits["words"]["mean"]) == (2, 1)
    assert found["lexical"]["P1-P2"]["n"] == 2
    text = re.sub(r"\s+", " ", page(client, stage))
    assert "1 accepted unchanged + 1 edited and confirmed + 1 dropped + 1 waiting for confirmation = 4 items" in text


def test_an_edit_on_an_edit_that_was_taken_back_is_measured_from_it():
    stage = text_items.stage("visla-paraphrase")
    first, second = studies.annotator(stage.study), studies.annotator(stage.study)
    text_annotators.says(first, stage, text_annotators.edits("caption-candidate-0", "A big cat rests on a mat."))
    task = stage.tasks.get()
    text_annotators.says(second, stage, text_annotators.edits(task.proposals[0], "A big red cat rests on a mat."))
    text_annotators.undo(first)
    (row,) = paper(stage)["paper"]["edits"]
    assert (row["n"], row["words"]["most"]) == (1, 1)


def test_what_an_earlier_stage_wrote_is_what_is_compared():
    made = text_items.study(
        StagePlan("visla-paraphrase", name="say"), StagePlan("visla-triplet", name="look", source="say", apart_from=[])
    )
    person = studies.annotator(made)
    say, look = made.stages.order_by("position")
    text_annotators.says(person, say, text_annotators.picks("caption-candidate-1"))
    text_annotators.says(person, look, lambda lease, texts: text_items.HOLDS | {"second": "On a mat a cat sits."})
    found = paper(look)["paper"]
    assert [(row["role"], row["n"], row["words"]["most"]) for row in found["edits"]] == [("second_positive", 1, 1)]
    assert found["lexical"]["P1-P2"]["n"] == 1


def test_a_stage_that_measures_calls_nothing_dropped(client, manager):
    stage = worked("hard-positive-rank", items=12, overlap=2)
    outcomes = study_figures(stage)["outcomes"]
    assert outcomes["decided_by"]["no_majority"] and not outcomes["dropped"]  # two orders
    whole = page(client, stage)
    assert "no majority" in whole and "Human baseline" not in whole
    assert "dropped" not in whole.split('id="live-outcomes"')[1].split("</section>")[0]


def test_a_benchmarks_page_shows_how_alike_its_captions_are(client, manager):
    source = studies.benchmark(0)
    for _ in range(3):
        text_items.item(source, TRIPLE)
    url = reverse("benchmark-detail", args=[source.pk])
    whole = client.get(url).content.decode()
    assert "Similarity of captions" in whole and "Edit distance in characters" in whole
    assert "Similarity of captions" not in client.get(url, {"type": ""}).content.decode()
    other = reverse("benchmark-detail", args=[studies.benchmark(1).pk])
    assert "Similarity of captions" not in client.get(other).content.decode()


def test_likeness_is_kept_until_captions_come_in_or_are_corrected():
    cache.clear()
    source = studies.benchmark(0)
    text_items.item(source, TRIPLE)
    assert likeness(source)["P1-N"]["n"] == 1
    with CaptureQueriesContext(connection) as queries:
        likeness(source)
    assert len(queries) == 2
    key = text_items.item(source, TRIPLE).key
    assert likeness(source)["P1-N"]["n"] == 2
    before = likeness(source)["P1-N"]["words"]["mean"]
    words = {"place": "caption-negative-0", "new": "A dog.", "reason": "It was wrong."}
    correct(benchmark=source, changes=[Change(item=key, action=Action.CAPTION, **words)], by="test")
    assert likeness(source)["P1-N"]["words"]["mean"] != before
    correct(benchmark=source, changes=[Change(item=key, action=Action.WITHDRAW, reason="It is gone.")], by="test")
    assert likeness(source)["P1-N"]["n"] == 1
