"""The annotator's pages as a browser without script meets them, and the JSON that the script is answered with."""

import re
import uuid
from datetime import timedelta

import pytest
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.utils import timezone

from annotation.judging import views
from annotation.models import Annotator, Flag, Judgment, Lease, LeaseState, Slot
from annotation.screens.read_answer import place_on_screen
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Caption, ItemImage
from tests.builders import studies
from tests.collapsed import collapsed

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}


def home(annotator: Annotator) -> str:
    return f"/judge/{annotator.token}/"


def send(client, annotator: Annotator, lease: Lease, answer="1", key=None, **extra):
    fields = {"lease": lease.token, "key": key or uuid.uuid4(), "answer": answer, **extra}
    return client.post(home(annotator) + "submit/", fields, **JSON)


@pytest.fixture
def stage(db):
    return studies.stage(items=3)


@pytest.fixture
def annotator(stage):
    return studies.annotator(stage.study)


def screen(client, annotator) -> Lease:
    """Opens the page; the lease of the screen in front."""
    client.get(home(annotator))
    return Lease.objects.filter(annotator=annotator, state=LeaseState.HELD).order_by("granted_at", "pk").first()


def test_an_invitation_says_what_is_asked_and_what_is_paid(client):
    study = studies.study(quota=1, pay_per_hour="12.00")
    page = client.get(f"/join/{study.invite}/").text
    assert "On each screen you see" in page and "Which picture shows everything the sentence says?" in page
    assert "12.00 USD per hour" in page
    assert "Up to 1 screen<" in page


@pytest.mark.parametrize("path", ["/join/nobody/", "/judge/nobody/", "/judge/nobody/history/"])
def test_an_unknown_link_is_not_found(client, db, path):
    assert client.get(path).status_code == 404


def test_instructions_are_a_gate_on_first_entry(client, stage):
    newcomer = studies.annotator(stage.study, ready=False)
    page = client.get(home(newcomer)).text
    assert "Before you start" in page and f"http://testserver{home(newcomer)}" in page
    assert not Lease.objects.exists()
    client.post(home(newcomer) + "accept/", {"version": 1})
    assert 'name="answer"' in client.get(home(newcomer)).text


def test_new_instructions_are_a_gate_again_and_old_ones_do_not_open_it(client, stage, annotator):
    study_lifecycle.revise_instructions(stage=stage, text="Look twice.", by="test")
    client.post(home(annotator) + "accept/", {"version": 1})
    assert "The instructions have changed" in client.get(home(annotator)).text
    client.post(home(annotator) + "accept/", {"version": 2})
    assert "The instructions have changed" not in client.get(home(annotator)).text


def test_who_has_nothing_left_to_judge_reads_no_new_instructions(client, stage, annotator):
    while studies.judgment(annotator, stage, "none"):
        pass
    study_lifecycle.revise_instructions(stage=stage, text="Look twice.", by="test")
    assert "The instructions have changed" not in client.get(home(annotator)).text


def test_how_long_what_is_left_takes_is_said_from_measured_times_where_they_are_known(client):
    """By oneself; before one's first answer, by others; times that were not measured don't count."""
    study = studies.study(items=40)
    stage, other, slow = study.stages.get(), studies.annotator(study), studies.annotator(study)
    newcomer = studies.annotator(study, ready=False)
    at_desk = re.compile(r'data-pace="(\d+)"')

    def said() -> list[str]:
        pages = [client.get(f"/join/{study.invite}/").text, client.get(home(newcomer)).text]
        return [" ".join(found.split()) for page in pages for found in re.findall(r"About [^<]+", page)]

    for time in (0, 9000, 9000, 9000, 6000):
        studies.judgment(other, stage, active_ms=time, elapsed_ms=time)
    assert said() == [] and at_desk.search(client.get(home(slow)).text)[1] == "0"
    studies.judgment(other, stage, active_ms=12000, elapsed_ms=12000)
    assert said() == ["About 6 min for 40 screens"] * 2
    assert at_desk.search(client.get(home(slow)).text)[1] == "9000"
    studies.judgment(slow, stage, active_ms=30000, elapsed_ms=30000)
    assert at_desk.search(client.get(home(slow)).text)[1] == "30000"


