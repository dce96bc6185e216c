"""The managers' pages of studies: what they show. tests/annotation/test_rights.py holds who may see them."""

import json
import re

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.assignment import leases, seats
from annotation.dashboard import study_page
from annotation.designs.plan import StagePlan
from annotation.exports import job as export_job
from annotation.figures.stage import study_figures
from annotation.judging import submissions
from annotation.models import Outcome, Study
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event, Job
from tests.builders import crowds, studies
from tests.collapsed import collapsed

pytestmark = pytest.mark.usefixtures("savepoint")
PAGES = ["study-detail", "study-stages", "study-disagreements", "study-instructions"]


@pytest.fixture(scope="module")
def built(module_world) -> Study:
    return crowds.stage(items=18, people=4, overlap=2).study


@pytest.fixture
def study(built) -> Study:
    return Study.objects.get(pk=built.pk)


def address(name: str, study: Study, *args: int) -> str:
    return reverse(name, args=[study.pk, *args])


def test_the_page_shows_the_figures(client, manager, study):
    page = client.get(address("study-stage", study, 1)).content.decode()
    figures = study_figures(study.stages.get())
    for shown in (study.name, f"({figures['outcomes']['kept']} of", "A-04", ">α on whether any image fits<"):
        assert str(shown) in page


def test_an_untouched_study_has_a_page(client, manager):
    page = client.get(address("study-stage", studies.study(items=2), 1)).content.decode()
    assert "nothing has been judged yet" in page and "No annotators in this stage yet" in page


def test_who_may_not_act_changes_nothing(client, study):
    client.force_login(User.objects.create_user("guest", password="x"))
    for name in ("study-move", "study-export", "study-instructions"):
        assert client.post(address(name, study), {"to": "closed", "text": "New"}).status_code == 403
    study.refresh_from_db()
    assert (study.state, Job.objects.count(), study.stages.get().instructions.count()) == ("open", 0, 1)


def test_a_study_is_paused_opened_and_closed(client, manager, study):
    for to in ("paused", "open", "closed"):
        client.post(address("study-move", study), {"to": to})
        study.refresh_from_db()
        assert study.state == to
    assert Event.objects.filter(by=f"user:{manager.pk}", verb__startswith="moved to").count() == 3
    assert "cannot change to paused" in client.post(address("study-move", study), {"to": "paused"}, follow=True).text


def test_a_stage_is_closed_and_opened_again(client, manager, study):
    for to in ("closed", "open"):
        answer = client.post(reverse("stage-move", args=[study.pk, 1]), {"to": to, "anyway": "yes"})
        assert answer.url == address("study-stage", study, 1)
        assert study.stages.get().state == to
    refused = client.post(reverse("stage-move", args=[study.pk, 1]), {"to": "elsewhere"}, follow=True)
    assert "cannot change to elsewhere" in refused.content.decode()


def test_a_closed_stage_shows_no_forecast(client, manager, study):
    client.post(reverse("stage-move", args=[study.pk, 1]), {"to": "closed", "anyway": "yes"})
    forecast = study_figures(study.stages.get())["now"]["forecast"]
    assert (forecast["finish"], forecast["reason"]) == (None, "the stage is closed")
    page = client.get(address("study-stage", study, 1)).content.decode()
    assert ">Closed</h2>" in page and "No date" not in page


def three_stages(overlap: int) -> list[StagePlan]:
    return [
        StagePlan("bivlc-choose", name="choose", settings={"carries": "negative", "overlap": overlap}),
        StagePlan("bivlc-disambiguate", name="fits", source="choose"),
        StagePlan("bivlc-i2t", name="i2t", source="fits", settings={"sample": 2}),
    ]


@pytest.fixture
def pipeline():
    """Two stages that select and one that measures; the first has sent some items on."""
    made = studies.study(items=4, stages=three_stages(overlap=2), pay_per_hour=12)
    for answers in (["candidate-0", "none", "candidate-1", ""], ["candidate-0", "none", "candidate-2", "none"]):
        person = studies.annotator(made)
        for answer in filter(None, answers):
            studies.judgment(person, made.stages.get(position=1), answer)
    return made


