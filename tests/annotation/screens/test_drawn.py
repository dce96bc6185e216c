"""Points and boxes over pictures: where they are on a screen, and what managers see of annotators' marks."""

import json
import re

import pytest
from django.urls import reverse

from annotation.designs import presets
from annotation.protocol_files.publish import publish
from annotation.protocols.marks import Mark
from annotation.protocols.registry import protocol_named
from annotation.screens import drawn, trial
from annotation.screens.screens import build_screens
from benchmarks.models import Caption, ItemImage
from tests.builders import declared, studies

MARKED = {
    "winnow": "protocol/1", "name": "marked", "title": "Marks", "ask": "Where?", "instructions": "Look.",
    "item": {"images": {"scene": 1}, "texts": {"regions": "0..1"}, "attributes": ["gaze"]},
    "screen": [{"picture": "scene", "boxes": "regions", "points": "gaze"}],
    "answers": [{"name": "parts", "kind": "boxes", "of": "scene", "least": 0, "labels": {"hand": "Hand"}}],
    "judgments": 2,
}  # fmt: skip


def test_marks_are_where_the_picture_is_in_its_frame():
    found = drawn.drawing((400, 400), [("cat", 5, Mark((0, 5000, 10000, 10000)))], (0, 0.25, 1, 0.5))
    assert found is not None and (found.width, found.height, found.words) == (400, 400, "cat")
    [shape] = found.shapes
    assert (shape.left, shape.top, shape.width, shape.height, shape.tone) == ("0.0", "200.0", "400.0", "100.0", 1)
    assert drawn.drawing((400, 400), []) is None


@pytest.mark.django_db
def test_what_the_data_say_is_drawn_on_the_screen():
    name = str(publish(text=json.dumps(MARKED), by="test"))
    made = declared.benchmark(protocol_named(name).file, 1)
    Caption.objects.filter(role="regions").update(
        text='[[0.1, 0.2, 0.5, 0.6], {"bbox": [0, 0, 0.5, 0.5], "label": "cat"}]'
    )
    ItemImage.objects.update(attributes={"gaze": [[0.5, 0.25]]})
    stage = studies.study(benchmark=made, stages=presets.single_stage(name).stages).stages.get()
    [html] = [one.html() for one in build_screens(trial.trial_leases(stage, 1, 1), stage)]
    assert (html.count("<rect"), html.count("<circle"), re.findall(r">(\w*)</text>", html)) == (2, 1, ["", "1", "cat"])
    assert 'data-marked="1"' in html and "regions" not in html and "gaze" not in html and "scene" not in html


@pytest.mark.django_db
def test_adjudicators_and_the_items_page_see_marks_on_the_picture(client, manager):
    stage = declared.of_file({**MARKED, "item": {"images": {"scene": 1}}, "screen": [{"picture": "scene"}]}, 1)
    declared.judge(stage, 2, lambda task, who: "1000:1000:5000:5000:hand" if who else "2000:2000:6000:6000:hand")
    client.force_login(manager)
    task = stage.tasks.get()
    page = client.get(reverse("study-adjudicate", args=[stage.study_id]), {"stage": 1, "task": task.pk}).text
    assert page.count("<rect") == 2 and set(re.findall(r">([12]) Hand</text>", page)) == {"1", "2"}
    page = client.get(reverse("study-item", args=[stage.study_id, 0])).text
    assert page.count("<rect") == 2 and "Hand (10, 10)–(50, 50)" in page
