"""The pages of items: what the list finds, what an item's page tells of every stage, and for whom."""

import html
import re

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.adjudication import decisions
from annotation.models import Flag, Judgment, Kind, Outcome, Role, Study, Task
from annotation.pipeline import item_results
from annotation.protocols.registry import PROTOCOLS
from annotation.studies import members
from annotation.wording import readable_label
from benchmarks.models import Caption, Item
from tests.builders import crowds, declared, own_roles, pipelines, text_items
from tests.collapsed import collapsed

pytestmark = pytest.mark.usefixtures("savepoint")


@pytest.fixture(scope="module")
def built(module_world) -> Study:
    return pipelines.pipeline(crowds.benchmark(24))


@pytest.fixture
def study(built) -> Study:
    return Study.objects.get(pk=built.pk)


def address(study: Study, **query) -> str:
    return reverse("study-items", args=[study.pk], query=query)


def page_of(study: Study, item: Item) -> str:
    return reverse("study-item", args=[study.pk, item.position])


def listed(client, study: Study, **query) -> list[int]:
    """The positions of the items in the list, of all its pages."""
    found, where = [], address(study, **query)
    while where:
        page = client.get(where).text
        found += map(int, re.findall(rf"/studies/{study.pk}/items/(\d+)/", page))
        later = re.search(r'rel="next" href="([^"]*)"', page)
        where = later and html.unescape(address(study) + later[1])
    return found


def seen(client, study: Study, item: Item) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub("</?mark>", "", client.get(page_of(study, item)).text)))


# The list


def test_the_list_has_every_item_once_in_its_order_on_all_pages(client, manager, study, monkeypatch):
    monkeypatch.setattr("annotation.dashboard.item_views.PAGE", 9)
    items = list(study.benchmark.items.order_by("position"))
    assert listed(client, study) == [item.position for item in items]
    assert listed(client, study, sort="key") == [item.position for item in study.benchmark.items.order_by("key")]
    assert listed(client, study, type="swap", subtype="att") == [
        item.position for item in items if (item.type, item.subtype) == ("swap", "att")
    ]


def test_items_of_a_question_for_a_number_are_sorted_by_their_mean_and_say_it(client, manager):
    fit = {"name": "fit", "kind": "scale", "points": 5, "not_applicable": "No text"}
    frame = {
        "winnow": "protocol/1", "name": "fits", "title": "Fits", "ask": "How well?", "instructions": "Look.",
        "item": {"images": {"picture": 1}}, "screen": [{"picture": "picture"}], "judgments": 2,
        "answers": [fit], "measure": {"fit": {"score": "mean"}},
    }  # fmt: skip
    said = [("3", "4"), ("cannot_judge", "not_applicable"), ("1", "2"), ("5", "cannot_judge")]
    stage = declared.judge(declared.of_file(frame, len(said)), 2, lambda task, who: said[task.item.position][who])
    assert listed(client, stage.study, sort="lowest") == [2, 0, 3, 1]
    assert listed(client, stage.study, sort="highest") == [3, 0, 2, 1]
    shown = collapsed(client.get(address(stage.study)).text)
    assert [mean for mean in ("3.50", "1.50", "5.00") if f"mean {mean}" in shown] == ["3.50", "1.50", "5.00"]
    assert shown.count(", mean ") == 3


def test_a_search_reads_keys_and_captions_and_takes_no_character_for_a_wildcard(client, manager, study):
    first, second, third = study.benchmark.items.order_by("position")[:3]
    Item.objects.filter(pk=first.pk).update(key="sub/Key 100%?#&")
    Caption.objects.filter(item=second, role="negative").update(text="Two <b>CUPS</b> at 50%.")
    for text, wanted in (("key 100%", [first]), ("cups</B>", [second]), ("50%", [second]), ("_", [])):
        assert listed(client, study, q=text) == [one.position for one in wanted], text
    assert listed(client, study, q="sub/Key 100%?#&", outcome="absent") == []
    leads = client.get(address(study, key="sub/Key 100%?#&"))
    assert leads.url == page_of(study, first)
    assert client.get(address(study, key="nothing")).status_code == 404
    assert "sub/Key 100%?#&" in seen(client, study, first) and f">{third.key}<" not in seen(client, study, first)


