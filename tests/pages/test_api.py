"""The API's lists and pages: who may read, what may be asked, how many queries it takes."""

import json
from collections.abc import Iterable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import adjudication, members, release_rows
from annotation.edits import edits_of
from annotation.figures import study_figures
from annotation.models import Annotator, Flag, Judgment, Study, Task
from annotation.pseudonyms import pseudonym
from annotation.tasks import run_reckon
from benchmarks.models import Item, Job
from tests import crowd, make, worded

pytestmark = pytest.mark.django_db
LISTS = ["api-task-list", "api-judgment-list", "api-annotator-list", "api-adjudication-list", "api-flag-list"]
OF_STUDY = [*LISTS, "api-study-detail", "api-stage-list", "api-study-figures", "api-study-agreement"]


@pytest.fixture
def study() -> Study:
    return crowd.stage(items=18, people=4, overlap=2).study


def told(client, name: str, pk: int, expects: int = 200, **asked):
    answer = client.get(reverse(name, args=[pk]), asked)
    assert answer.status_code == expects, answer.content
    return answer.json()


def rows(client, name: str, pk: int, **asked) -> list[dict]:
    """Of all pages."""
    page = told(client, name, pk, **asked)
    found = page["results"]
    while page["next"]:
        page = client.get(page["next"]).json()
        found += page["results"]
    return found


def adjudicate(task: Task, by: User) -> None:
    adjudication.decide(
        task=task, answer="none", note="Both are wrong.", seen=adjudication.seen(task), by="test",
        adjudicator=by,
    )  # fmt: skip


# Who may read


@pytest.mark.parametrize("name", OF_STUDY)
def test_members_read_and_to_others_there_is_no_such_study(client, study, name):
    member, other = (User.objects.create_user(called, is_staff=True) for called in ("vera", "otto"))
    members.add(study=study, user=member, role="viewer", by="test")
    client.force_login(member)
    told(client, name, study.pk)
    client.force_login(other)
    told(client, name, study.pk, expects=404)
    client.logout()
    told(client, name, study.pk, expects=403)


def test_the_list_has_what_one_is_a_member_of(client, study):
    member = User.objects.create_user("vera", is_staff=True)
    mine = make.study()
    members.add(study=mine, user=member, role="manager", by="test")
    client.force_login(member)
    page = client.get(reverse("api-study-list")).json()
    assert [(row["id"], row["role"]) for row in page["results"]] == [(mine.pk, "manager")]


@pytest.mark.parametrize("name", OF_STUDY)
def test_nothing_can_be_changed(client, manager, study, name):
    for method in (client.post, client.put, client.patch, client.delete):
        assert method(reverse(name, args=[study.pk])).status_code == 405


# What may be asked

WRONG = [
    ("api-task-list", "colour", "red", "no such filter here. There are: limit, cursor, stage"),
    ("api-task-list", "state", "lost", "not a valid choice"),
    ("api-task-list", "live", "perhaps", "valid boolean"),
    ("api-task-list", "stage", "7", "has the stages 1 to 1"),
    ("api-judgment-list", "stage", "one", "valid integer"),
    ("api-judgment-list", "annotator", "A-99", "Nobody in this study is A-99"),
    ("api-judgment-list", "annotator", "A-001", "Nobody in this study is A-001"),
    ("api-judgment-list", "since", "yesterday", "wrong format"),
    ("api-judgment-list", "limit", "1001", "less than or equal to 1000"),
    ("api-judgment-list", "limit", "0", "greater than or equal to 1"),
    ("api-judgment-list", "cursor", "nonsense", "This is no cursor"),
    ("api-judgment-list", "cursor", "cD1hYmM=", "This is no cursor"),  # p=abc
    ("api-annotator-list", "stage", "1", "no such filter"),
    ("api-study-detail", "stage", "1", "There are: none"),
    ("api-study-figures", "stage", "99", "has the stages 1 to 1"),
    ("api-study-agreement", "view", "mood", "There are: answer, any or none"),
]


@pytest.mark.parametrize(("name", "filter", "value", "says"), WRONG)
def test_what_is_unknown_or_wrong_is_refused_in_words(client, manager, study, name, filter, value, says):
    assert says in told(client, name, study.pk, expects=400, **{filter: value})[filter][0]


def test_a_filter_that_is_given_twice_is_refused(client, manager, study):
    answer = client.get(reverse("api-task-list", args=[study.pk]) + "?stage=1&stage=1")
    assert (answer.status_code, answer.json()) == (400, {"stage": ["Give this once."]})


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
    assert rows(client, "api-task-list", study.pk, kind="training") == []


