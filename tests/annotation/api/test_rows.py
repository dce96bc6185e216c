"""What the API tells: lines as an export has them, figures as the pages have them, names of nobody."""

import json
from collections.abc import Iterable

import pytest
from django.urls import reverse

from annotation.api import rows as api_rows
from annotation.exports import rows as export_rows
from annotation.figures.edit_names import edits_of
from annotation.figures.stage import study_figures
from annotation.models import Annotator, Judgment, Study, Task
from annotation.wording import pseudonym
from tests.annotation.api.reading import OF_STUDY, adjudicate, exported_judgments, rows, told
from tests.builders import crowds, pictures, studies, text_items
from workers.images import check_and_render

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def study(module_world) -> Study:
    return crowds.stage(items=10, people=4, overlap=2).study


def plain(line: dict) -> str:
    """A line as text, without the number that it has in the database. In files, content is JSON and time a time."""
    told = {name: value for name, value in line.items() if name not in ("id", "created_at")}
    content = told.get("content")
    return json.dumps(told | {"content": json.loads(content) if isinstance(content, str) else content}, sort_keys=True)


def same(lines: list[dict], exported: Iterable[dict]) -> bool:
    exported = list(exported)
    lacking = {name for line in exported for name in line} - {name for line in lines for name in line}
    assert not lacking, f"annotation/api/serializers.py lacks {', '.join(sorted(lacking))}."
    return bool(lines) and sorted(map(plain, lines)) == sorted(map(plain, exported))


def exported_tasks(stages, edits) -> Iterable[dict]:
    """Without what each rule of a protocol file decides, which the API does not compute."""
    lines = export_rows.tasks(stages, edits, {})
    return ({name: part for name, part in line.items() if name != "rules"} for line in lines)


def test_every_line_is_that_of_the_export(client, manager, study):
    adjudicate(study.stages.get().tasks.select_related("stage__study").first(), manager)
    nobody = edits_of([])
    assert same(rows(client, "api-judgment-list", study.pk), exported_judgments(study.stages.all(), nobody))
    assert same(rows(client, "api-task-list", study.pk), exported_tasks(study.stages.all(), nobody))
    assert same(rows(client, "api-adjudication-list", study.pk), export_rows.adjudications(study.stages.all(), nobody))
    assert same(rows(client, "api-flag-list", study.pk), export_rows.flags(study.stages.all()))


def test_answers_come_with_their_content_and_edits_with_the_names_they_have_outside(client, manager):
    stage = text_items.stage(items=2)
    text_items.edits(stage, "A cat rests on one mat.")
    first = stage.tasks.get(proposals__len=1)
    text_items.edits(stage, "A cat rests upon one mat.", of=first.proposals[0], person=_second(stage, first))
    found, edits = rows(client, "api-judgment-list", stage.study_id, limit=1), edits_of([stage])
    assert same(found, exported_judgments([stage], edits))
    assert found[0]["content"]["texts"] == {"second_positive": "A cat rests on one mat."}
    assert found[1]["content"]["from"] == {"second_positive": "edit-A-01-1-1"}
    assert same(rows(client, "api-task-list", stage.study_id), exported_tasks([stage], edits))


def _second(stage, task: Task) -> Annotator:
    """Somebody whose next screen is of that task."""
    stage.tasks.exclude(pk=task.pk).update(live=False)
    stage.slots.exclude(task=task).update(live=False)
    return studies.annotator(stage.study)


def test_annotators_are_counted(client, manager, study):
    figures = {row["annotator"]: row for row in study_figures(study.stages.get())["annotators"]}
    for line in rows(client, "api-annotator-list", study.pk):
        own = figures[line["annotator"]]
        assert (line["counted"], line["withdrawn"], line["surplus"]) == (
            own["judged"],
            own["withdrawn"],
            own["surplus"],
        )
        assert line["active_minutes"] == pytest.approx(own["active_minutes"], abs=1e-9)
        given = Judgment.objects.filter(
            lease__annotator__study=study, lease__annotator__number=int(line["annotator"][2:])
        )
        assert line["judgment_rows"] == given.count()


@pytest.mark.parametrize(
    "asked", [{}, {"ordering": "-id"}, {"counted": True}, {"counted": False}, {"since": "2020-01-01T00:00:00Z"}]
)
def test_few_numbers_at_a_time_give_the_same_judgments(client, manager, study, monkeypatch, asked):
    """A page may be empty and still tell of a next one; back again it is the same."""
    crowds.stage(items=5)  # another study's come after
    whole = rows(client, "api-judgment-list", study.pk, limit=1000, **asked)
    monkeypatch.setattr(api_rows, "WINDOW", 8)
    page = told(client, "api-judgment-list", study.pk, **asked)
    there = page["results"]
    while page["next"]:
        page = client.get(page["next"]).json()
        there += page["results"]
    back = page["results"]
    while page["previous"]:
        page = client.get(page["previous"]).json()
        back = page["results"] + back
    assert there == back == whole and all(row["counted"] == asked.get("counted", row["counted"]) for row in back)


def test_judgments_begin_after_those_of_older_studies(client, manager, study, monkeypatch):
    monkeypatch.setattr(api_rows, "WINDOW", 3)
    newer = crowds.stage(items=3).study
    first = client.get(reverse("api-judgment-list", args=[newer.pk])).json()["results"]
    assert first and first[0]["id"] == Judgment.objects.filter(lease__task__stage__study=newer).earliest("pk").pk
    assert not client.get(reverse("api-judgment-list", args=[newer.pk]), {"since": "2999-01-01T00:00:00Z"}).json()[
        "next"
    ]


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
        measures, page = found["measures"]["whole"]["measures"], on_page[view]["measures"]
        assert page == {key: measures[key] for key in page} != {}
        assert measures["alpha_interval"]["note"] and found["measures"]["annotator"][0]["annotator"] == "A-01"


def test_a_stage_comes_with_its_settings(client, manager, study):
    answer = client.get(reverse("api-stage-detail", args=[study.pk, 1])).json()
    assert (answer["settings"]["seed"], answer["settings"]["views"]) == (1, ["any or none"])
    assert [row["tasks"] for row in rows(client, "api-stage-list", study.pk)] == [answer["tasks"]] == [10]
    assert client.get(reverse("api-stage-detail", args=[study.pk, 2])).status_code == 404


def test_items_come_with_their_material(client, manager):
    made = studies.benchmark(items=3)
    pictures.put(made.items.get(key="item-0").item_images.first().image, check_and_render(pictures.draw(1)))
    found = rows(client, "api-item-list", made.pk, limit=2)
    assert [row["key"] for row in found] == ["item-0", "item-1", "item-2"]
    assert [image["identity"] for image in found[0]["images"]][:2] == ["candidate-0", "candidate-1"]
    assert client.get(found[0]["images"][0]["url"])["Content-Type"] == "image/jpeg"
    assert {caption["role"] for caption in found[0]["captions"]} == {"positive", "negative"}
    assert [row["key"] for row in rows(client, "api-item-list", made.pk, key="item-1")] == ["item-1"]
    assert told(client, "api-benchmark-detail", made.pk)["item_count"] == made.items.count() == 3
