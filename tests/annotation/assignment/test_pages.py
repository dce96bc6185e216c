"""The page on which a manager says who judges what."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.assignment import by_name
from annotation.designs.plan import StagePlan
from annotation.models import Annotator, Slot, Stage
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def stage() -> Stage:
    return studies.stage(items=4, strategy="named")


def page(stage: Stage) -> str:
    return reverse("study-assign", args=[stage.study_id, stage.position])


def give(client, stage: Stage, *people: Annotator, **which):
    return client.post(page(stage), {"annotators": [one.pk for one in people], "which": "these", "keys": "", **which})


def reserved(annotator: Annotator) -> list[str]:
    return sorted(Slot.objects.filter(reserved=annotator).values_list("task__item__key", flat=True))


def test_annotators_are_made_before_they_come_and_their_links_work(client, manager, stage):
    client.post(page(stage), {"names": "Ana Lima\r\n\r\n Ben ", "leads_to": "stage"})
    ana, ben = Annotator.objects.all()
    assert (ana.name, ben.name, ana.invited_to, ana.consented_at) == ("Ana Lima", "Ben", stage, None)
    shown = client.get(page(stage)).content.decode()
    for person in (ana, ben):
        assert f"http://testserver{reverse('judge', args=[person.token])}" in shown
        assert client.get(reverse("judge", args=[person.token])).status_code == 200


def test_a_link_can_lead_to_every_stage(client, manager, stage):
    client.post(page(stage), {"names": "Ana", "leads_to": "study"})
    assert Annotator.objects.get().invited_to is None


def test_the_manager_is_told_that_these_people_are_asked_for_consent(client, manager):
    asked = studies.stage(items=1, strategy="named", consent="I agree.")
    assert "must give consent before their first task" in client.get(page(asked)).content.decode()


def test_items_are_given_by_key(client, manager, stage):
    ana, ben = studies.annotator(stage.study), studies.annotator(stage.study)
    answer = give(client, stage, ana, ben, keys="item-1\r\n\r\n item-3 ")
    assert answer.url == page(stage)
    assert reserved(ana) == reserved(ben) == ["item-1", "item-3"]
    assert "Assigned 4 judgments." in client.get(page(stage)).content.decode()


def test_all_items_can_be_given_or_those_that_nobody_has(client, manager, stage):
    ana, ben = studies.annotator(stage.study), studies.annotator(stage.study)
    give(client, stage, ana, keys="item-0")
    give(client, stage, ben, which="free")
    assert reserved(ben) == ["item-1", "item-2", "item-3"]
    give(client, stage, ana, which="all")
    assert len(reserved(ana)) == 4


def test_all_items_of_a_kind_can_be_given(client, manager):
    benchmark = studies.benchmark(items=2)
    studies.item(benchmark, key="added", type="add", subtype="obj")
    stage = studies.stage(benchmark=benchmark, strategy="named")
    ana = studies.annotator(stage.study)
    give(client, stage, ana, which="add/obj")
    assert reserved(ana) == ["added"]


def test_what_cannot_be_given_is_said_and_nothing_is_given(client, manager, stage):
    ana = studies.annotator(stage.study)
    for asked, said in (
        ({"keys": "item-0\nitem-9"}, "There is no item item-9 in the benchmark."),
        ({"keys": ""}, "Name at least one item."),
        ({"annotators": [], "keys": "item-0"}, "This field is required."),
        ({"which": "some"}, "not one of the available choices"),
    ):
        answer = give(client, stage, ana, **asked)
        assert answer.status_code == 422 and said in answer.content.decode(), asked
        assert reserved(ana) == [], asked


def test_names_are_needed_and_not_endless(client, manager, stage):
    for names in ("", "x" * 121):
        answer = client.post(page(stage), {"names": names, "leads_to": "stage"})
        assert answer.status_code == 422 and 'id="id_names_error"' in answer.content.decode()
    assert not Annotator.objects.exists()


def test_what_is_not_begun_is_taken_back_one_by_one_or_all(client, manager, stage):
    ana = studies.annotator(stage.study)
    give(client, stage, ana, which="all")
    client.post(page(stage), {"annotator": ana.number, "back": "item-2"})
    assert reserved(ana) == ["item-0", "item-1", "item-3"]
    studies.judgment(ana, stage)
    client.post(page(stage), {"annotator": ana.number, "back": ""})
    assert len(reserved(ana)) == 1


def test_an_annotator_of_another_study_is_nobody_here(client, manager, stage):
    other = studies.annotator(studies.study(items=1))
    assert give(client, stage, other, which="all").status_code == 422
    assert client.post(page(stage), {"annotator": 99, "back": ""}).status_code == 404
    assert client.post(page(stage), {"annotator": "x", "back": ""}).status_code == 404


def test_a_stage_of_another_strategy_says_so_and_gives_nothing(client, manager):
    stage = studies.stage(items=1)
    ana = studies.annotator(stage.study)
    assert "assigns its items automatically" in client.get(page(stage)).content.decode()
    give(client, stage, ana, which="all")
    client.post(page(stage), {"names": "Ben", "leads_to": "stage"})
    assert reserved(ana) == [] and Annotator.objects.count() == 1
    with pytest.raises(by_name.CannotAssign, match="assigns its items automatically"):
        by_name.assign(stage=stage, annotators=[ana], keys=["item-0"], by="test")


def test_each_stage_has_its_own(client, manager):
    named = {"strategy": "named"}
    stages = [StagePlan("bivlc-choose", settings=named), StagePlan("bivlc-choose", "again", settings=named)]
    first, second = studies.study(items=2, stages=stages).stages.all()
    ana = studies.annotator(first.study)
    give(client, second, ana, keys="item-0")
    assert Slot.objects.get(reserved=ana).stage == second
    assert 'id="annotator-1"' in client.get(page(first)).content.decode()


def test_the_page_takes_as_many_queries_however_many_people_and_items(client, manager):
    counts = []
    for items, people in ((1, 1), (6, 5)):
        stage = studies.stage(items=items, strategy="named")
        for _ in range(people):
            give(client, stage, studies.annotator(stage.study), which="all")
        client.get(page(stage))
        with CaptureQueriesContext(connection) as captured:
            client.get(page(stage))
        counts.append(len(captured))
    assert counts[0] == counts[1]