def test_each_stage_has_its_figures_under_its_tab(client, manager, pipeline):
    first, second = (client.get(address("study-stage", pipeline, position)).content.decode() for position in (1, 2))
    for page, place, title in ((first, 1, "Choose the image that fits"), (second, 2, "Find ambiguous items")):
        assert f"Stage {place} of 3</a>" in collapsed(page) and re.search(rf"<h1[^>]*>\s*{title}\s*</h1>", page)
    assert "A-01" in first and "No annotators in this stage yet" in second
    assert pipeline.stages.get(position=2).invite in second


def test_a_study_or_stage_that_is_not_there_is_404(client, manager, pipeline):
    for name in PAGES:
        assert client.get(reverse(name, args=[99999])).status_code == 404
    assert client.get(address("study-stage", pipeline, 9)).status_code == 404
    assert client.post(reverse("stage-move", args=[pipeline.pk, 9]), {"to": "closed"}).status_code == 404


def test_closing_says_what_goes_on(client, manager, pipeline):
    fits = pipeline.stages.get(position=2)
    studies.judgment(joined(pipeline, fits), fits, "positive-0")
    page = client.get(address("study-stage", pipeline, 2)).content.decode()
    assert "Then its 1 kept item goes to stage 3 (Image to text)." in page


def test_closing_asks_with_numbers_and_says_what_it_did(client, manager):
    """Of the first stage, one item lacks a judgment and one a decision; the second has settled less than its sample."""
    study = studies.study(items=4, stages=three_stages(overlap=1))
    first, fits = study.stages.order_by("position")[:2]
    person = studies.annotator(study)
    for answer in ("candidate-0", "candidate-0", "none"):
        studies.judgment(person, first, answer)
    Outcome.objects.get(task__stage=first, reason="no_image_fits").delete()  # as if an adjudicator had to decide it
    studies.judgment(joined(study, fits), fits, "positive-0")
    assert leases.hold(annotator=person, stage=first, wanted=1)
    of_first, of_fits = (reverse("stage-move", args=[study.pk, position]) for position in (1, 2))
    asked = client.post(of_first, {"to": "closed"}).text
    numbers = (
        "2 of 4 items are",
        "1 item lacks judgments",
        "1 item has all its",
        "1 task is open in an annotator’s browser",
    )
    for words in numbers:
        assert words in asked
    assert "1 task is open in annotators’ browsers" in client.get(address("study-stage", study, 1)).text
    asked = client.post(of_fits, {"to": "closed"}).text
    assert "1 of 2 items is still open" in asked and "1 item will be sampled for Image to text, of 2 planned" in asked
    assert study.stages.get(position=2).state == "open"
    done = client.post(of_fits, {"to": "closed", "anyway": "yes"}, follow=True).text
    assert (
        "Stage 2 (Find ambiguous items) is closed. 1 item was sampled for stage 3 (Image to text), 1 item stays open."
        in done
    )
    done = client.post(of_first, {"to": "closed", "anyway": "yes"}, follow=True).text
    assert "Stage 1 (Choose the image that fits) is closed. 2 items stay open." in done


def joined(study, stage):
    person = seats.join(study=study, stage=stage, by="test")
    studies.read(person, stage)
    return person


def test_the_live_part_is_of_the_stage_that_is_looked_at(client, manager, pipeline):
    page = client.get(address("study-stage", pipeline, 2)).content.decode()
    first, second = (address("stage-live", pipeline, position) for position in (1, 2))
    assert f"{second}?seen={seen(page)}" in page
    assert client.get(second, {"seen": seen(page)}).status_code == 204
    assert client.get(first, {"seen": seen(page)}).status_code == 200


def test_an_unchanged_page_costs_one_query_of_its_own(client, manager, study):
    token = seen(client.get(address("study-stage", study, 1)).content.decode())
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address("stage-live", study, 1), {"seen": token}).status_code == 204
    assert len(captured) <= 4  # session, user, stage, fingerprint


