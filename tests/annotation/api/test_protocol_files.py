"""What the API and the report say of a stage that uses a protocol file."""

import json

import pytest
from django.urls import reverse

from annotation.exports import rows as export_rows
from annotation.figures.edit_names import edits_of
from annotation.protocols import library
from annotation.reports import report
from tests.annotation.api.reading import exported_judgments, rows, told
from tests.builders import declared, studies, text_annotators

pytestmark = pytest.mark.django_db
NAME = "image-caption-foil"


@pytest.fixture
def study():
    made = declared.study(NAME, 3)
    text_annotators.work(made, people=3)
    return made


def test_a_stage_has_its_file_and_what_it_says_in_words(client, manager, study):
    found = client.get(reverse("api-stage-protocol", args=[study.pk, 1])).json()
    assert found["file"]["text"] == library.text_of(NAME) and found["file"]["version"] == 1
    assert found["question"] == "Which sentence is true of the picture?" and "at least 2" in found["decision_rule"]
    assert found["answers"] == ["fit: one of the caption, the hard negative, “Both sentences”, “Neither”."]
    settings = client.get(reverse("api-stage-detail", args=[study.pk, 1])).json()["settings"]
    assert settings["protocol_file"]["sha256"] == found["file"]["sha256"]


def test_a_stage_of_another_protocol_has_no_file(client, manager):
    found = client.get(reverse("api-stage-protocol", args=[studies.study(protocol="verify").pk, 1])).json()
    assert (found["protocol"], found["file"], found["answers"]) == ("verify", None, [])
    assert found["question"] and found["decision_rule"]


def test_lines_are_those_of_the_export(client, manager, study):
    stages = list(study.stages.all())
    exported = [
        {**line, "answers": line["answers"] and json.loads(line["answers"])}
        for line in exported_judgments(stages, edits_of(stages))
    ]
    given = {row["answer"]: row["answers"] for row in rows(client, "api-judgment-list", study.pk)}
    assert given == {line["answer"]: line["answers"] for line in exported}
    assert given["caption-positive-0"] == {"fit": "positive"}
    names = {task["item"]: task["names"] for task in rows(client, "api-task-list", study.pk)}
    assert names == {line["item"]: line["names"] for line in export_rows.tasks(stages, edits_of(stages), {})}
    assert told(client, "api-study-agreement", study.pk, view="caption or not")["measures"]["whole"]


def test_the_report_says_what_was_asked_answered_and_decided(client, manager, study):
    (stage,) = report.report(study)["stages"]
    assert stage["protocol"]["file"]["name"] == NAME and len(stage["protocol"]["measured"]) == 2
    page = client.get(reverse("study-report", args=[study.pk])).content.decode()
    for words in (*stage["protocol"]["says"], *stage["protocol"]["measured"], stage["protocol"]["file"]["sha256"]):
        assert words in page
    assert "Kept if at least 2 of 3 people pick the caption." in page
