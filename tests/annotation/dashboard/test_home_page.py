"""The managers' first page: what each study needs next. tests/annotation/test_query_counts.py counts its queries."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation import permissions
from annotation.dashboard import home_page, study_overview, study_page
from annotation.designs.plan import StagePlan
from annotation.models import Role, Study
from annotation.participants import lifecycle as participants
from annotation.studies import lifecycle, members
from tests.builders import releases, studies
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db
CHOOSE = StagePlan("bivlc-choose", "choose", settings={"carries": "negative", "overlap": 2, "tie_rule": "adjudicate"})
FITS = StagePlan("bivlc-disambiguate", "fits", source="choose", apart_from=[], settings={"promotion": "closing"})
I2T = StagePlan("bivlc-i2t", "i2t", source="choose", apart_from=[], settings={"sample": 1})


def study(*answers: str) -> Study:
    """Two items and two annotators, who give these answers in turn."""
    made = studies.study(items=2, stages=[CHOOSE, FITS, I2T])
    for given in filter(None, (answers[:2], answers[2:])):
        person = studies.annotator(made)
        for answer in given:
            assert studies.judgment(person, made.stages.get(position=1), answer)
    return made


def close(made: Study, position: int = 1) -> None:
    lifecycle.move_stage(stage=made.stages.get(position=position), to="closed", by="test")


def paused() -> Study:
    made = study("none")
    lifecycle.move_study(study=made, to="paused", by="test")
    return made


def to_decide() -> Study:
    return study("candidate-0", "none", "none", "none")


def came_open() -> Study:
    made = study("candidate-0", "none", "candidate-0", "none")
    close(made)
    participants.exclude(annotator=made.annotators.get(number=2), reason="Bot.", by="test")
    return made


def over() -> Study:
    made = study("none", "none", "none", "none")
    for position in (1, 2, 3):
        close(made, position)
    return made


@pytest.mark.parametrize(
    ("make", "words", "label"),
    [
        (study, "Nobody has joined yet", "Invite"),
        (paused, "is paused", "Open the study"),
        (lambda: study("none"), "0 of 2 done. No annotator is left to judge 1 item: invite more.", ""),
        (to_decide, "Stage 1 (choose): 1 item to decide by hand", "Adjudicate"),
        (lambda: study("candidate-0", "none", "candidate-0", "none"),
         "Close it to move 1 item on to fits and to draw 1 item for i2t", "Close stage 1"),
        (came_open, "2 items came open again", "Reopen it for 2 items"),
        (over, "All stages are done", "New release"),
    ],
)  # fmt: skip
def test_the_step_is_that_of_the_studys_own_page(client, manager, make, words, label):
    made = make()
    ((step,), page) = home_page.contents(manager)["steps"], client.get(reverse("study-list")).text
    own = study_page.contents(permissions.stage_for(manager, made.pk))["next_step"]
    assert step.step == own
    assert words in step.step.sentence and step.step.label == label
    assert words in page and (label or "Open the study") in page


def test_the_first_stage_that_waits_for_a_person_comes_first(manager):
    """Though the stage before it is done and could be closed."""
    tied = {"overlap": 2, "tie_rule": "adjudicate"}
    stages = [CHOOSE, StagePlan("bivlc-disambiguate", "fits", source="choose", apart_from=[], settings=tied), I2T]
    made = studies.study(items=1, stages=stages)
    for _ in range(2):
        studies.judgment(studies.annotator(made), made.stages.get(position=1), "candidate-0")
    for answer in ("both", "positive-0"):
        studies.judgment(studies.annotator(made), made.stages.get(position=2), answer)
    ((step,),) = (home_page.contents(manager)["steps"],)
    assert step.step.sentence == "Stage 2 (fits): 1 item to decide by hand."
    assert step.step.url.endswith("?stage=2")


def test_without_a_study_it_leads_to_the_first(client, manager):
    assert "Import a benchmark: the captions" in client.get(reverse("study-list")).text
    studies.benchmark(items=1)
    page = client.get(reverse("study-list")).text
    assert "Create a study: choose" in page and "Import a benchmark: the captions" not in page


def test_what_has_a_step_comes_first_and_what_is_released_not_at_all(manager):
    waits, goes, done = to_decide(), study("none"), over()
    lifecycle.move_study(study=done, to="closed", by="test")
    assert [one.study for one in home_page.contents(manager)["steps"]] == [done, waits, goes]
    releases.by_hand(done, "1.0")
    assert [one.study for one in home_page.contents(manager)["steps"]] == [waits, goes]
    lifecycle.move_study(study=done, to="open", by="test")
    assert [one.study for one in home_page.contents(manager)["steps"]] == [waits, goes]


def test_a_viewer_has_no_steps(client):
    made, viewer = study("none"), User.objects.create_user("vera", is_staff=True)
    members.add(study=made, user=viewer, role=Role.VIEWER, by="test")
    client.force_login(viewer)
    page = client.get(reverse("study-list")).text
    assert made.name in page and "Next steps" not in page


def test_the_list_tells_who_joined_from_who_judged(client, manager):
    made = study("none")
    studies.annotator(made)
    assert "2 joined, 1 judged" in " ".join(client.get(reverse("study-list")).text.split())


def test_the_invite_step_opens_the_box_with_the_link_and_says_who_cannot_open_it(client, manager):
    study()
    ((step,),) = (home_page.contents(manager)["steps"],)
    page = client.get(step.step.url).text
    assert 'id="invite" open' in page and "Only people in your own network can open this address" in collapsed(page)


def test_warning_signs_are_beside_the_step(client, manager, monkeypatch):
    made = study("candidate-0", "none", "candidate-0", "none")
    stage = permissions.stage_for(manager, made.pk)
    data = study_overview.overview(stage)
    for excluded, count in ((False, 2), (True, 0)):
        for row in data["figures"]["annotators"]:
            row |= {"signs": [{"kind": "fast"}], "excluded": excluded}
        assert study_page._next_step(stage, [stage], data).signs == count
