"""The managers' first page: their studies, and what each needs next."""

import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation import permissions
from annotation.dashboard import home_page, overview_page
from annotation.designs.plan import StagePlan
from annotation.figures import annotators as annotator_figures
from annotation.models import CachedFigures, Judgment, Release, Role, Study
from annotation.participants import lifecycle as participants
from annotation.studies import lifecycle, members
from benchmarks.models import Event, Job
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


def listed(client, **asked: object) -> list[tuple[str, list[Study]]]:
    """The groups of the list, each with its studies."""
    return client.get(reverse("study-list"), asked).context["table"].sections


def step_of(client):
    (((_, (found,)),),) = (listed(client),)
    return found.next


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
        (study, "Waiting for annotators", "Invite people"),
        (paused, "is paused", "Let people judge"),
        (lambda: study("none"), "0 of 2 settled. Nobody is left to judge the other 1.", "Invite people"),
        (to_decide, "Decide 1 item by hand", "Decide"),
        (lambda: study("candidate-0", "none", "candidate-0", "none"),
         "Then its 1 kept item goes to each of stages 2 (Find ambiguous items) and 3 (Image to text).",
         "Close stage 1"),
        (came_open, "2 items came open again", "Reopen it for 2 items"),
        (over, "All stages are done", "New release"),
    ],
)  # fmt: skip
def test_the_step_is_that_of_the_studys_own_page(client, manager, make, words, label):
    made = make()
    step, page = step_of(client), collapsed(client.get(reverse("study-list")).text)
    own = overview_page.contents(permissions.study_for(manager, made.pk), manager)["next"]
    assert step.step == own.step
    assert words in f"{step.step.title} {step.step.sentence}" and step.step.label == label
    assert f">{label}<" in page.replace("> ", ">").replace(" <", "<")
    beside = re.compile(r'class="then" href="([^"]*)"')
    found = beside.search(collapsed(client.get(reverse("study-items", args=[made.pk])).text))
    on_overview = f"{reverse('study-detail', args=[made.pk])}#next-step"  # where a form is, with what it does
    assert found and found[1] == (step.step.url if step.step.fields is None else on_overview)
    assert step.step.fields is not None or not beside.search(collapsed(client.get(step.step.url).text))


def test_that_nobody_is_left_is_said_once_on_a_page(client, manager):
    made, said = study("none"), re.compile("is left to judge|annotator left who may judge")
    pages = reverse("study-detail", args=[made.pk]), reverse("study-stage", args=[made.pk, 1])
    assert [len(said.findall(client.get(page).text)) for page in pages] == [1, 1]


def test_a_judged_study_is_closed_released_and_released_again_once_something_changes(client, manager):
    made = studies.study(items=1)
    person = studies.annotator(made)
    studies.judgment(person, made.stages.get(), "candidate-0")
    close_it = step_of(client).step
    assert close_it.label == "Close the stage"
    assert client.post(close_it.url, close_it.fields).url == reverse("study-detail", args=[made.pk])
    assert step_of(client).step.label == "New release"
    making = Release.objects.create(study=made, name="made", version="0.9", plan={}, job=Job.objects.create())
    step = step_of(client).step
    assert (step.title, step.url) == ("A release is being made", reverse("release-detail", args=[making.pk]))
    Job.objects.update(state="failed")
    assert step_of(client).step.label == "New release"
    releases.by_hand(made, "1.0")
    page = collapsed(client.get(reverse("study-detail", args=[made.pk])).text)
    assert "Released 1.0" in page and 'class="then"' not in page
    assert ">released 1.0<" in page and "#invite" not in page  # no stage asks for anything
    assert "We no longer accept answers" in client.get(reverse("join", args=[made.invite])).text
    participants.exclude(annotator=person, reason="Bot.", by="test")
    Study.objects.filter(pk=made.pk).update(state="closed")
    last = overview_page.contents(permissions.study_for(manager, made.pk), manager)["next"].step
    assert last.title == "Release what has changed" and "after 1.0" in last.sentence


def test_the_first_stage_that_waits_for_a_person_comes_first(client, manager):
    """Though the stage before it is done and could be closed."""
    tied = {"overlap": 2, "tie_rule": "adjudicate"}
    stages = [CHOOSE, StagePlan("bivlc-disambiguate", "fits", source="choose", apart_from=[], settings=tied), I2T]
    made = studies.study(items=1, stages=stages)
    for _ in range(2):
        studies.judgment(studies.annotator(made), made.stages.get(position=1), "candidate-0")
    for answer in ("both", "positive-0"):
        studies.judgment(studies.annotator(made), made.stages.get(position=2), answer)
    step = step_of(client)
    assert step.step.title == "Decide 1 item by hand" and "Stage 2 (Find ambiguous items)" in step.step.sentence
    assert step.step.url.endswith("?stage=2")


def test_what_several_stages_keep_is_of_all_that_they_have_settled(client, manager):
    """The list and the overview say the same: one item of three, not one of two."""
    once = {"overlap": 1}
    first = StagePlan("bivlc-choose", "choose", settings={**once, "carries": "negative"})
    then = StagePlan("bivlc-disambiguate", "fits", source="choose", apart_from=[], settings=once)
    made = studies.study(items=3, stages=[first, then])
    for position, answers in ((1, ("candidate-0", "candidate-0", "none")), (2, ("both", "positive-0"))):
        for answer in answers:
            assert studies.judgment(studies.annotator(made), made.stages.get(position=position), answer)
    for address in (reverse("study-list"), reverse("study-detail", args=[made.pk])):
        assert "33.3%" in client.get(address).text, address
    (tile, *_) = overview_page.contents(permissions.study_for(manager, made.pk), manager)["tiles"]
    assert (tile.label, tile.value, tile.basis) == (
        "Valid items",
        "33.3%",
        "3 of 3 items settled · 2 of 2 stages settled",
    )


