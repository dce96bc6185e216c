"""The page of adjudication: what it shows and what it keeps from the adjudicator, its buttons, who may see it."""

import html
import re

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.adjudication import cases, decisions
from annotation.assignment import leases as assignment_leases
from annotation.judging import submissions
from annotation.models import Flag, Outcome, Task
from annotation.protocols.answer_words import fixed_choices
from annotation.protocols.registry import PROTOCOLS
from annotation.screens import read_answer
from benchmarks.models import Event, Image, ItemImage
from tests.builders import studies

pytestmark = pytest.mark.django_db
LAST_REASON = "s"  # the key that fills in the adjudicator's last reason


def tied(items=1, answers=("none", "candidate-1"), **settings):
    """A stage whose every task has these answers, one of each annotator."""
    study = studies.study(items=items, **{"overlap": len(answers), "tie_rule": "adjudicate", **settings})
    stage = study.stages.select_related("study").get()
    for answer in answers:
        person = studies.annotator(study)
        while studies.judgment(person, stage, answer, reason="The left one is black."):
            pass
    return stage


def url(stage, **query) -> str:
    asked = "&".join(f"{name}={value}" for name, value in {"stage": stage.position, **query}.items())
    return f"{reverse('study-adjudicate', args=[stage.study_id])}?{asked}"


def fields(page: str) -> dict[str, str]:
    """What a browser would send with the form as it stands."""
    form = page.partition('id="decision"')[2]
    return dict(
        re.findall(r'<input type="hidden" name="(task|seen|next)" value="([^"]*)"', form.partition("</form>")[0])
    )


def post(client, page: str, stage, **said):
    return client.post(url(stage), {**fields(page), **said})


def test_the_item_who_said_what_and_the_reasons_are_there_and_not_which_option_is_which(client, manager):
    stage = tied(answers=("none", "candidate-1", "candidate-1", "cannot_judge"), tie_rule="adjudicate")
    task = Task.objects.get()
    page = client.get(url(stage, task=task.pk)).text
    assert task.item.captions.get(role="negative").text in page
    assert page.count('class="option') == 4 + 1 + 1 + 1  # images, None, cannot judge, broken
    who = [re.findall(r"<b>(A-\d+)</b>", votes) for votes in re.findall(r'class="votes">(.*?)</small>', page, re.S)]
    assert sorted(who) == [[], [], [], ["A-01"], ["A-02", "A-03"], ["A-04"]]
    assert "The left one is black." in page
    for secret in ("candidate-", *ItemImage.objects.values_list("source_name", flat=True)):
        assert secret not in page


def test_a_video_can_be_played_before_it_is_decided(client, manager):
    stage = tied()
    Image.objects.update(format="WEBM")
    page = client.get(url(stage)).content.decode()
    offered = Image.objects.filter(uses__role="candidate")
    assert page.count("<video ") == page.count("controls playsinline muted") == len(offered) and "autoplay" not in page
    assert all(f'src="{image.address}"' in page for image in offered)


def test_what_was_said_of_it_is_escaped(client, manager):
    stage = tied()
    lease = Task.objects.get().leases.first()
    submissions.flag(annotator=lease.annotator, token=lease.token, reason="<script>alert(1)</script>")
    page = client.get(url(stage)).text
    assert "<script>alert" not in page and "&lt;script&gt;alert" in page


def test_a_decision_brings_the_next_item_at_once(client, manager):
    stage = tied(items=3)
    order = [pk for pk, _ in cases.queue(stage)]
    page = client.get(url(stage)).text
    assert fields(page)["task"] == str(order[0])
    answer = post(client, page, stage, do="decide", verdict="none", note="No image has it.")
    after = client.get(answer.url).text
    assert "Decided: dropped, no image fits." in after and fields(after)["task"] == str(order[1])
    found = Outcome.objects.get()
    assert (found.task_id, found.outcome, found.adjudicator, found.note) == (
        order[0],
        "none",
        manager,
        "No image has it.",
    )


def test_later_goes_round_and_decides_nothing(client, manager):
    stage = tied(items=3)
    seen, page = [], client.get(url(stage)).text
    for _ in range(4):
        seen.append(fields(page)["task"])
        page = client.get(re.search(r'href="([^"]*)" id="later"', page)[1].replace("&amp;", "&")).text
    assert len(set(seen[:3])) == 3 and seen[3] == seen[0] and not Outcome.objects.exists()