@pytest.mark.parametrize("what", ["judgment", "flag", "skip", "stage", "instructions", "import", "exclusion", "export"])
def test_whatever_is_shown_changes_the_fingerprint(what, study):
    stage = study.stages.get()
    person = studies.annotator(study)
    lease = leases.hold(annotator=person, stage=stage, wanted=1)[0]
    before = study_page.fingerprint(stage)
    {
        "judgment": lambda: studies.submit(person, lease),
        "flag": lambda: submissions.flag(annotator=person, token=lease.token, reason="Odd"),
        "skip": lambda: leases.skip(annotator=person, token=lease.token),
        "stage": lambda: study_lifecycle.move_stage(stage=stage, to="closed", by="test"),
        "instructions": lambda: study_lifecycle.revise_instructions(stage=stage, text="Anew.", by="test"),
        "import": lambda: studies.item(study.benchmark),
        "exclusion": lambda: study.annotators.filter(pk=person.pk).update(excluded_at=Now(), exclusion_reason="Bot"),
        "export": lambda: export_job.queue_export(study=study, by="test"),
    }[what]()
    assert study_page.fingerprint(study.stages.get()) != before


def test_new_instructions_are_a_new_version(client, manager, study):
    client.post(address("study-instructions", study), {"text": "Look\r\n\r\n- twice"})
    assert study.stages.get().instructions.latest("version").text == "Look\n\n- twice"
    assert "Instructions v2" in client.get(address("study-stage", study, 1)).content.decode()


def seen(html: str) -> str:
    return re.search(r"seen=(\w+)", html)[1]


def test_the_live_part_answers_only_when_something_changed(client, manager, study):
    token = seen(client.get(address("study-stage", study, 1)).content.decode())
    url = address("stage-live", study, 1)
    assert client.get(url, {"seen": token}).status_code == 204
    stage = study.stages.get()
    studies.judgment(studies.annotator(study), stage)
    changed = client.get(url, {"seen": token}).content.decode()
    assert seen(changed) != token
    assert "A-05" in changed and 'id="live-tiles" hx-swap-oob="innerHTML"' in changed


def test_a_closed_study_is_not_asked_for_again(client, manager, study):
    client.post(address("study-move", study), {"to": "closed"})
    assert "hx-trigger" not in client.get(address("stage-live", study, 1)).content.decode()


def test_a_flag_is_settled_and_stays_settled(client, manager):
    stage = studies.stage()
    person = studies.annotator(stage.study)
    lease = studies.judgment(person, stage).lease
    flag = submissions.flag(annotator=person, token=lease.token, reason="<b>Odd</b>")
    page = client.get(address("study-stage", stage.study, 1)).content.decode()
    assert "&lt;b&gt;Odd&lt;/b&gt;" in page
    for _ in range(2):
        client.post(reverse("flag-settle", args=[flag.pk]))
    flag.refresh_from_db()
    assert flag.settled_by == manager
    assert Event.objects.filter(verb="settled").count() == 1
    assert study_figures(stage)["progress"] | {"flags": 1, "flags_open": 0} == study_figures(stage)["progress"]


def test_disagreements_have_every_answer_with_who_gave_it(client, manager):
    stage = studies.stage(overlap=3)
    for answer in ("candidate-2", "none", "none"):
        studies.judgment(studies.annotator(stage.study), stage, answer)
    page = client.get(reverse("study-stage", args=[stage.study_id, 1])).text
    assert "votes 2–1" in page and page.index(">A-01<") < page.index(">A-02</span>,") < page.index(">A-03</span>")


def test_an_export_is_queued_and_can_be_downloaded_by_staff_alone(client, manager, study, settings):
    answer = client.post(address("study-export", study))
    job = Job.objects.get(kind="export")
    assert answer.url == reverse("job-detail", args=[job.pk])
    assert client.get(reverse("study-download", args=[study.pk, job.pk])).status_code == 404  # not done
    client.logout()
    assert client.get(reverse("study-download", args=[study.pk, job.pk])).status_code == 302


def test_the_api_answers_the_pages_figures(client, manager, study):
    answer = client.get(address("api-study-figures", study), {"pairs": "true"}).json()
    figures = json.loads(json.dumps(study_figures(study.stages.get())))
    assert {**answer, "now": 0} == {**figures, "now": 0}
    (listed,) = client.get(reverse("api-study-list")).json()["results"]
    assert listed["judgments_counted"] == figures["progress"]["judgments_counted"]