def test_other_lists_are_filtered(client, manager, study):
    flag = Flag.objects.order_by("pk").first()
    Flag.objects.filter(pk=flag.pk).update(settled_at=flag.created_at)
    assert [row["id"] for row in rows(client, "api-flag-list", study.pk, settled="true")] == [flag.pk]
    Annotator.objects.filter(study=study, number=3).update(excluded_at=flag.created_at, exclusion_reason="Random.")
    assert [row["annotator"] for row in rows(client, "api-annotator-list", study.pk, excluded="true")] == ["A-03"]
    study.state = "closed"
    study.save()
    for state, count in (("open", 0), ("closed", 1)):
        assert client.get(reverse("api-study-list"), {"state": state}).json()["count"] == count


# Pages


@pytest.mark.parametrize("name", ["api-task-list", "api-judgment-list"])
def test_pages_follow_each_other_and_miss_nothing_that_came_meanwhile(client, manager, study, name):
    whole = rows(client, name, study.pk, limit=1000)
    assert rows(client, name, study.pk, limit=7) == whole
    assert [row["id"] for row in whole] == sorted(row["id"] for row in whole)
    first = told(client, name, study.pk, limit=5)
    newcomer = make.annotator(study)
    make.judgment(newcomer, study.stages.get())
    second = client.get(first["next"]).json()
    assert [row["id"] for row in second["results"]] == [row["id"] for row in whole[5:10]]
    assert client.get(second["previous"]).json()["results"] == whole[:5]


@pytest.mark.parametrize("name", LISTS)
def test_lists_take_as_many_queries_for_three_rows_as_for_one(client, manager, name):
    counts = []
    for some in (1, 3):
        stage = make.stage(items=some)
        for _ in range(some):
            make.judgment(person := make.annotator(stage.study), stage, "candidate-1")
            Flag.objects.create(lease=person.leases.first(), reason="A typing error.")
        for task in stage.tasks.select_related("stage__study"):
            adjudicate(task, manager)
        with CaptureQueriesContext(connection) as captured:
            assert len(told(client, name, stage.study_id)["results"]) == some
        counts.append(len(captured))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("name", ["api-stage-list", "api-item-list", "api-benchmark-list", "api-study-list"])
def test_the_other_lists_too(client, manager, name):
    counts = []
    for some in (1, 3):
        made = [crowd.stage(items=some, people=some).study for _ in range(some)][-1]
        key = [] if name in ("api-benchmark-list", "api-study-list") else [made.pk]
        key = [made.benchmark_id] if name == "api-item-list" else key
        with CaptureQueriesContext(connection) as captured:
            assert client.get(reverse(name, args=key)).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]


# What it tells


def plain(line: dict) -> str:
    """A line as text, without the number that it has in the database. In files, content is JSON and time a time."""
    told = {name: value for name, value in line.items() if name not in ("id", "created_at")}
    content = told.get("content")
    return json.dumps(told | {"content": json.loads(content) if isinstance(content, str) else content}, sort_keys=True)


def same(lines: list[dict], exported: Iterable[dict]) -> bool:
    return bool(lines) and sorted(map(plain, lines)) == sorted(map(plain, exported))


def test_every_line_is_that_of_the_export(client, manager, study):
    adjudicate(study.stages.get().tasks.select_related("stage__study").first(), manager)
    nobody = edits_of([])
    assert same(rows(client, "api-judgment-list", study.pk), release_rows.judgments(study, nobody))
    assert same(rows(client, "api-task-list", study.pk), release_rows.tasks(study, nobody))
    assert same(rows(client, "api-adjudication-list", study.pk), release_rows.adjudications(study, nobody))
    assert same(rows(client, "api-flag-list", study.pk), release_rows.flags(study))


def test_answers_come_with_their_content_and_edits_with_the_names_they_have_outside(client, manager):
    stage = worded.stage(items=2)
    worded.edits(stage, "A cat rests on one mat.")
    first = stage.tasks.get(proposals__len=1)
    worded.edits(stage, "A cat rests upon one mat.", of=first.proposals[0], person=_second(stage, first))
    found, edits = rows(client, "api-judgment-list", stage.study_id, limit=1), edits_of([stage])
    assert same(found, release_rows.judgments(stage.study, edits))
    assert found[0]["content"]["texts"] == {"second_positive": "A cat rests on one mat."}
    assert found[1]["content"]["from"] == {"second_positive": "edit-A-01-1-1"}
    assert same(rows(client, "api-task-list", stage.study_id), release_rows.tasks(stage.study, edits))