def test_the_rules_can_be_read_again_at_any_time(client, annotator):
    page = client.get(home(annotator) + "?rules").text
    assert "Back to judging" in page and "I have read the instructions" not in page


def test_the_page_shows_one_screen_and_carries_the_next(client, annotator):
    page = client.get(home(annotator)).text
    assert page.count('<fieldset class="screen"') == 2 and page.count('<template class="next">') == 1
    assert page.count('type="radio"') == 2 * 5
    assert page.count("</kbd> None of them</span>") == 2


def test_an_answer_stores_what_was_shown_at_that_place(client, annotator):
    lease = screen(client, annotator)
    answer = send(client, annotator, lease, "3", active=900, elapsed=1000).json()
    stored = Judgment.objects.get()
    assert (stored.answer, stored.active_ms, stored.elapsed_ms) == (lease.shown[2], 900, 1000)
    assert (answer["receipt"], answer["state"], answer["done"], len(answer["screens"])) == ("saved", "screen", 1, 2)


def test_screens_that_the_page_has_are_not_sent_again(client, annotator):
    lease = screen(client, annotator)
    second = Lease.objects.get(annotator=annotator, state="held", pk__gt=lease.pk)
    answer = send(client, annotator, lease, have=[second.token]).json()
    assert answer["held"][0] == str(second.token)
    assert [one["lease"] for one in answer["screens"]] == answer["held"][1:]


def test_the_same_key_again_is_the_same_answer(client, annotator):
    lease, key = screen(client, annotator), uuid.uuid4()
    receipts = [send(client, annotator, lease, "2", key).json()["receipt"] for _ in range(2)]
    assert (receipts, Judgment.objects.count()) == (["saved", "replayed"], 1)


def test_the_same_key_with_another_body_is_refused(client, annotator):
    lease, key = screen(client, annotator), uuid.uuid4()
    send(client, annotator, lease, "2", key)
    again = send(client, annotator, lease, "1", key)
    assert (again.status_code, again.json()["kind"]) == (409, "KeyReused")


def test_without_script_another_answer_from_the_page_before_changes_the_first(client, annotator):
    """The browser's *Back* shows the form with the key of the answer that it has sent."""
    lease, fields = screen(client, annotator), {"key": uuid.uuid4()}

    def press(place: str, **more):
        return client.post(home(annotator) + "submit/", fields | {"lease": lease.token, "answer": place} | more)

    def standing() -> str:
        return place_on_screen(lease, lease.judgments.latest("revision").answer)

    for place in "1122":  # each twice
        assert press(place).status_code == 302 and standing() == place
    assert lease.judgments.count() == 2 and lease.judgments.filter(counted_on__isnull=False).count() == 1
    for place in "31":  # a page that showed neither is asked, and may say so
        question = press(place)
        assert question.status_code == 409 and "Store the other answer instead" in question.content.decode()
        assert press(place, **question_fields(question)).status_code == 302 and standing() == place
    assert lease.judgments.count() == 4


def question_fields(page) -> dict[str, str]:
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.content.decode()))


def test_an_answer_that_is_not_on_the_screen_is_refused_with_a_sentence(client, annotator):
    lease = screen(client, annotator)
    for answer in ("9", "0", "", "candidate-0", "both"):
        refused = send(client, annotator, lease, answer)
        assert (refused.status_code, Judgment.objects.count()) == (422, 0), answer
        assert refused.json()["refused"].endswith("."), answer


@pytest.mark.parametrize("fields", [{}, {"lease": "x", "key": "y"}, {"lease": str(uuid.uuid4()), "key": "1"}])
def test_a_broken_request_is_refused_with_a_sentence(client, annotator, fields):
    refused = client.post(home(annotator) + "submit/", fields, **JSON)
    assert refused.status_code == 422 and "Reload the page" in refused.json()["refused"]


def test_another_annotators_screen_is_not_found(client, stage, annotator):
    other = studies.annotator(stage.study)
    refused = send(client, other, screen(client, annotator))
    assert (refused.status_code, Judgment.objects.count()) == (404, 0)


def test_cannot_judge_wants_a_reason_and_is_an_answer(client, annotator):
    lease = screen(client, annotator)
    assert send(client, annotator, lease, cannot_judge="1").status_code == 422
    send(client, annotator, lease, cannot_judge="1", reason="It is blank.")
    stored = Judgment.objects.get()
    assert (stored.answer, stored.reason) == ("cannot_judge", "It is blank.")


