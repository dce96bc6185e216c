"""The list of what annotators disagree about: which, in which order, and which comes next."""

import pytest
from django.http import QueryDict

from annotation.adjudication import decisions, disagreement_list
from annotation.adjudication.disagreement_list import (
    Listed,
    Wanted,
    count_disagreements,
    list_disagreements,
    wanted_from_query,
)
from annotation.models import Task
from benchmarks.models import Item
from tests.builders import studies

SAID = [("none", "none", "none"), ("none", "none", "candidate-1"), ("none", "candidate-0", "candidate-1"),
        ("candidate-2", "candidate-0", "candidate-2"), ("none", "none", "cannot_judge")]  # fmt: skip


@pytest.fixture(scope="module")
def judged(module_world) -> list[Task]:
    """Five items: all agree, 2 : 1, three answers, 2 : 1 between images, 2 : 1; in the order of items."""
    stage = studies.stage(items=5, overlap=3)
    found = list(stage.tasks.select_related("stage__study").order_by("item"))
    for place in range(3):
        person = studies.annotator(stage.study)
        for task in sorted(found, key=lambda task: task.rank):  # as they are given out
            studies.judgment(person, stage, SAID[found.index(task)][place], reason="Dark.")
    return found


@pytest.fixture
def tasks(judged, savepoint) -> list[Task]:
    return list(judged[0].stage.tasks.select_related("stage__study").order_by("item"))


def which(tasks: list[Task], **wanted) -> list[int]:
    """Places among the items, as listed."""
    found = list_disagreements(tasks[0].stage, 9, 0, Wanted(**wanted))
    assert [count_disagreements(tasks[0].stage, Wanted(**wanted), most) for most in (9, 2)] == [
        len(found),
        min(len(found), 3),
    ]
    return [[task.pk for task in tasks].index(pk) for pk in found]


def test_orders(tasks):
    newest = sorted(range(1, 5), key=lambda place: -tasks[place].newest)
    assert which(tasks, sort="item") == [1, 2, 3, 4]
    assert which(tasks, sort="newest") == newest
    assert which(tasks) == [2, *(place for place in newest if place != 2)]


@pytest.mark.parametrize(
    "wanted, places",
    [
        ({"only": "three"}, [2]),
        ({"differs": "option"}, [3]),
        ({"differs": "kind"}, [1, 2, 4]),
        ({"type": "swap"}, [2, 3]),
        ({"type": "swap", "subtype": "att"}, [3]),
        ({"subtype": "att"}, [3, 4]),
        ({"type": "nothing"}, []),
    ],
)
def test_filters(tasks, wanted, places):
    for place, (kind, subtype) in enumerate(
        [("add", ""), ("add", "obj"), ("swap", "obj"), ("swap", "att"), ("", "att")]
    ):
        Item.objects.filter(pk=tasks[place].item_id).update(type=kind, subtype=subtype)
    assert which(tasks, sort="item", **wanted) == places


def test_what_was_adjudicated_is_apart(tasks):
    decisions.decide(task=tasks[2], by="test", seen=decisions.seen(tasks[2]), note="So.", answer="none")
    assert which(tasks, sort="item") == [1, 3, 4]
    assert which(tasks, case="decided") == [2]
    assert which(tasks, sort="item", case="all") == [1, 2, 3, 4]


@pytest.mark.parametrize("sort", disagreement_list.SORTS)
def test_gone_through_each_comes_once_and_then_the_first(tasks, sort):
    order = which(tasks, sort=sort)
    way = Listed(tasks[0].stage, Wanted(sort))
    seen = [way.first(0)]
    while len(seen) < 5:
        seen.append(way.after(Task.objects.get(pk=seen[-1])))
    assert seen == [tasks[place].pk for place in (*order, order[0])]


def test_after_one_that_is_gone_comes_its_successor(tasks):
    way = Listed(tasks[0].stage, Wanted("item"))
    decisions.decide(task=tasks[2], by="test", seen=decisions.seen(tasks[2]), note="So.", answer="none")
    assert way.first(tasks[2].pk) == tasks[3].pk and way.first(tasks[4].pk) == tasks[4].pk
    assert way.first(10**12) == tasks[1].pk


def test_a_single_one_has_no_successor(tasks):
    assert Listed(tasks[0].stage, Wanted(differs="option")).after(tasks[3]) == 0


@pytest.mark.parametrize(
    "query, wanted",
    [
        ("", Wanted()),
        (
            "sort=item&type=swap&subtype=att&differs=kind&only=three&case=all",
            Wanted("item", "swap", "att", "kind", "three", "all"),
        ),
        ("sort=x&differs=x&case=x&only=x&type=", Wanted()),
    ],
)
def test_an_address_is_read_and_written_again(query, wanted):
    assert wanted_from_query(QueryDict(query)) == wanted
    assert wanted_from_query(QueryDict(wanted.link(stage=1))) == wanted
    assert "sort=" in wanted.link()


def test_an_address_in_words():
    wanted = Wanted(type="swap", subtype="att", differs="option", only="close", case="all")
    assert disagreement_list.in_words(wanted) == (
        "swapped attribute, disagreeing only about the option, one vote from being dropped, most disagreement first"
    )