def _second(stage, task: Task) -> Annotator:
    """Somebody whose next screen is of that task."""
    stage.tasks.exclude(pk=task.pk).update(live=False)
    stage.slots.exclude(task=task).update(live=False)
    return make.annotator(stage.study)


def test_annotators_are_counted(client, manager, study):
    figures = {row["annotator"]: row for row in study_figures(study.stages.get())["annotators"]}
    for line in rows(client, "api-annotator-list", study.pk):
        own = figures[line["annotator"]]
        assert (line["counted"], line["withdrawn"], line["surplus"]) == (
            own["judged"], own["withdrawn"], own["surplus"],
        )  # fmt: skip
        assert line["active_minutes"] == pytest.approx(own["active_minutes"], abs=1e-9)
        given = Judgment.objects.filter(
            lease__annotator__study=study, lease__annotator__number=int(line["annotator"][2:])
        )
        assert line["judgment_rows"] == given.count()


def test_nothing_names_an_annotator(client, manager, study):
    secret = {"name": "Zoë Secret", "prolific_pid": "PID5secret", "prolific_session": "SID5secret"}
    Annotator.objects.filter(study=study, number=1).update(**secret)
    tokens = list(study.annotators.values_list("token", flat=True))
    for name in OF_STUDY:
        body = client.get(reverse(name, args=[study.pk])).content.decode()
        assert not [word for word in (*secret.values(), *tokens, study.invite) if word in body]
    assert pseudonym(1) in client.get(reverse("api-annotator-list", args=[study.pk])).content.decode()


def test_the_agreement_is_that_of_the_study_page(client, manager, study):
    on_page = {found["on"]: found for found in study_figures(study.stages.get())["agreement"]}
    for view in ("answer", "any or none"):
        found = told(client, "api-study-agreement", study.pk, view=view)
        assert found["current"] and found["view"] == view
        measures, page = found["measures"]["whole"]["measures"], on_page[view]
        alpha, interval = measures["alpha_nominal"], page["alpha"]["interval"]
        assert measures["percent"]["value"] == pytest.approx(page["percent"]["value"], abs=1e-9)
        assert measures["cohen_mean"]["value"] == pytest.approx(page["kappa_mean"]["value"], abs=1e-9)
        assert alpha["value"] == pytest.approx(page["alpha"]["value"], abs=1e-9)
        assert (alpha["low"], alpha["high"]) == pytest.approx((interval["low"], interval["high"]), abs=1e-9)
        assert measures["alpha_interval"]["note"] and found["measures"]["annotator"][0]["annotator"] == "A-01"


@pytest.mark.django_db(transaction=True)
def test_a_large_study_is_told_as_the_worker_counted_it(client, manager, study, monkeypatch):
    monkeypatch.setattr("annotation.reckoning.SMALL", 0)
    waits = client.get(reverse("api-study-figures", args=[study.pk]))
    assert (waits.status_code, waits["Retry-After"]) == (503, "60")
    found = told(client, "api-study-agreement", study.pk)
    assert (found["measures"], found["current"]) == (None, False) and found["job"]
    assert told(client, "api-study-detail", study.pk)["funnel"] is None
    for job in Job.objects.filter(state="queued"):
        run_reckon(job.pk)
    assert told(client, "api-study-figures", study.pk)["progress"]["judgments_counted"] > 0
    assert told(client, "api-study-agreement", study.pk)["measures"]["whole"]["n_items"] == 18
    assert told(client, "api-study-detail", study.pk)["funnel"]["imported"] == 18


def test_a_stage_comes_with_its_settings(client, manager, study):
    answer = client.get(reverse("api-stage-detail", args=[study.pk, 1])).json()
    assert (answer["settings"]["seed"], answer["settings"]["views"]) == (1, ["any or none"])
    assert [row["tasks"] for row in rows(client, "api-stage-list", study.pk)] == [answer["tasks"]] == [18]
    assert client.get(reverse("api-stage-detail", args=[study.pk, 2])).status_code == 404


def test_items_come_with_their_material(client, manager):
    made = make.benchmark(items=3)
    found = rows(client, "api-item-list", made.pk, limit=2)
    assert [row["key"] for row in found] == ["item-0", "item-1", "item-2"]
    assert [image["identity"] for image in found[0]["images"]][:2] == ["candidate-0", "candidate-1"]
    assert {caption["role"] for caption in found[0]["captions"]} == {"positive", "negative"}
    assert [row["key"] for row in rows(client, "api-item-list", made.pk, key="item-1")] == ["item-1"]
    assert told(client, "api-benchmark-detail", made.pk)["item_count"] == Item.objects.count() == 3