def test_a_late_answer_is_kept_and_the_annotator_is_told(client, stage, annotator):
    lease = screen(client, annotator)
    Slot.objects.filter(annotator=annotator).update(held_until=timezone.now() - timedelta(seconds=1))
    for _ in range(3):
        studies.judgment(studies.annotator(stage.study), stage)
    answer = send(client, annotator, lease)
    assert (answer.json()["receipt"], Judgment.objects.filter(surplus=True).count()) == ("surplus", 1)


def test_skip_brings_other_screens_and_frees_the_slot(client, annotator):
    lease = screen(client, annotator)
    answer = client.post(home(annotator) + "skip/", {"lease": lease.token}, **JSON).json()
    assert str(lease.token) not in answer["held"] and len(answer["held"]) == 2
    assert Slot.objects.get(pk=lease.slot_id).annotator is None


def test_undo_brings_the_screen_back_with_its_answer_marked(client, annotator):
    lease = screen(client, annotator)
    send(client, annotator, lease, "3")
    answer = client.post(home(annotator) + "undo/", {"undo_key": uuid.uuid4()}, **JSON).json()
    assert (answer["again"]["lease"], answer["done"]) == (str(lease.token), 0)
    assert 'value="3" checked' in collapsed(answer["again"]["html"])


def test_a_screen_whose_answer_was_taken_back_shows_it_after_a_reload(client, annotator):
    send(client, annotator, screen(client, annotator), "none")
    client.post(home(annotator) + "undo/", {"undo_key": uuid.uuid4()})
    assert client.get(home(annotator)).context["current"].picked == "none"


def test_the_same_undo_again_takes_nothing_more_back(client, annotator):
    for _ in range(2):
        send(client, annotator, screen(client, annotator))
    key = uuid.uuid4()
    done = [client.post(home(annotator) + "undo/", {"undo_key": key}, **JSON).json()["done"] for _ in range(2)]
    assert done == [1, 1]


def test_undo_with_nothing_to_take_back_says_so(client, annotator):
    refused = client.post(home(annotator) + "undo/", {"undo_key": uuid.uuid4()}, **JSON)
    assert (refused.status_code, refused.json()["kind"]) == (409, "NothingToUndo")


def test_a_flag_reaches_the_manager_and_changes_nothing(client, annotator):
    lease = screen(client, annotator)
    fields = {"lease": lease.token, "flag_reason": "Two sentences at once."}
    assert client.post(home(annotator) + "flag/", fields, **JSON).json() == {"flagged": True}
    assert (Flag.objects.get().reason, Lease.objects.get(pk=lease.pk).state) == ("Two sentences at once.", "held")


def test_history_lists_own_screens_with_answers_and_an_edit_is_a_revision(client, annotator):
    lease = screen(client, annotator)
    send(client, annotator, lease, "2")
    past = client.get(home(annotator) + "history/").json()["past"]
    assert [(one["lease"], one["answer"]) for one in past] == [(str(lease.token), "2")]
    send(client, annotator, lease, "none", seen=past[0]["seen"])
    assert list(lease.judgments.order_by("revision").values_list("revision", "answer"))[1] == (2, "none")


@pytest.mark.parametrize(("ahead", "held"), [("", 2), ("0", 2), ("3", 3), ("99", 4), ("x", 2)])
def test_a_page_on_a_slow_network_holds_up_to_four_screens(client, ahead, held):
    annotator = studies.annotator(studies.study(items=6))
    answer = client.get(home(annotator), {"ahead": ahead}, **JSON).json()
    assert len(answer["held"]) == len(answer["screens"]) == held
    fields = {"lease": answer["held"][0], "key": uuid.uuid4(), "answer": "1", "ahead": ahead}
    assert len(client.post(home(annotator) + "submit/", fields, **JSON).json()["held"]) == held


def test_renew_says_how_many_screens_are_held(client, annotator):
    screen(client, annotator)
    assert client.post(home(annotator) + "renew/", **JSON).json() == {"held": 2}