def test_without_a_study_it_leads_to_the_first(client, manager):
    first = client.get(reverse("study-list")).text
    assert "Import a benchmark<" in first and "create_demo" in first
    studies.benchmark(items=1)
    then = client.get(reverse("study-list")).text
    assert "Import a benchmark<" not in then and [page.count("button primary") for page in (first, then)] == [1, 1]


def test_studies_are_grouped_by_whom_they_wait_for(client, manager, django_assert_max_num_queries):
    waits, goes, done = to_decide(), study("none"), over()
    studies.annotator(goes)  # who can judge what the first cannot
    needs, running, over_ = "Needs you", "Nothing to do now", "Done"
    with django_assert_max_num_queries(30):
        assert listed(client) == [(needs, [done, waits]), (running, [goes])]
    lifecycle.move_study(study=done, to="closed", by="test")
    assert listed(client) == [(needs, [waits]), (running, [goes]), (over_, [done])]
    assert "New release" in client.get(reverse("study-list")).text
    releases.by_hand(done, "1.0")
    assert listed(client)[-1] == (over_, [done])
    page = client.get(reverse("study-list")).text
    assert 'class="chip released">released 1.0<' in page.replace(" <", "<") and "New release" not in page
    lifecycle.move_study(study=done, to="open", by="test")
    assert listed(client) == [(needs, [waits]), (running, [goes]), (over_, [done])]
    assert listed(client, state="running") == [(running, [goes])]


def test_the_list_is_searched_sorted_and_paged(client, manager, monkeypatch):
    monkeypatch.setattr(home_page, "PAGE", 2)
    first, second, third = (studies.study(items=1, name=name) for name in ("b one", "A two", "c"))
    Study.objects.filter(pk=third.pk).update(benchmark=first.benchmark)
    assert listed(client, **{"studies-sort": "name"}) == [("Needs you", [second, first])]
    assert listed(client, **{"studies-sort": "name", "page": 2}) == [("Needs you", [third])]
    assert listed(client, q="TWO") == [("Needs you", [second])]
    assert {*listed(client, q=first.benchmark.name)[0][1]} == {first, third}
    page = client.get(reverse("study-list"), {"q": "no such", "state": "needs"}).text
    assert "No studies match" in page and "q=no+such&amp;state=done" in page


def test_an_archived_study_is_out_of_the_list_and_changes_in_nothing_else(client, manager):
    made = to_decide()
    before = Study.objects.values().get()
    archive = reverse("study-archive", args=[made.pk])
    for _ in range(2):
        assert client.post(archive).status_code == 302
    assert listed(client) == [] and listed(client, state="archived") == [("Archived", [made])]
    page = client.get(reverse("study-list"), {"state": "archived"}).text
    assert "Decide" not in page and "Needs you <span>0</span>" in collapsed(page)
    assert Study.objects.values().get() == before | {"archived": True}
    client.post(archive, {"to": "list"})
    assert listed(client) == [("Needs you", [made])]
    assert [event.verb for event in Event.objects.filter(subject=f"study:{made.pk}").order_by("pk")][-2:] == [
        "archived", "took out of the archive",
    ]  # fmt: skip


def test_a_row_has_the_result_so_far_and_the_last_judgment(client, manager):
    study("candidate-0", "none", "candidate-0", "none")
    page = collapsed(client.get(reverse("study-list")).text)
    assert '<b><data value="0.5">50.0' in page and "of 2 items" in page
    last = Judgment.objects.latest("pk").created_at
    assert listed(client)[0][1][0].last_judgment == last and last.isoformat() in page


def test_a_viewer_has_no_steps(client):
    made, viewer = study("none"), User.objects.create_user("vera", is_staff=True)
    members.add(study=made, user=viewer, role=Role.VIEWER, by="test")
    client.force_login(viewer)
    assert listed(client) == [("Nothing to do now", [made])]
    page = client.get(reverse("study-list")).text
    assert "step-of-" not in page and 'value="archive"' not in page


def test_the_list_tells_who_joined_from_who_judged(client, manager):
    made = study("none")
    studies.annotator(made)
    page = client.get(reverse("study-list")).text
    assert '2 joined<span class="sub">1 judged</span>' in page


def test_the_invite_step_leads_to_the_box_with_the_link_and_says_who_cannot_open_it(client, manager):
    study()
    page = client.get(step_of(client).step.url).text
    assert 'id="invite"' in page and "This link opens only in your own network" in collapsed(page)


def test_who_has_a_sign_comes_before_what_is_to_decide_until_a_manager_decides(client, manager):
    made = to_decide()
    first = made.stages.get(position=1)
    data = annotator_figures.annotators(first) | {"look": [1]}
    data["whole"][0]["signs"] = [{"kind": "comprehension", "stage": 1, "words": "failed it twice"}]
    CachedFigures.objects.create(stage=first, kind=annotator_figures.KIND, state="", data=data, seconds=0)
    step = step_of(client)
    assert step.step.title == "Look at A-01" and step.undecided == 1
    own = overview_page.contents(permissions.study_for(manager, made.pk), manager)["next"].step
    assert own.sentence == f"Failed it twice. {step.step.sentence}"
    participants.keep(annotator=made.annotators.get(number=1), reason="Looked at it", by="test")
    step = step_of(client)
    assert step.step.title == "Decide 1 item by hand"