def test_the_place_that_is_picked_is_the_image_that_stood_there(client, manager):
    stage = tied()
    task = Task.objects.get()
    page = client.get(url(stage)).text
    opaque = {use.key: use.image.opaque for use in task.item.item_images.all()}
    shown = re.findall(r'name="verdict" value="(\d)"[^/]*/i/([0-9a-f]{32})', page)
    assert [opaque[cases.options_in_order(task)[int(place) - 1]] for place, _ in shown] == [name for _, name in shown]
    post(client, page, stage, do="decide", verdict="3", note="It fits.")
    assert Outcome.objects.get().outcome == cases.options_in_order(task)[2]


def test_broken_material_is_dropped(client, manager):
    stage = tied()
    post(client, client.get(url(stage)).text, stage, do="decide", verdict="flagged", note="Cut in half.")
    assert Outcome.objects.get().reason == "flagged"


def test_what_is_no_decision_is_said_and_the_reason_kept(client, manager):
    stage = tied()
    page = client.get(url(stage)).text
    for verdict, note, words in (
        ({"verdict": "1"}, " ", "Give a reason of at least two characters"),
        ({"verdict": "1"}, "s", "Give a reason of at least two characters"),  # a key of the page
        ({}, "So.", "Pick one of the answers"),
        ({"verdict": "9"}, "So.", "Pick one of the answers"),
        ({"verdict": "candidate-0"}, "So.", "Pick one of the answers"),
    ):
        answer = post(client, page, stage, do="decide", note=note, **verdict)
        assert (
            answer.status_code == 422
            and f'href="#{"note" if words.startswith("Give") else "answers"}">{words}' in answer.text
        )
        assert f'name="note" value="{note}"' in answer.text and not Outcome.objects.exists()


def test_who_comes_second_is_told_and_sees_what_was_decided(client, manager):
    stage = tied()
    page = client.get(url(stage)).text
    other = {"task": Task.objects.get(), "by": "user:99", "seen": fields(page)["seen"]}
    decisions.decide(**other, answer="none", note="Nothing fits.")
    answer = post(client, page, stage, do="decide", verdict="1", note="It fits.")
    assert answer.status_code == 409 and "in the meantime" in answer.text and "Nothing fits." in answer.text
    assert Outcome.objects.get().outcome == "none"


def also(page: str) -> list[str]:
    return re.findall(r'name="also" value="([^"]*)"', page)


def test_cases_with_the_same_votes_are_decided_together_each_with_its_own_event(client, manager):
    """Options stand in another order on each; what changed in the meantime is left."""
    stage = tied(items=4, answers=("candidate-1", "none"))
    page = client.get(url(stage)).text
    more, front = also(page), fields(page)["task"]
    assert len(more) == 3 and front not in {one.partition(":")[0] for one in more}
    left = Task.objects.get(pk=more[0].partition(":")[0])
    decisions.send_back(task=left, by="user:99", seen=decisions.seen(left), note="Unclear.")
    place = cases.options_in_order(Task.objects.get(pk=front)).index("candidate-2") + 1
    answer = post(client, page, stage, do="decide", verdict=str(place), note="It has both.", also=more)
    assert "Decided 3 items; 1 case left, changed meanwhile" in client.get(answer.url).text
    decided = Outcome.objects.filter(by="adjudicator")
    assert {(one.outcome, one.note) for one in decided} == {("candidate-2", "It has both.")}
    assert Event.objects.filter(verb="adjudicated").count() == len(decided) == 3
    assert not decided.filter(task=left).exists()


def test_cases_with_other_votes_cannot_be_selected(client, manager):
    stage = tied(items=2, answers=("none",), overlap=2)
    person = studies.annotator(stage.study)
    for answer in ("candidate-1", "cannot_judge"):
        studies.judgment(person, stage, answer, reason="Dark.")
    page = client.get(url(stage)).text
    assert len(cases.queue(stage)) == 2 and also(page) == []


def test_the_last_decisions_are_undone_one_by_one(client, manager):
    stage = tied(items=3)
    order = [pk for pk, _ in cases.queue(stage)]
    for _ in order:
        post(client, client.get(url(stage)).text, stage, do="decide", verdict="none", note="No.")
    for task in reversed(order):
        page = client.get(url(stage)).text.partition('id="undo"')[0]
        undo = dict(re.findall(r'name="(task|seen)" value="([^"]*)"', page))
        assert undo["task"] == str(task)
        answer = client.post(url(stage), {**undo, "do": "undo"})
        assert f"task={task}" in answer.url and not Outcome.objects.filter(task=task).exists()
    assert 'id="undo"' not in client.get(url(stage)).text