@pytest.mark.parametrize("position", [1, 2])
def test_the_outcome_is_that_of_the_stage(client, manager, study, position):
    stage = study.stages.get(position=position)
    results = {Item.objects.get(pk=item).position: result for item, result in item_results.results(stage).items()}
    by_state = {state: {one for one, result in results.items() if result.state == state} for state in ("kept", "open")}
    dropped = {reason: set() for reason in {result.reason for result in results.values()} - {""}}
    for one, result in results.items():
        dropped.get(result.reason, set()).add(one)
    assert by_state["kept"] and len(dropped) > 0
    for outcome, wanted in {**by_state, **dropped}.items():
        assert set(listed(client, study, stage=position, outcome=outcome)) == wanted, outcome
    assert set(listed(client, study, stage=position, outcome="dropped")) == set().union(*dropped.values())
    shown = client.get(address(study)).text
    for reason in dropped:
        assert f'<span class="chip failed">dropped: {readable_label(reason)}<' in shown
    everything = set(study.benchmark.items.values_list("position", flat=True))
    assert set(listed(client, study, stage=position, outcome="absent")) == everything - set(results)


def test_over_all_stages_every_item_has_one_outcome(client, manager, study):
    """The first stage dropped it and the second took it in for that reason: it is dropped, not open."""
    taken = Task.objects.filter(stage__study=study, stage__position=2, live=True, decided=None).first()
    first = Outcome.objects.get(task__item=taken.item, task__stage__position=1, task__live=True)
    Outcome.objects.filter(pk=first.pk).update(state="dropped", reason="cannot_judge")
    found = [set(listed(client, study, outcome=outcome)) for outcome in ("kept", "dropped", "open", "absent")]
    assert sum(map(len, found)) == len(set.union(*found)) == study.benchmark.items.count()
    assert taken.item.position in found[1]


def test_what_is_not_known_is_ignored_and_what_finds_nothing_says_so(client, manager, study):
    assert len(listed(client, study, stage="x", outcome="odd", sort="-", page="x")) == 25
    page = client.get(address(study, q="<script>")).text
    assert "No item matches." in page and "<script>" not in page.split("<form")[-1]


# One item


def test_an_item_s_page_tells_every_stage_of_it(client, manager, study):
    task = Task.objects.filter(stage__study=study, decided__by="adjudicator").first()
    page = seen(client, study, task.item)
    for caption in task.item.captions.all():
        assert caption.text in page
    given = Judgment.objects.filter(lease__task__item=task.item, lease__task__stage__study=study)
    for judgment in given.select_related("lease__annotator"):
        assert judgment.lease.annotator.pseudonym in page
    assert "kept (image 2)" in page and "by an adjudicator" in page and "“It is all there.”" in page
    assert page.count('<div class="asked">') == task.item.tasks.filter(stage__study=study).count()


@pytest.mark.parametrize(
    ("change", "fate"),
    [
        ({"counted_on__isnull": False}, "counts"),
        ({"withdrawn": True}, "taken back"),
        ({"surplus": True, "counted_on": None, "lease__annotator__excluded_at": None}, "too late"),
        (
            {"lease__annotator__excluded_at__isnull": False, "counted_on": None, "withdrawn": False},
            "annotator excluded",
        ),
    ],
)
def test_every_answer_has_its_status(client, manager, study, change, fate):
    judgment = Judgment.objects.filter(lease__task__stage__study=study, lease__task__kind="judge", **change).last()
    assert f">{fate}</td>" in seen(client, study, judgment.lease.task.item)


def test_an_earlier_round_and_an_item_that_no_stage_took(client, manager, study):
    earlier = Task.objects.filter(stage__study=study, live=False, kind="judge").first()
    page = seen(client, study, earlier.item)
    assert page.index("round 2") < page.index("no longer in the stage")
    nowhere = study.benchmark.items.order_by("position").last()
    assert seen(client, study, nowhere).count("This item has not been in this stage.") == study.stages.count()


