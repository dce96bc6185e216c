"""A study's settings, members and end, what its people find, and decisions about them and tasks, through the API."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import Annotator, Flag, Outcome, Study
from annotation.reader_reports import reports
from benchmarks.models import Event
from tests.annotation.api.reading import told
from tests.annotation.api.writing import made, post
from tests.builders import crowds, studies

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def study(module_world) -> Study:
    return crowds.stage(items=6, people=3, overlap=2).study


def test_settings_change_and_the_locked_say_why(client, manager, study):
    name = study.stages.get().name
    before = told(client, "api-study-settings", study.pk)
    assert before["stages"][name]["overlap"] == 2 and "currency" in before["locked"]
    given = {"title": "Pictures", "pay_per_hour": "11.50", "stages": {name: {"overlap": 3, "quota": None}}}
    found = made(client, "api-study-settings", study.pk, expects=200, **given)
    assert found == told(client, "api-study-settings", study.pk)
    changed = {"title": "Pictures", "pay_per_hour": "11.50", "stages": {name: {**before["stages"][name], "overlap": 3}}}
    assert {key: found[key] for key in changed} == changed and found["consent"] == before["consent"]
    wrong = {"title": "No", "stages": {name: {"overlap": 1}}}
    refusal = post(client, "api-study-settings", study.pk, expects=400, **wrong).json()
    assert [one["field"] for one in refusal["errors"]] == [f"stages.{name}.overlap"]
    assert post(client, "api-study-settings", study.pk, currency="CHF").json()["errors"][0]["field"] == "currency"
    assert post(client, "api-study-settings", study.pk, stages={"none": {}}).status_code == 400
    assert told(client, "api-study-settings", study.pk) == found


def test_members_are_added_changed_and_removed(client, manager, study):
    User.objects.create_user("vera", is_staff=True)
    added = made(client, "api-member-list", study.pk, name="vera", role="viewer")
    assert added["role"] == "viewer"
    assert post(client, "api-member-list", study.pk, name="vera", role="viewer").json()["code"] == "CANNOT_CHANGE"
    args = (study.pk, added["id"])
    assert made(client, "api-member-change", *args, role="owner", expects=200)["role"] == "owner"
    assert told(client, "api-member-list", study.pk)["results"][-1]["name"] == "vera"
    assert post(client, "api-member-remove", *args).json()["code"] == "CANNOT_CHANGE"  # the last owner
    made(client, "api-member-change", *args, role="viewer", expects=409)
    made(client, "api-member-list", study.pk, name=User.objects.create_user("bo", is_staff=True).username, role="owner")
    assert made(client, "api-member-remove", *args, expects=200) == {"removed": "vera"}


def test_an_annotator_is_excluded_reinstated_and_erased(client, manager, study):
    who = Annotator.objects.get(study=study, number=2)
    args = ("api-annotator-decide", study.pk, 2)
    assert post(client, *args, act="exclude").json()["errors"][0]["field"] == "reason"
    found = made(client, *args, act="exclude", reason="Clicked at random.", expects=200)
    who.refresh_from_db()
    assert found["result"].startswith("A-02 has been excluded.") and who.excluded_by == manager
    made(client, *args, act="reinstate", reason="Explained it.", expects=200)
    made(client, *args, act="left", expects=200)
    who.refresh_from_db()
    assert who.excluded_at is None and who.left_at
    post(client, "api-annotator-erase", study.pk, 2, confirm="A-01", expects=400)
    made(client, "api-annotator-erase", study.pk, 2, confirm="A-02", expects=200)
    who.refresh_from_db()
    assert who.erased_at


def test_a_task_is_decided_sent_back_and_left_to_the_rule(client, manager, study):
    task = study.stages.get().tasks.filter(slots__judgment__isnull=False).first()
    at = (study.pk, 1, task.pk)
    before = client.get(reverse("api-task-detail", args=at)).json()
    given = {"note": "Both are wrong.", "answer": "none", "seen": before["seen"]}
    found = made(client, "api-task-decide", *at, expects=200, **given)
    assert (found["state"], found["id"]) == ("dropped", task.pk) and found["seen"] != before["seen"]
    outcome = Outcome.objects.get(task=task)
    assert (outcome.by, outcome.adjudicator, outcome.note) == ("adjudicator", manager, "Both are wrong.")
    assert post(client, "api-task-decide", *at, **given | {"answer": task.options[0]}).json()["code"] == "CHANGED"
    (refused,) = post(client, "api-task-decide", *at, note="Lost.", answer="positive").json()["errors"]
    assert (refused["code"], refused["field"]) == ("UNFIT", "answer")
    assert f"({', '.join(task.options)}, none, cannot_judge)" in refused["remedy"]
    (refused,) = post(client, "api-task-decide", *at, note="x", answer="none").json()["errors"]
    assert refused["field"] == "note"
    assert post(client, "api-task-decide", *at, note="x", answer="none", flagged=True).status_code == 400
    made(client, "api-task-withdraw", *at, expects=200)
    assert not Outcome.objects.filter(task=task, by="adjudicator").exists()
    judgment = task.slots.exclude(judgment=None).first().judgment
    made(client, "api-task-decide", *at, note="As they say.", judgment=judgment.pk, expects=200)
    assert made(client, "api-task-send-back", *at, note="Ask one more.", expects=200)["state"] is None


def test_a_flag_is_settled(client, manager, study):
    flag = Flag.objects.order_by("pk").first()
    made(client, "api-flag-settle", flag.pk, expects=200)
    flag.refresh_from_db()
    assert flag.settled_by == manager and Event.objects.filter(verb="settled").exists()


def test_a_study_is_archived_and_deleted_by_its_name(client, manager, study):
    assert made(client, "api-study-archive", study.pk, archived=True, expects=200) == {"id": study.pk, "archived": True}
    assert post(client, "api-study-delete", study.pk, name="Another", expects=409).json()["code"] == "CANNOT_DELETE"
    own = studies.study()
    made(client, "api-study-delete", own.pk, name=own.name, expects=200)
    assert not Study.objects.filter(pk=own.pk).exists()


# What annotators and readers find


def test_instructions_have_a_new_version(client, manager, study):
    before = client.get(reverse("api-stage-instructions", args=[study.pk, 1])).json()
    given = {"text": "Look *twice*.", "translations": {"es": "Mira dos veces."}}
    found = made(client, "api-stage-instructions", study.pk, 1, expects=200, **given)
    assert (found["version"], found["text"]) == (before["version"] + 1, given["text"])
    assert found["translations"] == given["translations"]  # the others would show the earlier text
    kept = made(client, "api-stage-instructions", study.pk, 1, expects=200, **given | {"text": "Look."})
    assert kept["translations"] == given["translations"]
    assert made(client, "api-stage-instructions", study.pk, 1, expects=200, text="See.")["translations"] == {}
    for wrong in ({"text": "![A cup](none.png)"}, {"text": "a", "translations": {"xx": "b"}}):
        post(client, "api-stage-instructions", study.pk, 1, expects=400, **wrong)


def test_checks_are_set_and_taken_back(client, manager):
    study, others = studies.study(items=2), studies.benchmark(items=2)
    given = {"check_rate": 0.2, "comprehension": [{"question": "Which?", "options": ["a", "b"], "answer": 1}]}
    found = made(client, "api-stage-screening", study.pk, 1, expects=200, **given)
    assert {name: found[name] for name in given} == given and found["practice_tries"] >= 1
    known = {"kind": "check", "items": {"item-0": ["candidate-1"]}, "benchmark": others.pk}
    (task,) = made(client, "api-stage-known", study.pk, 1, **known)["tasks"]
    made(client, "api-stage-known", study.pk, 1, **known | {"kind": "practice", "items": {"item-1": ["candidate-1"]}})
    assert study.stages.get().tasks.get(pk=task).gold == ["candidate-1"]
    assert made(client, "api-stage-forget", study.pk, 1, tasks=[task], expects=200) == {"removed": 1, "retired": 0}
    assert post(client, "api-stage-known", study.pk, 1, **known | {"items": {"none": []}}).json()["code"] == "INVALID"


def test_items_are_assigned_by_name(client, manager):
    study = studies.study(items=3, strategy="named")
    added = made(client, "api-annotator-list", study.pk, name="Ana")
    assert added["annotator"] == "A-01" and client.get(added["link"]).status_code == 200
    given = {"annotators": ["A-01"], "items": ["item-0", "item-2"]}
    assert made(client, "api-stage-assign", study.pk, 1, expects=200, **given) == {"judgments": 2}
    assert made(client, "api-stage-unassign", study.pk, 1, expects=200, annotators=["A-01"]) == {"judgments": 2}
    assert post(client, "api-stage-assign", study.pk, 1, **given | {"annotators": ["A-99"]}).status_code == 400
    assert post(client, "api-stage-assign", studies.study().pk, 1, **given | {"annotators": []}).status_code == 400


def test_results_are_shared_and_readers_answered(client, manager, study, settings):
    settings.SITE_URL = "https://winnow.example"
    address = made(client, "api-study-share", study.pk, shared=True, expects=200)["address"]
    assert client.get(address).status_code == 200
    assert made(client, "api-study-share", study.pk, shared=False, expects=200) == {"address": None}
    assert client.get(address).status_code == 404
    opened = made(client, "api-report-list", study.pk, who="everybody", expects=200)["address"]
    assert opened.startswith("https://winnow.example/report/")
    report = reports.report(study=study, key="item-0", text="A typo.")
    assert told(client, "api-report-list", study.pk)["results"][0]["text"] == "A typo."
    assert made(client, "api-report-answer", report.pk, answer="dismissed", expects=200)["answer"] == "dismissed"