def test_the_place_in_the_queue_counts_what_was_decided_and_what_waits(client, manager):
    stage = tied(items=3)
    assert ">1 of 3<" in client.get(url(stage)).text
    post(client, client.get(url(stage)).text, stage, do="decide", verdict="none", note="No.")
    page = client.get(reverse("study-adjudicate", args=[stage.study_id])).text
    assert ">2 of 3<" in page and page.count("aria-current") == 1


def test_what_was_decided_can_be_looked_up_and_withdrawn(client, manager):
    stage = tied()
    post(client, client.get(url(stage)).text, stage, do="decide", verdict="none", note="No.")
    end = client.get(url(stage)).text
    assert "Nothing is waiting" in end and 'class="rail"' in end
    page = client.get(url(stage, show="decided")).text
    assert "An adjudicator decided" in page and "“No.”" in page
    answer = client.post(url(stage, show="decided"), {**fields(page), "do": "withdraw"})
    assert "show=decided" in answer.url and not Outcome.objects.exists()


def test_flags_are_settled_with_the_decision_or_alone(client, manager):
    stage = tied()
    lease = Task.objects.get().leases.first()
    submissions.flag(annotator=lease.annotator, token=lease.token, reason="Odd")
    page = client.get(url(stage)).text
    assert "“Odd”" in page and 'name="settle_flags"' in page
    flag = Flag.objects.get()
    answer = post(client, page, stage, do="settle", flag=flag.pk)
    assert f"task={lease.task_id}" in answer.url
    flag.refresh_from_db()
    assert flag.settled_by == manager and not Outcome.objects.exists()
    Flag.objects.update(settled_at=None, settled_by=None)
    post(client, page, stage, do="decide", verdict="1", note="It fits.", settle_flags="1")
    assert Flag.objects.get().settled_by == manager


def test_the_last_reason_of_this_adjudicator_in_this_study_can_be_given_again(client, manager):
    stage, other = tied(items=2), tied()
    assert "same-reason" not in client.get(url(stage)).text
    post(client, client.get(url(stage)).text, stage, do="decide", verdict="none", note="Too dark & “blurred”.")
    page = client.get(url(stage)).text
    again = html.unescape(re.search(r'id="same-reason"[^>]*href="([^"]*)"', page)[1])
    assert 'data-reason="Too dark &amp; “blurred”."' in page
    repeated = client.get(again).text
    assert 'name="note" value="Too dark &amp; “blurred”."' in repeated
    assert fields(repeated)["task"] == fields(page)["task"]
    assert "same-reason" not in client.get(url(other)).text
    client.force_login(User.objects.create_superuser("eve", password="x"))
    assert "same-reason" not in client.get(url(stage)).text


def test_the_key_for_the_last_reason_is_no_answers_key():
    """Of the answers that the page offers; E and F are those of its own."""
    keys = [key for one in PROTOCOLS.values() for answer in fixed_choices(one) for key in answer.keys]
    assert LAST_REASON not in {*keys, "e", "f"} and not LAST_REASON.isdigit()
    script = (settings.BASE_DIR / "static/js/pages/adjudicate.js").read_text()
    page = (settings.BASE_DIR / "templates/adjudication/_reason.html").read_text()
    assert f'pressed === "{LAST_REASON}"' in script and f">{LAST_REASON.upper()}</kbd>{{% endif %}}" in page


COUNTS = ("votes 2–2", ">A-04</span>", "undecided")
HIDDEN = ("A-0", "nobody", "A tie", "The left one is black.")