def test_while_others_hold_the_rest_the_page_says_how_many_and_until_when(client, stage, annotator):
    first = studies.annotator(stage.study)
    for _ in range(2):
        screen(client, first)
    studies.judgment(annotator, stage)
    page = client.get(home(annotator)).text
    assert "Other annotators have 2 screens open" in page and "at the latest at" in page


@pytest.mark.parametrize(("state", "words"), [("paused", "The study is paused"), ("closed", "The study is closed")])
def test_a_study_that_is_not_open_says_so_to_all(client, stage, annotator, state, words):
    study_lifecycle.move_study(study=stage.study, to=state, by="test")
    assert words in client.get(home(annotator)).text
    assert words in client.get(f"/join/{stage.study.invite}/").text
    assert client.get(home(annotator), **JSON).json()["state"] == state


def test_an_answer_from_before_the_pause_is_still_taken(client, stage, annotator):
    lease = screen(client, annotator)
    study_lifecycle.move_study(study=stage.study, to="paused", by="test")
    answer = send(client, annotator, lease).json()
    assert (answer["receipt"], answer["state"]) == ("saved", "paused")


def test_every_button_works_without_script(client, annotator):
    page = client.get(home(annotator)).text
    key = page.split('name="key" value="')[1][:36]
    lease = screen(client, annotator)
    fields = {"lease": lease.token, "key": key, "answer": "2", "reason": "", "flag_reason": "Odd."}
    flagged = client.post(home(annotator) + "flag/", fields, follow=True)
    assert flagged.status_code == 200 and "Flagged. Thank you!" in flagged.text and "Flagged" not in page
    for verb in ("submit/", "submit/", "skip/"):
        assert client.post(home(annotator) + verb, fields).url == home(annotator)
    assert client.post(home(annotator) + "undo/", {"undo_key": uuid.uuid4()}).url == home(annotator)
    assert [judgment.withdrawn for judgment in Judgment.objects.order_by("revision")] == [False, True]


@pytest.mark.parametrize(("answer", "why"), [("", "Pick an answer first."), ("9", "not one of the answers")])
def test_without_script_a_refusal_is_a_page_with_its_status(client, annotator, answer, why):
    fields = {"lease": screen(client, annotator).token, "key": uuid.uuid4(), "answer": answer}
    refused = client.post(home(annotator) + "submit/", fields)
    assert refused.status_code == 422 and why in refused.text


def test_pages_set_no_cookie_and_are_not_stored(client, stage, annotator):
    own = [home(annotator) + part for part in ("", "history/", "leave/")]
    for path in (*own, f"/join/{stage.study.invite}/"):
        answer = client.get(path)
        assert "no-store" in answer["Cache-Control"] and not answer.cookies


@pytest.mark.parametrize("protocol", ["bivlc-choose", "bivlc-disambiguate", "bivlc-i2t", "bivlc-t2i", "verify"])
def test_a_hostile_caption_is_text(client, protocol):
    benchmark = studies.benchmark(2, candidates=2)
    for item in benchmark.items.all():
        ItemImage.objects.create(item=item, image=studies.image(), role="negative", position=0, source_name="x.jpg")
    annotator = studies.annotator(studies.study(benchmark=benchmark, protocol=protocol))
    Caption.objects.update(text=Concat(Value("<script>alert("), F("role"), Value(")</script>")))
    page = client.get(home(annotator)).text
    assert "&lt;script&gt;alert(" in page and "<script>alert" not in page


@pytest.mark.parametrize("items", [3, 30])
def test_a_submission_takes_the_same_few_queries_however_many_tasks(client, django_assert_num_queries, items):
    annotator = studies.annotator(studies.study(items=items))
    lease = screen(client, annotator)
    have = list(Lease.objects.filter(annotator=annotator).values_list("token", flat=True))
    with django_assert_num_queries(SUBMISSION):
        send(client, annotator, lease, have=have)


# desk 1, savepoint 2, lock 1, find 1, write 1, outcome 1, claim 1, captions and images 1
SUBMISSION = 9


def test_a_page_that_cannot_be_made_takes_no_screen_from_others(client, monkeypatch):
    stage = studies.stage(items=2)
    who = studies.annotator(stage.study)
    monkeypatch.setattr(views, "build_screens", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        client.get(f"/judge/{who.token}/")
    assert not Slot.objects.filter(held_until__isnull=False).exists() and not Lease.objects.exists()