def test_flags_and_decisions_are_told_with_who_and_why(client, manager, study):
    stage = study.stages.get(position=1)
    task = stage.tasks.filter(kind=Kind.JUDGE, live=True, decided__by="only_answer").first()
    task.stage = stage
    lease = task.leases.filter(judgments__isnull=False).first()
    Flag.objects.create(lease=lease, reason="The cup is <cut>.")
    about = {"task": task, "by": f"user:{manager.pk}", "adjudicator": manager, "answer": "none", "blind": True}
    decisions.decide(**about, seen=decisions.seen(task), note="No image has it.")
    page = seen(client, study, task.item)
    assert f"flagged by {lease.annotator.pseudonym}" in page and "“The cup is <cut>.”" in page
    assert "adjudicated by ana" in page and "answers hidden" in page and "dropped: no image fits (None)" in page
    assert f'href="{reverse("study-adjudicate", args=[study.pk])}?stage=1&task={task.pk}"' in page


def test_a_viewer_sees_no_right_answer(client, manager, study):
    check = Task.objects.get(stage__study=study, kind=Kind.CHECK)
    assert "correct answer: None" in seen(client, study, check.item)
    viewer = User.objects.create_user("viewer", is_staff=True)
    members.add(study=study, user=viewer, role=Role.VIEWER, by="test")
    client.force_login(viewer)
    page = seen(client, study, check.item)
    assert "correct answer" not in page and "attention check" not in page and "Decide" not in page


@pytest.mark.parametrize("position", [25, 10**12])
def test_an_item_that_is_not_there_is_404(client, manager, study, position):
    assert client.get(reverse("study-item", args=[study.pk, position])).status_code == 404


def test_edits_are_told_with_their_words_and_confirmations_by_name(client, manager):
    stage = text_items.stage(text_items.PARAPHRASE)
    text_items.edits(stage, "A cat naps on a mat.")
    author = Judgment.objects.latest("pk")
    text_items.picks(stage, f"edit-{author.pk}")
    page = seen(client, stage.study, author.lease.task.item)
    assert "A cat naps on a mat." in page and "edit-A-01-1-1" in page and f"edit-{author.pk}<" not in page


# Roles of the user's own


def test_roles_and_attributes_of_the_users_own_are_shown_by_name(client, manager, tmp_path, settings, monkeypatch):
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    monkeypatch.setitem(PROTOCOLS, "verify", own_roles.protocol())
    study = own_roles.study(tmp_path / "in")
    preference, questions, options = study.benchmark.items.order_by("position")
    page = seen(client, study, preference)
    assert "<dt>prompt</dt>" in page and page.index(">picture 1<br>") < page.index(">picture 2<br>")
    assert "model: model-3 · seed: 3" in page and 'data-role="prompt"' in page
    page = seen(client, study, questions)
    assert "<dt>question 1</dt>" in page and "kind: colour · parents: 1" in page
    page = seen(client, study, options)
    assert page.index("<dt>first answer</dt>") < page.index("<dt>question</dt>") < page.index("second answer")
    assert "changed: true" in page
    for where in (address(study), reverse("benchmark-detail", args=[study.benchmark_id])):
        assert "first answer" in client.get(where).text
    items = client.get(f"/api/v1/benchmarks/{study.benchmark_id}/items/").json()["results"]
    assert [part["attributes"] for part in items[1]["captions"]] == [{}, {"parents": [1], "kind": "colour"}]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("picture-0", "picture"), ("picture-2", "picture 3"), ("caption-question-0", "question"),
        ("caption-first_answer-1", "first answer 2"), ("caption-negative-1", "hard negative 2"),
        ("candidate-2", "image 3"), ("positive-0", "positive image"), ("edit-7", "somebody’s edit"),
    ],
)  # fmt: skip
def test_identities_in_words(name, words):
    assert readable_label(name) == words
