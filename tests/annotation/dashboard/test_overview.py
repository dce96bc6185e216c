"""A study's overview: the rail of its places, the numbers at the top with their sentences, what happened lately."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotation import permissions
from annotation.adjudication import decisions
from annotation.checks import setup as checks_setup
from annotation.dashboard import headline_tiles, lately, overview_page, rail, stage_progress
from annotation.dashboard.agreement_words import agreement_in_words
from annotation.figures import annotators
from annotation.judging import submissions
from annotation.models import CachedFigures, Flag, Lease, Role, Stage, Study
from annotation.participants import lifecycle as participants
from annotation.studies import lifecycle as study_lifecycle
from annotation.studies import members
from annotation.urls import MOVED
from benchmarks import audit
from tests.builders import crowds, pipelines, studies
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db


def agreed(percent: float | None, alpha: float | None, **views: float) -> dict:
    """On the answer, or on the last of other `views` by their percent agreement."""

    def found(value):
        return {"value": value, "low": None, "high": None, "n": 60, "note": ""}

    measures = {"percent": found(percent), "ac1": found(0.72), "alpha_nominal": found(alpha)}
    seen = {"answer": measures} | {on: {"percent": found(value)} for on, value in views.items()}
    return {"by_type_on": [*seen][-1], "agreement": [{"on": on, "measures": of} for on, of in seen.items()]}


SAME = "of all answers are the same"


@pytest.mark.parametrize(
    ("alpha", "shares", "words", "basis", "doubtful"),
    [
        (
            0.08, [0.88, 0.12],
            f"That is no more than chance gives: 88.0% {SAME}, so 79% would match by chance. "
            "Look at the tasks on which people differ.",
            "α 0.08 · AC1 0.72 · 60 items", True,
        ),
        (0.3, [0.8, 0.2], f"About 68% would match by chance, since 80.0% {SAME}.",
         "α 0.30 · AC1 0.72 · 60 items", False),
        (0.08, [0.5, 0.5], "That is hardly more than chance would give.", "α 0.08 · 60 items", True),
        (-0.28, [0.5, 0.5], "That is less than chance would give.", "α −0.28 · 60 items", True),
        (0.7, [0.5, 0.5], "", "α 0.70 · 60 items", False),
        (None, [0.5, 0.5], "", "", False),
    ],
)  # fmt: skip
def test_agreement_is_said_in_words_that_follow_from_the_numbers(alpha, shares, words, basis, doubtful):
    said = agreement_in_words(agreed(0.80, alpha), shares)
    assert said.lead == "Two people give the same answer on 80.0% of the items"
    assert (said.rest, said.basis, said.doubtful) == (words, basis, doubtful)


def test_the_sentence_names_the_view_of_the_answers_and_gives_the_share_of_equal_answers_too():
    said = agreement_in_words(agreed(0.6, 0.5, fit=0.917), [0.5, 0.5])
    assert (said.share, said.lead) == (
        "91.7%", "Two people agree on “fit” for 91.7% of the items, and give the same answer on 60.0%",
    )  # fmt: skip
    assert agreement_in_words(agreed(0.91, 0.5, fit=0.917), [0.5, 0.5]).lead.endswith("91.7% of the items")


def test_without_two_judgments_of_an_item_nothing_is_said_of_agreement():
    assert agreement_in_words(agreed(None, None), [0.5, 0.5]) is None


def row(name: str, value: float, **more) -> dict:
    return {"name": name, "value": value, "n_items": 300, **more}


def apart(first: str, second: str, low: float, high: float) -> dict:
    return {"first": first, "second": second, "over": "items", "these_low": low, "these_high": high}


def whole(value: float) -> dict:
    return {"value": value, "over": "items", "these_low": 3.76, "these_high": 3.88, "n_items": 1200}


SCORE = {
    "answer": "fit", "ask": "How well does it fit?", "score": "mean", "is_share": False, "from": 1, "to": 5,
    "whole": whole(3.82), "by": {}, "by_type": [], "differences": {},
}  # fmt: skip
GENERATORS = [row("A", 3.34), row("B", 3.81), row("C", 4.21)]
DIFFERENCES = [apart("A", "B", -0.6, -0.2), apart("A", "C", -1.0, -0.5), apart("B", "C", -0.5, 0.1)]
BY_MODEL = {"by": {"generator": GENERATORS}, "differences": {"generator": DIFFERENCES}}
TYPES = [{**whole(3.2), "type": "swap", "subtype": ""}, {**whole(4), "type": "add", "subtype": "obj", "n_items": 2}]
RANKED = {"over": "model", "rows": [row("C", 1.2), row("A", 2.4)]}


@pytest.mark.parametrize(
    ("scores", "tile"),
    [
        ({"answers": [SCORE | BY_MODEL]},
         ("4.21", "C; A comes last with 3.34", "B and C cannot be told apart.", "3 generators, 300 items each")),
        ({"answers": [SCORE | {"by_type": TYPES}]},
         ("4.00", "added object (2); swapped comes last with 3.20 (1,200)", "", "2 types, 2–1,200 items each")),
        ({"mean_ranks": [RANKED]}, ("1.20", "C; A comes last with 2.40", "", "2 models, 300 items each")),
        ({"strengths": [{"over": "model", "rows": GENERATORS, "differences": DIFFERENCES[:1] + DIFFERENCES[2:] * 2}]},
         ("4.21", "C; A comes last with 3.34", "2 of 3 pairs cannot be told apart.", "3 models, 300 items each")),
    ],
)  # fmt: skip
def test_scores_say_which_is_ahead_and_which_behind(scores, tile):
    """Of mean ranks the lowest is the best."""
    tiles = list(headline_tiles._scores({"answers": [], "strengths": [], "mean_ranks": [], **scores}))
    assert (tiles[-1].value, tiles[-1].lead, tiles[-1].rest, tiles[-1].basis) == tile


def judged_study() -> Study:
    return crowds.stage(items=12, people=3, overlap=2).study


@pytest.fixture
def judged() -> Study:
    return judged_study()


@pytest.mark.parametrize("name", ["study-detail", "study-stage"])
@pytest.mark.parametrize("closed", [False, True])
def test_a_page_of_a_small_study_takes_at_most_thirty_queries(
    client, manager, django_assert_max_num_queries, closed, name
):
    """Flags take three more, and audits and estimates several."""
    made = crowds.stage(items=12, people=3).study
    Flag.objects.all().delete()
    if closed:
        study_lifecycle.move_study(study=made, to="closed", by="test")
    address = reverse(name, args=[made.pk, *([1] if name == "study-stage" else [])])
    client.get(address)
    with django_assert_max_num_queries(30):
        client.get(address)


def test_a_fresh_study_shows_one_thing_to_do_and_no_zeros(client, manager):
    made = studies.study(items=2)
    page = collapsed(client.get(reverse("study-detail", args=[made.pk])).text)
    assert "Waiting for annotators" in page and 'class="tile"' not in page and "blocked" not in page
    assert page.count('class="primary"') + page.count("button primary") == 1


def test_at_most_four_numbers_stand_at_the_top_each_with_its_sentence(client, manager, judged):
    shown = overview_page.contents(permissions.study_for(manager, judged.pk), manager)
    assert [tile.label for tile in shown["tiles"]] == ["Valid items", "People agree", "Settled", "Time and pay"]
    assert all(tile.lead for tile in shown["tiles"])
    page = client.get(reverse("study-detail", args=[judged.pk])).text
    assert page.count('class="tile"') == 4
    again = client.get(reverse("study-detail", args=[judged.pk]), {"seen": shown["seen"]})
    assert again.status_code == 204
    studies.judgment(studies.annotator(judged), judged.stages.get())
    assert client.get(reverse("study-detail", args=[judged.pk]), {"seen": shown["seen"]}).status_code == 200


def test_items_that_nobody_is_asked_about_are_no_dropped_ones(client, manager):
    """Of five, a sample of two is asked, and one of these is dropped."""
    stage = studies.stage(items=5, overlap=1, sample=2)
    for answer in ("candidate-0", "none"):
        assert studies.judgment(studies.annotator(stage.study), stage, answer)
    shown = overview_page.contents(permissions.study_for(manager, stage.study_id), manager)
    assert (shown["tiles"][0].value, shown["tiles"][0].basis) == ("50.0%", "2 of 2 items settled")
    assert [(part.kind, part.items) for part in shown["parts"]] == [
        ("kept", 1), ("dropped", 1), ("not_asked", 3),
    ]  # fmt: skip


def test_the_parts_of_all_items_add_up_to_what_the_next_step_counts(client, manager):
    """An item that has an outcome and is flagged waits in the same queue; it is a part by its outcome."""
    stage = studies.stage(items=3, overlap=2, tie_rule="adjudicate")
    for answers in (("candidate-0", "none"), ("candidate-0", "candidate-1")):
        person = studies.annotator(stage.study)
        for answer in answers:
            studies.judgment(person, stage, answer)
    Flag.objects.create(lease=Lease.objects.filter(task__decided__state="kept").latest("pk"), reason="Odd.")
    shown = overview_page.contents(permissions.study_for(manager, stage.study_id), manager)
    assert {part.kind: part.items for part in shown["parts"]} == {"kept": 1, "dropped": 0, "waiting": 1, "open": 1}
    assert shown["whole"]["flagged"] == 1 and shown["next"].undecided == 2
    assert "1 more item has open flags" in collapsed(client.get(reverse("study-detail", args=[stage.study_id])).text)


@pytest.mark.parametrize(
    ("counts", "shares"),
    [((6859, 373, 42, 237), ["91.3%", "5.0%", "0.6%", "3.2%"]), ((7, 4, 0, 1), ["58.3%", "33.3%", "8.3%"]),
     ((0, 0, 0, 0), ["0.0%", "0.0%"])],
)  # fmt: skip
def test_the_share_of_a_part_is_its_own_rounded(counts, shares):
    kept, dropped, waiting, going = counts
    whole = {"kept": kept, "dropped": dropped, "waiting": waiting, "open": waiting + going, "imported": sum(counts)}
    whole |= {"not_asked": 0, "reasons": [], "not_asked_in": []}
    assert [part.share.split(">")[1].split("<")[0] for part in stage_progress.parts_of(whole)] == shares


@pytest.mark.parametrize(
    ("state", "entered", "still_open", "words"),
    [
        ("open", 0, 0, "waiting"),
        ("open", 4, 1, "being judged"),
        ("open", 4, 0, "all judged"),
        ("closed", 4, 1, "closed"),
    ],
)
def test_a_stage_says_what_it_is_at(state, entered, still_open, words):
    whole = {"stages": [{"stage": 1, "entered": entered, "open": still_open}], "measuring": []}
    assert stage_progress.progress(Stage(position=1, state=state), whole)["words"] == words


PLACES = {
    "study-detail": "Overview", "study-stages": "Stages", "study-items": "Items", "study-annotators": "People",
    "study-agreement": "Quality", "study-disagreements": "Quality", "study-results": "Results",
    "study-report": "Results", "release-list": "Results", "study-settings": "Settings", "study-members": "Settings",
}  # fmt: skip


@pytest.mark.parametrize(("name", "place"), PLACES.items())
def test_the_rail_marks_the_place_of_each_page(client, manager, judged, name, place):
    page = collapsed(client.get(reverse(name, args=[judged.pk]), follow=True).text)
    (here,) = [part for part in page.split('<a class="go"')[1:] if "aria-current" in part.split(">")[0]]
    assert here.split(">")[1].split("<")[0].strip() == place


@pytest.mark.parametrize(
    ("name", "place", "part"),
    [
        ("study-members", [], "Members"),
        ("study-instructions", [], "Judgments and rule"),
        ("study-checks", [1], "Checks and practice"),
        ("study-delete", [], "Close or delete"),
        ("release-new", [], "Releases"),
    ],
)
def test_the_rail_marks_the_part_that_a_page_is_in(client, manager, judged, name, place, part):
    page = collapsed(client.get(reverse(name, args=[judged.pk, *place])).text)
    assert f'aria-current="page">{part}</a>' in page.split('class="rail"')[1].split("</nav>")[0]


@pytest.mark.parametrize("of", ["fresh", "judged", "signs", "stages"])
def test_the_rail_takes_at_most_four_queries(rf, manager, django_assert_max_num_queries, of):
    """However far the study is; annotators with signs are found in the query of the study."""
    made = {"fresh": studies.study, "stages": pipelines.pipeline}.get(of, judged_study)()
    if of == "signs":
        found = {"stage": made.stages.get(), "kind": annotators.KIND, "made_at": timezone.now()}
        CachedFigures.objects.create(**found, data={"look": [2]}, state="", seconds=0)
    request = rf.get("/")
    request.user = manager
    study = permissions.study_for(manager, made.pk)
    with django_assert_max_num_queries(4):
        shown = rail.rail(request, study)
    assert [link["count"] for link in shown["links"][1:3]] == [study.stages.count(), study.benchmark.items.count()]
    assert shown["links"][3]["waits"] == ("1 to look at" if of == "signs" else "")


def test_a_viewer_has_no_settings_and_no_next_step(client, judged):
    viewer = User.objects.create_user("vera", is_staff=True)
    members.add(study=judged, user=viewer, role=Role.VIEWER, by="test")
    client.force_login(viewer)
    page = client.get(reverse("study-detail", args=[judged.pk])).text
    assert "Settings" not in page and "Next step" not in page and "Invite" not in page


@pytest.mark.parametrize("number", range(len(MOVED)))
def test_an_earlier_address_leads_to_the_place_of_today(client, manager, judged, number):
    route = str(MOVED[number].pattern).replace("<int:pk>", str(judged.pk))
    path = route.replace("<int:number>", "1").replace("<int:position>", "1")
    answer = client.get(f"/{path}?stage=1")
    assert answer.status_code == 301 and answer.url.endswith("?stage=1")
    assert client.get(answer.url).status_code in (200, 404)  # 404: figures that are still being computed


def test_the_stage_in_the_address_of_the_study_leads_to_the_stage(client, manager, judged):
    answer = client.get(reverse("study-detail", args=[judged.pk]), {"stage": 1})
    assert answer.url == reverse("study-stage", args=[judged.pk, 1])


def test_what_happened_lately_is_said_once_and_newest_first(judged):
    person = judged.annotators.get(number=2)
    participants.leave(annotator=person, by="test")
    participants.exclude(annotator=person, reason="Bot", by="test")
    study_lifecycle.move_stage(stage=judged.stages.get(), to="closed", by="test")
    audit.record(by="worker", verb="exported", subject=judged)  # a release's, which is no export in the list
    assert [one.words for one in lately.events(lately.parts_of(judged))][:4] == [
        "test closed stage 1", "test excluded A-02", "A-02 left the study", "3 annotators joined",
    ]  # fmt: skip


def test_decisions_by_hand_flags_and_checks_are_among_what_happened_lately(judged):
    lease = Lease.objects.filter(task__stage__study=judged).select_related("task", "annotator").first()
    submissions.flag(annotator=lease.annotator, token=lease.token, reason="Odd")
    decisions.decide(task=lease.task, by="test", seen=decisions.seen(lease.task), note="No cup.", answer="none")
    checks_setup.revise(stage=judged.stages.get(), by="test", check_rate=0.1)
    assert [one.words for one in lately.events(lately.parts_of(judged))][:3] == [
        "test changed the checks of stage 1",
        "test decided 1 item by hand",
        f"{lease.annotator.pseudonym} flagged 1 item",
    ]
