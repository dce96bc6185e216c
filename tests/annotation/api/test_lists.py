"""The API's lists and pages: what may be asked, and in what order it comes.

tests/annotation/test_rights.py holds who may read, test_query_counts.py how many queries it takes.
"""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db.models import Count
from django.urls import reverse

from annotation.models import Annotator, Flag, Judgment, Study, Task
from annotation.studies import members
from benchmarks.models import Benchmark
from tests.annotation.api.reading import OF_STUDY, refused, rows, told
from tests.builders import crowds, studies

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def study(module_world) -> Study:
    return crowds.stage(items=18, people=4, overlap=2).study


# Who may read


def test_the_list_has_what_one_is_a_member_of(client, study):
    member = User.objects.create_user("vera", is_staff=True)
    mine = studies.study()
    members.add(study=mine, user=member, role="manager", by="test")
    client.force_login(member)
    page = client.get(reverse("api-study-list")).json()
    assert [(row["id"], row["role"]) for row in page["results"]] == [(mine.pk, "manager")]


def test_nothing_can_be_changed(client, manager, study):
    for name in OF_STUDY:
        posts = [] if name == "api-annotator-list" else [client.post]  # adds one by name
        for method in (*posts, client.put, client.patch, client.delete):
            assert method(reverse(name, args=[study.pk])).status_code == 405, name


# What may be asked

WRONG = [
    ("api-task-list", "colour", "red", "no such filter. The filters are: limit, ordering, cursor, stage"),
    ("api-task-list", "state", "lost", "not a valid choice. Choose one of kept, dropped, open."),
    ("api-task-list", "live", "perhaps", "valid boolean"),
    ("api-task-list", "stage", "7", "has the stages 1 to 1"),
    ("api-judgment-list", "stage", "one", "valid integer"),
    ("api-judgment-list", "annotator", "A-99", "This study has no annotator A-99"),
    ("api-judgment-list", "annotator", "A-001", "This study has no annotator A-001"),
    ("api-judgment-list", "since", "yesterday", "wrong format"),
    ("api-judgment-list", "limit", "1001", "less than or equal to 1000"),
    ("api-judgment-list", "limit", "0", "greater than or equal to 1"),
    ("api-task-list", "ordering", "state", "not a valid choice"),
    ("api-annotator-list", "stage", "1", "no such filter"),
    ("api-study-detail", "stage", "1", "The filters are: none"),
    ("api-study-figures", "stage", "99", "has the stages 1 to 1"),
    ("api-study-agreement", "view", "mood", "Choose one of answer, any or none"),
]


@pytest.mark.parametrize(("name", "filter", "value", "says"), WRONG)
def test_what_is_unknown_or_wrong_is_refused_in_words(client, manager, study, name, filter, value, says):
    assert says in refused(client, name, study.pk, filter, **{filter: value})


def test_a_filter_that_is_given_twice_is_refused(client, manager, study):
    answer = client.get(reverse("api-task-list", args=[study.pk]) + "?stage=1&stage=1")
    assert (answer.status_code, answer.json()["detail"]) == (400, "stage: Use this only once.")


def test_judgments_are_filtered(client, manager, study):
    everything = rows(client, "api-judgment-list", study.pk)
    half = Judgment.objects.order_by("created_at")[len(everything) // 2].created_at
    tests = {
        "annotator": ("A-02", lambda row: row["annotator"] == "A-02"),
        "counted": ("false", lambda row: not row["counted"]),
        "withdrawn": ("true", lambda row: row["withdrawn"]),
        "since": (half.isoformat(), lambda row: row["created_at"] >= half.isoformat().replace("+00:00", "Z")),
    }
    for name, (value, fits) in tests.items():
        expected = [row for row in everything if fits(row)]
        assert rows(client, "api-judgment-list", study.pk, **{name: value}) == expected
        assert 0 < len(expected) < len(everything), name
    later = (half + timedelta(days=1)).isoformat()
    assert rows(client, "api-judgment-list", study.pk, since=later) == []


def test_tasks_are_filtered(client, manager, study):
    Task.objects.filter(pk__in=study.stages.get().tasks.values("pk")[:1]).update(live=False)
    everything = rows(client, "api-task-list", study.pk)
    tests = {
        "state": {"kept": "kept", "dropped": "dropped", "open": None},
        "live": {"true": True, "false": False},
        "item": {"item-3": "item-3"},
        "type": {"swap": "swap"},
        "subtype": {"rel": "rel"},
    }
    for name, values in tests.items():
        for asked, value in values.items():
            expected = [row for row in everything if row[name] == value]
            assert rows(client, "api-task-list", study.pk, **{name: asked}) == expected
            assert 0 < len(expected) < len(everything), name
    assert rows(client, "api-task-list", study.pk, kind="practice") == []


def test_other_lists_are_filtered(client, manager, study):
    flag = Flag.objects.order_by("pk").first()
    Flag.objects.filter(pk=flag.pk).update(settled_at=flag.created_at)
    assert [row["id"] for row in rows(client, "api-flag-list", study.pk, settled="true")] == [flag.pk]
    Annotator.objects.filter(study=study, number=3).update(excluded_at=flag.created_at, exclusion_reason="Random.")
    assert [row["annotator"] for row in rows(client, "api-annotator-list", study.pk, excluded="true")] == ["A-03"]
    Study.objects.filter(pk=study.pk).update(state="closed")
    for state, count in (("open", 0), ("closed", 1)):
        assert client.get(reverse("api-study-list"), {"state": state}).json()["count"] == count


# Pages


@pytest.mark.parametrize("name", ["api-task-list", "api-judgment-list"])
def test_pages_follow_each_other_and_miss_nothing_that_came_meanwhile(client, manager, study, name):
    whole = rows(client, name, study.pk, limit=1000)
    assert rows(client, name, study.pk, limit=7) == whole
    assert [row["id"] for row in whole] == sorted(row["id"] for row in whole)
    first = told(client, name, study.pk, limit=5)
    newcomer = studies.annotator(study)
    studies.judgment(newcomer, study.stages.get())
    second = client.get(first["next"]).json()
    assert [row["id"] for row in second["results"]] == [row["id"] for row in whole[5:10]]
    assert client.get(second["previous"]).json()["results"] == whole[:5]


@pytest.mark.parametrize("name", ["api-task-list", "api-annotator-list", "api-judgment-list"])
def test_a_list_can_be_read_from_its_end(client, manager, study, name):
    assert rows(client, name, study.pk, ordering="-id", limit=3) == rows(client, name, study.pk)[::-1]


def test_short_lists_are_ordered_by_the_column_that_is_asked_for(client, manager, study):
    for name in ("Cups", "apples", "Bowls"):
        benchmark = studies.benchmark(items=len(name))
        Benchmark.objects.filter(pk=benchmark.pk).update(name=name)
    for order in ("name", "-name", "-item_count", "created_at"):
        answer = client.get(reverse("api-benchmark-list"), {"ordering": order, "limit": 2})
        found = [*answer.json()["results"], *client.get(answer.json()["next"]).json()["results"]]
        expected = list(Benchmark.objects.annotate(item_count=Count("items")).order_by(order, "pk"))
        assert [row["id"] for row in found] == [one.pk for one in expected][: len(found)], order