def test_blind_no_answer_is_shown_until_the_decision_and_the_event_says_so(client, manager):
    stage = tied(items=2, answers=("none", "candidate-1", "candidate-1", "none"))
    listed = reverse("study-disagreements", args=[stage.study_id])
    assert all(words in client.get(listed).text for words in COUNTS)
    seen = client.get(url(stage)).text
    task = Task.objects.get(pk=fields(seen)["task"])
    back = client.post(url(stage), {"do": "hide_answers", "task": task.pk}).url
    page = client.get(back).text
    assert fields(page)["task"] == str(task.pk) and page.count('class="option') == 4 + 1 + 1 + 1
    assert page.count('<input type="hidden" name="blind" value="1">') == 1 and 'name="also"' not in page
    assert not [words for words in HIDDEN if words in page]
    assert not [words for words in COUNTS if words in client.get(listed).text]
    post(client, page, stage, do="decide", verdict="none", note="No image has it.", blind="1")
    assert Event.objects.get(verb="adjudicated").data["blind"] is True
    decided = client.get(url(stage, task=task.pk)).text
    assert "<b>A-04</b>" in decided and "answers hidden" in decided
    client.post(url(stage), {"do": "show_answers", "task": task.pk})
    shown = client.get(url(stage)).text
    assert "A tie" in shown
    post(client, shown, stage, do="send_back", note="Look again.")
    assert "blind" not in Event.objects.get(verb="sent back").data


def test_a_flag_of_another_item_is_not_settled_here(client, manager):
    here, there = tied(), tied()
    lease = there.tasks.get().leases.first()
    flag = submissions.flag(annotator=lease.annotator, token=lease.token, reason="Odd")
    assert post(client, client.get(url(here)).text, here, do="settle", flag=flag.pk).status_code == 422
    assert not Flag.objects.get().settled_at


def test_an_item_that_is_not_there_or_of_another_study_is_said(client, manager):
    stage, other = tied(), studies.stage()
    for task in ("x", "-1", "9" * 30, "999999", other.tasks.get().pk):
        assert "not in this stage." in client.get(url(stage, task=task)).text, task
        assert client.post(url(stage), {"task": task, "do": "decide"}).status_code == 409, task


@pytest.mark.parametrize("protocol", ["bivlc-i2t", "bivlc-t2i", "verify"])
def test_every_protocol_can_be_adjudicated(client, manager, protocol):
    answers = {"verify": ("yes", "no")}.get(protocol)
    benchmark = studies.benchmark(items=1)
    item = benchmark.items.get()
    ItemImage.objects.create(item=item, image=studies.image(), role="negative", position=0, source_name="n.jpg")
    study = studies.study(benchmark=benchmark, protocol=protocol, overlap=2, tie_rule="adjudicate")
    stage = study.stages.select_related("study").get()
    for number in range(2):
        person = studies.annotator(study)
        while leases := assignment_leases.hold(annotator=person, stage=stage, wanted=1):
            said = (
                answers[number] if answers else read_answer.place_on_screen(leases[0], leases[0].task.options[number])
            )
            studies.submit(person, leases[0], said)
    page = client.get(url(stage)).text
    assert page.count("<b>A-0") == 2
    if protocol == "bivlc-i2t":
        words = re.sub(r"</?mark>", "", page)
        assert "<mark>" in page and all(caption.text in words for caption in item.captions.all())
    post(client, page, stage, do="decide", verdict="no" if answers else "2", note="I looked.")
    assert Outcome.objects.get().by == "adjudicator"
    assert client.get(reverse("study-disagreements", args=[study.pk])).status_code == 200


def test_a_case_costs_the_same_whatever_was_said(client, manager):
    costs = []
    for items, answers in ((1, ("none", "candidate-1")), (4, ("none", "candidate-1", "cannot_judge"))):
        stage = tied(items, answers)
        with CaptureQueriesContext(connection) as spent:
            client.get(url(stage))
        costs.append(len(spent))
    assert costs[0] == costs[1] <= 27


def test_disagreements_and_flags_are_one_click_from_here(client, manager):
    stage = tied(tie_rule="drop")
    task = Task.objects.get()
    lease = task.leases.first()
    submissions.flag(annotator=lease.annotator, token=lease.token, reason="Odd")
    there = f"{reverse('study-adjudicate', args=[stage.study_id])}?stage=1&amp;task={task.pk}"
    assert there in client.get(reverse("study-disagreements", args=[stage.study_id])).text
    assert client.get(reverse("study-stage", args=[stage.study_id, 1])).text.count(there) == 2


def test_only_staff_and_only_with_the_form_s_token(client):
    stage = tied()
    assert client.get(url(stage)).status_code == 302
    client.force_login(User.objects.create_user("eve"))
    assert [client.get(url(stage)).status_code, client.post(url(stage)).status_code] == [403, 403]
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_user("ana", is_staff=True))
    assert strict.post(url(stage), {"do": "decide"}).status_code == 403
