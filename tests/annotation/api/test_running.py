"""Moving studies and stages through the API: the verbs of the pages, with their events."""

import pytest

from annotation.models import Study
from benchmarks.models import Event
from tests.annotation.api.writing import made, post
from tests.builders import studies

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def study(module_world) -> Study:
    return studies.study(items=3)


def test_a_study_is_paused_and_opened_once(client, manager, study):
    found = [made(client, "api-study-move", study.pk, to=to, expects=200) for to in ("paused", "open", "open")]
    assert [one["state"] for one in found] == ["paused", "open", "open"]
    assert (
        list(Event.objects.filter(verb__startswith="moved to").values_list("by", flat=True))
        == [f"user:{manager.pk}"] * 2
    )
    studies.study_lifecycle.move_study(study=study, to="closed", by="test")
    refusal = post(client, "api-study-move", study.pk, to="paused", expects=409).json()
    assert (refusal["code"], refusal["detail"]) == ("CANNOT_MOVE", "A study that is closed cannot change to paused.")


def test_closing_a_stage_says_what_stays_open(client, manager, study):
    refusal = post(client, "api-stage-move", study.pk, 1, to="closed", expects=409).json()
    assert (refusal["code"], refusal["detail"][:43]) == ("ITEMS_OPEN", "3 of 3 items have no outcome. Send `leave_o")
    found = made(client, "api-stage-move", study.pk, 1, to="closed", leave_open=True, expects=200)
    assert (found["stage"]["state"], found["promoted"], found["open_items"]) == ("closed", {}, 3)
    assert made(client, "api-stage-move", study.pk, 1, to="closed", expects=200) == found
    assert post(client, "api-stage-reopen", study.pk, 1).json()["code"] == "CANNOT_MOVE"
    assert made(client, "api-stage-move", study.pk, 1, to="open", expects=200)["stage"]["state"] == "open"


@pytest.mark.parametrize("position", [2, 99_999])
def test_there_is_no_other_stage(client, manager, study, position):
    post(client, "api-stage-move", study.pk, position, to="closed", leave_open=True, expects=404)
    assert study.stages.get().state == "open"


def test_what_does_not_fit_the_stage_is_refused(client, manager, study):
    assert post(client, "api-stage-target", study.pk, 1, target=0.02, expects=409).json()["code"] == "CANNOT_AIM"
    for wrong in (2, "nan", "inf", "-1e999"):
        post(client, "api-stage-target", study.pk, 1, target=wrong, expects=400)
    post(client, "api-stage-estimate", study.pk, 1, expects=409)


def test_an_audit_aims_tighter_and_an_estimate_is_a_job(client, manager):
    audited = studies.study(items=2, protocol="verify", strategy="audit", target_half_width=0.1)
    assert made(client, "api-stage-target", audited.pk, 1, target=0.02, expects=200)["state"] == "open"
    assert audited.stages.get().target_half_width == 0.02
    estimated = studies.study(items=2, overlap=2, rule="dawid-skene")
    answer = post(client, "api-stage-estimate", estimated.pk, 1, expects=202)
    assert answer["Location"] == f"/api/v1/jobs/{answer.json()['id']}/" and client.get(answer["Location"]).json()["id"]
    post(client, "api-stage-estimate", estimated.pk, 1, expects=409)
