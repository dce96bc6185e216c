"""Joining by a link, with and without consent, and every way in which a study ends for somebody: pages and codes."""

import re
from urllib.parse import urlencode

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from annotation.assignment import leases
from annotation.designs.plan import StagePlan
from annotation.models import Annotator, Attempt, Seat, Study
from annotation.participants import lifecycle as participant_lifecycle
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Event, ItemImage
from tests.builders import studies

pytestmark = pytest.mark.django_db
CONSENT = "We ask you to look at pictures.\n\n- It takes ten minutes.\n- You can stop <b>at any time</b>."
IDS = "?PROLIFIC_PID=p1&STUDY_ID=s1&SESSION_ID=x1"
RETURN = "https://app.prolific.com/submissions/complete?cc="
TWO = [
    StagePlan("bivlc-choose", name="first", settings={"carries": "negative"}),
    StagePlan("bivlc-choose", name="second", source="first", apart_from=[]),
]


def link(to, ids: str = "") -> str:
    return f"/join/{to.invite}/{ids}"


def hidden(page: str) -> dict[str, str]:
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))


def home(annotator: Annotator) -> str:
    return f"/judge/{annotator.token}/"


def shown(client, annotator: Annotator) -> str:
    return client.get(home(annotator)).text


def codes(study: Study) -> dict[str, str]:
    return {name: getattr(study, f"{name}_code") for name in ("completion", "screened_out", "no_consent")}


def told(page: str, study: Study) -> set[str]:
    """Which of the study's codes the page shows."""
    return {name for name, code in codes(study).items() if code in page}


# Joining


def test_a_double_click_on_take_part_makes_one_annotator(client):
    study = studies.study()
    sent = {**hidden(client.get(link(study)).text), "name": "Ada"}
    answers = [client.post(link(study), sent).url for _ in range(2)]
    made = Annotator.objects.get()
    assert answers[0] == answers[1] == home(made) and made.name == "Ada"


@pytest.mark.parametrize(
    ("ids", "others", "agent"),
    [
        (IDS, IDS.replace("p1", "p2"), "Ada’s"),
        (IDS, "", "Ada’s"),
        ("", IDS, "Ada’s"),
        ("", "?name=Bea", "Ada’s"),
        ("", "", "Bea’s"),
    ],
)
def test_somebody_elses_copy_of_a_form_opens_nobody_elses_desk(ids, others, agent):
    study = studies.study()
    for query, browser in ((ids, "Ada’s"), (others, agent)):
        sent = {"key": "1", "name": "Bea" if "name" in query else "Ada"}
        client = Client(headers={"user-agent": browser})
        assert [client.post(link(study, query), sent).status_code for _ in range(2)] == [302, 302]
    assert Annotator.objects.count() == 2


def test_two_who_open_the_link_are_two_annotators(client):
    study = studies.study()
    for _ in range(2):
        client.post(link(study), hidden(client.get(link(study)).text))
    assert Annotator.objects.count() == 2


def test_the_forms_key_is_not_the_annotators_link(client):
    study = studies.study()
    sent = hidden(client.get(link(study)).text)
    client.post(link(study), sent)
    assert sent["key"] not in Annotator.objects.get().token


def test_one_key_in_two_studies_is_two_annotators(client):
    for study in (studies.study(), studies.study()):
        client.post(link(study), {"key": "1"})
    assert Annotator.objects.count() == 2


def test_a_paused_studys_page_looks_again_by_itself(client):
    study = studies.study(state="paused")
    page = client.get(link(study)).text
    assert 'data-state="paused"' in page and "looks-again.js" in page and 'http-equiv="refresh"' in page


# Consent


def test_consent_is_asked_in_the_managers_words(client):
    page = client.get(link(studies.study(consent=CONSENT), IDS)).text
    assert "<li>It takes ten minutes.</li>" in page and "&lt;b&gt;at any time&lt;/b&gt;" in page
    assert "I agree to take part" in page and "I do not agree" in page


def test_whoever_agrees_takes_part_and_when_is_stored(client):
    study = studies.study(consent=CONSENT)
    client.post(link(study), {**hidden(client.get(link(study, IDS)).text), "consent": "yes"})
    assert abs((Annotator.objects.get().consented_at - timezone.now()).total_seconds()) < 60


def test_without_a_consent_text_none_is_stored(client):
    client.post(link(studies.study()))
    assert Annotator.objects.get().consented_at is None


def test_nobody_joins_without_agreeing(client):
    study = studies.study(consent=CONSENT)
    for sent in ({}, {"consent": "maybe"}):
        assert "I agree to take part" in client.post(link(study), sent).text
    assert not Annotator.objects.exists()


def test_whoever_does_not_agree_leaves_nothing_behind_and_gets_the_code_for_that(client):
    study = studies.study(consent=CONSENT)
    sent = {**hidden(client.get(link(study, IDS)).text), "name": "Ada", "consent": "no"}
    page = client.post(link(study, IDS), sent).text
    assert told(page, study) == {"no_consent"} and f'href="{RETURN}{study.no_consent_code}"' in page
    event = Event.objects.get(verb="did not agree")
    assert (Annotator.objects.count(), event.data, event.by) == (0, {}, "invite")


def test_whoever_does_not_agree_and_is_not_from_prolific_needs_no_code(client):
    study = studies.study(consent=CONSENT)
    assert told(client.post(link(study), {"consent": "no"}).text, study) == set()


# Coming again


AGAIN = "?PROLIFIC_PID=p1&STUDY_ID=s2&SESSION_ID=x2"


def as_stored(annotator: Annotator) -> tuple:
    annotator.refresh_from_db()
    return annotator.invited_to, annotator.stage, annotator.prolific_study, annotator.prolific_session


@pytest.fixture
def known(client) -> Annotator:
    """They joined in this browser by the link of the first of two stages."""
    first = studies.study(stages=TWO, consent=CONSENT).stages.get(position=1)
    client.post(link(first), {**hidden(client.get(link(first, IDS)).text), "consent": "yes"})
    return Annotator.objects.get()


def test_a_known_participant_is_brought_back_to_their_page(client, known):
    assert client.get(link(known.invited_to, IDS)).url == home(known)
    assert client.post(link(known.invited_to, IDS), {"consent": "no"}).url == home(known)


def test_nothing_in_the_link_opens_their_page_in_another_browser(known):
    again = Client().get(link(known.invited_to, IDS))
    assert "Somebody has already joined" in again.text and known.token not in again.text


UNFILLED = [
    "{{%PROLIFIC_PID%}}", "%7B%7B%25PROLIFIC_PID%25%7D%7D", "{{PROLIFIC_PID}}", "${e://Field/PROLIFIC_PID}", "[ID1]",
    "%ID1%", "<id1>", "null", "undefined", "None", "NaN", "PROLIFIC_PID", "ada1@example.org", "", " ", "0",
    "00000000-0000-0000-0000-000000000000", "5f1e " + "7" * 20, "7" * 65, "ID1", "PARTICIPANT12", "your-id-1",
    "object-Object1", "1st-id",
]  # fmt: skip


@pytest.mark.parametrize("name", ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"])
@pytest.mark.parametrize("value", UNFILLED)
def test_a_link_that_was_not_filled_in_seats_nobody(client, name, value):
    study = studies.study()
    ids = {"PROLIFIC_PID": "5f1e00000000000000000001", "STUDY_ID": "s1", "SESSION_ID": "x1"} | {name: value}
    for path in (link(study, f"?{urlencode(ids)}"), link(study, "?" + "&".join(f"{k}={v}" for k, v in ids.items()))):
        for answer in (client.get(path), client.post(path, {"key": "1"})):
            assert answer.status_code == 400 and "This link has no Prolific ID" in answer.text
    assert not Annotator.objects.exists()


def test_a_submission_without_a_participant_is_not_filled_in_either(client):
    assert client.get(link(studies.study(), "?STUDY_ID=s1&SESSION_ID=x1")).status_code == 400


@pytest.mark.parametrize(
    "query",
    [
        "prolific_pid={{%25prolific_pid%25}}", "Prolific_Pid=null", "STUDY_ID=s1&amp;PROLIFIC_PID=ID1",
        "workerId={{workerId}}", "workerId=%257B%257BworkerId%257D%257D", "pid=${pid}", "id=[PID]", "id=%25id%25",
        "id=$id", "id=<id>", "{{id}}", "id={{id}}&id=7", "PROLIFIC_PID=p1&assignmentId={assignmentId}",
    ],
)  # fmt: skip
def test_nor_does_one_whose_parameters_have_other_names(client, query):
    study = studies.study()
    for answer in (client.get(link(study, f"?{query}")), client.post(link(study, f"?{query}"), {"key": "1"})):
        assert answer.status_code == 400 and "This link has no Prolific ID" in answer.text
    assert not Annotator.objects.exists()


@pytest.mark.parametrize("query", ["prolific_pid=p1&session_id=x1", "study=7&amp;PROLIFIC_PID=p1&amp;SESSION_ID=x1"])
def test_parameters_are_read_in_any_case_and_after_the_ampersand_of_html(client, query):
    study = studies.study()
    client.post(link(study, f"?{query}"), hidden(client.get(link(study, f"?{query}")).text))
    assert Annotator.objects.values_list("prolific_pid", "prolific_session").get() == ("p1", "x1")


@pytest.mark.parametrize("query", ["workerId=A1B2C3", "tags[]=x&note=50%25&utm_source=mail", "language=de"])
def test_other_parameters_are_not_in_the_way(client, query):
    assert client.get(link(studies.study(), f"?{query}")).status_code == 200


ADDRESSES = [("192.0.2.7", "192.0.2.8"), ("2001:db8::1", "2001:db8:0:1::1"), ("::ffff:192.0.2.9", "::ffff:192.0.2.10")]


@pytest.mark.parametrize(
    ("ids", "address", "other"), [("", *ADDRESSES[0]), ("?PROLIFIC_PID=p{n}", *ADDRESSES[1]), ("", *ADDRESSES[2])]
)
def test_one_address_opens_so_many_desks_an_hour(settings, ids, address, other):
    settings.JOINS_PER_HOUR, study = 2, studies.study()
    cache.clear()
    joined = [Client(REMOTE_ADDR=address).post(link(study, ids.format(n=n)), {"key": n}) for n in (1, 2, 2, 3)]
    assert [answer.status_code for answer in joined] == [302, 302, 302, 429]  # the second was sent twice
    assert "Please try again in an hour" in joined[-1].text and Annotator.objects.count() == 2
    assert Client(REMOTE_ADDR=address).get(joined[0].url).status_code == 200
    assert Client(REMOTE_ADDR=other).post(link(study, ids.format(n=4)), {"key": 4}).status_code == 302


def test_a_whole_ipv6_network_is_one_address(settings):
    settings.JOINS_PER_HOUR, study = 1, studies.study()
    cache.clear()
    answers = [Client(REMOTE_ADDR=f"2001:db8::{n}").post(link(study), {"key": n}) for n in (1, 2)]
    assert [answer.status_code for answer in answers] == [302, 429]


def test_another_stages_link_seats_them_there_once_they_say_so(client, known):
    second, before = known.study.stages.get(position=2), as_stored(known)
    asked = client.get(link(second, AGAIN))
    assert "Welcome back" in asked.text and as_stored(known) == before
    assert client.post(link(second, AGAIN), hidden(asked.text)).url == home(known)
    assert as_stored(known) == (second, second, "s2", "x2")
    assert Seat.objects.filter(annotator=known, stage=second).exists()


def test_a_prolific_id_alone_opens_nothing_and_changes_nothing(known):
    before, stranger = as_stored(known), Client()
    paths = (link(known.invited_to, AGAIN), link(known.study, AGAIN), link(known.study, "?PROLIFIC_PID=p1"))
    answers = [stranger.get(path) for path in paths]
    answers.append(stranger.post(link(known.study), {"PROLIFIC_PID": "p1"}))
    for sent in ({}, {"consent": "yes", "key": "7"}, {"link": ""}, {"link": "https://a/judge/x/"}):
        answers += [stranger.post(path, sent) for path in paths]
    for answer in answers:
        assert answer.status_code in (200, 403) and known.token not in answer.text
    assert as_stored(known) == before and Annotator.objects.count() == 1


@pytest.mark.parametrize("end", ["", "?rules", "leave/", "before/#x", "#x", "?a=1&b=/", ">, thanks", "”."])
def test_their_own_link_opens_it_in_another_browser_from_then_on(known, end):
    other = Client()
    own = f" https://example.org{home(known)}{end} "
    assert other.post(link(known.study, AGAIN), {"link": own}).url == home(known)
    assert as_stored(known)[2:] == ("s2", "x2")
    assert other.get(link(known.study, AGAIN)).url == home(known)


def test_the_cookie_is_for_joining_alone(client, known):
    cookie = client.cookies[f"study-{known.study_id}"]
    assert (cookie["path"], cookie["httponly"], cookie["samesite"]) == ("/join/", True, "Lax")


def test_whoever_comes_by_a_plain_link_gets_no_cookie(client):
    client.post(link(studies.study()))
    assert not client.cookies


def test_what_was_answered_for_one_submission_gives_no_code_for_another(client):
    study = studies.study(stages=TWO)
    first, second = study.stages.all()
    ann = studies.annotator(study, stage=first, prolific_pid="p1", prolific_session="x1")
    studies.judgment(ann, first, "none")
    assert told(shown(client, ann), study) == {"completion"}
    client.post(link(second, AGAIN), {"link": home(ann)})
    page = shown(client, ann)
    assert "Nothing to judge right now" in page and told(page, study) == set()


# How it ends


def test_whoever_finished_gets_the_completion_code_and_the_way_back(client):
    study = studies.study()
    ann = studies.annotator(study, prolific_pid="p1")
    studies.judgment(ann, study.stages.get())
    page = shown(client, ann)
    assert told(page, study) == {"completion"} and f'href="{RETURN}{study.completion_code}"' in page


def test_which_code_was_given_is_stored_once(client):
    study = studies.study()
    ann = studies.annotator(study, prolific_pid="p1", prolific_session="x1")
    studies.judgment(ann, study.stages.get())
    shown(client, ann), shown(client, ann)
    given = Event.objects.get(verb="was given a code").data
    assert given == {"kind": "finished", "code": study.completion_code, "session": "x1"}


def test_a_full_quota_ends_with_the_code_while_others_have_work(client):
    study = studies.study(items=3, quota=1)
    ann, other = studies.annotator(study), studies.annotator(study)
    studies.judgment(ann, study.stages.get())
    page = shown(client, ann)
    assert told(page, study) == {"completion"} and "Return to Prolific" not in page
    assert 'name="answer"' in shown(client, other)


def test_the_end_of_the_stage_of_ones_link_is_the_end_whatever_other_stages_have(client):
    study = studies.study(items=2, stages=TWO)
    first = study.stages.first()
    ann = studies.annotator(study, stage=first)
    while studies.judgment(ann, first, "candidate-0"):
        pass
    assert told(shown(client, ann), study) == {"completion"}


def test_whoever_answered_gets_the_code_though_the_next_stage_went_to_others(client):
    study = studies.study(stages=TWO)
    first, second = study.stages.all()
    ann, other = studies.annotator(study), studies.annotator(study)
    studies.judgment(ann, first, "candidate-0")
    assert client.get(home(ann)).status_code == 302  # on to the second stage
    participant_lifecycle.arrive(annotator=other, stage=second, by="test")
    studies.read(other, second)
    studies.judgment(other, second)
    page = shown(client, ann)
    assert "You answered 1 screen, and" in page and told(page, study) == {"completion"}


def test_whoever_answered_nothing_gets_no_code(client):
    study = studies.study()
    ann, other = studies.annotator(study, prolific_pid="p1"), studies.annotator(study)
    studies.judgment(other, study.stages.get())
    page = shown(client, ann)
    assert "Nothing to judge right now" in page and told(page, study) == set()
    assert "data-again" in page  # it looks again: an earlier stage may send something


def test_a_closed_study_gives_the_code_to_those_who_answered(client):
    study = studies.study(items=2)
    ann, other = studies.annotator(study), studies.annotator(study)
    studies.judgment(ann, study.stages.get())
    study_lifecycle.move_study(study=study, to="closed", by="test")
    assert told(shown(client, ann), study) == {"completion"}
    assert told(shown(client, other), study) == set()


def test_whoever_is_screened_out_gets_the_code_for_that(client):
    study = studies.study()
    ann = studies.annotator(study, prolific_pid="p1")
    Seat.objects.update(screened_out_at=timezone.now())
    page = shown(client, ann)
    assert told(page, study) == {"screened_out"} and f"{RETURN}{study.screened_out_code}" in page
    assert "Your answers to the qualification questions" in page


def test_whoever_failed_in_practice_reads_of_practice(client):
    study = studies.study()
    ann, now = studies.annotator(study), timezone.now()
    seat = Seat.objects.get()
    for kind, passed in (("comprehension", True), ("practice", False)):
        Attempt.objects.create(seat=seat, kind=kind, number=1, passed=passed, finished_at=now)
    Seat.objects.update(screened_out_at=now)
    assert "Your practice answers" in shown(client, ann)


def test_whoever_is_screened_out_of_a_later_stage_is_paid_for_the_earlier(client):
    study = studies.study(stages=TWO)
    first, second = study.stages.all()
    ann = studies.annotator(study)
    studies.judgment(ann, first, "candidate-0")
    client.get(home(ann))
    Seat.objects.filter(stage=second).update(screened_out_at=timezone.now())
    assert told(shown(client, ann), study) == {"completion"}


@pytest.mark.parametrize("end", ["left", "excluded"])
def test_whoever_left_or_was_excluded_gets_no_code_and_no_accusation(client, end):
    study = studies.study(items=2)
    ann = studies.annotator(study, prolific_pid="p1")
    studies.judgment(ann, study.stages.get())
    if end == "left":
        participant_lifecycle.leave(annotator=ann, by="test")
    else:
        participant_lifecycle.exclude(annotator=ann, reason="Clicked without looking", by="test")
    page = shown(client, ann)
    assert told(page, study) == set() and f'data-state="{end}"' in page
    assert "Clicked" not in page and "exclu" not in page.replace('data-state="excluded"', "")


# Leaving by oneself


def test_leaving_is_asked_first_and_frees_the_screens(client):
    study = studies.study(items=2)
    stage, ann = study.stages.get(), studies.annotator(study)
    leases.hold(annotator=ann, stage=stage)
    assert "Leave the study?" in client.get(home(ann) + "leave/").text
    assert stage.slots.filter(held_until__isnull=False).count() == 2
    client.post(home(ann) + "leave/")
    assert "You have left the study" in shown(client, ann)
    assert stage.slots.filter(held_until__isnull=False).count() == 0


def test_whoever_left_can_take_part_again(client):
    study = studies.study(items=2)
    ann = studies.annotator(study)
    client.post(home(ann) + "leave/")
    assert f'action="{home(ann)}return/"' in shown(client, ann)
    client.post(home(ann) + "return/")
    assert 'name="answer"' in shown(client, ann)


def test_somebody_excluded_cannot_come_back_by_leaving_first(client):
    study = studies.study(items=2)
    ann = studies.annotator(study)
    participant_lifecycle.leave(annotator=ann, by="test")
    participant_lifecycle.exclude(annotator=ann, reason="No", by="test")
    client.post(home(ann) + "return/")
    assert 'data-state="excluded"' in shown(client, ann)


def test_the_rules_lead_to_leaving(client):
    ann = studies.annotator(studies.study())
    assert f'href="{home(ann)}leave/"' in client.get(home(ann) + "?rules").text
    _, dialog = shown(client, ann).split('<dialog id="rules-dialog"')
    assert f'href="{home(ann)}leave/"' in dialog


def test_the_page_tells_a_batch_in_screens_and_what_follows_it(client):
    benchmark = studies.benchmark(items=4)
    for item in benchmark.items.all():
        ItemImage.objects.create(item=item, image=studies.image(), role="negative", position=0, source_name="x.jpg")
    study = studies.study(benchmark=benchmark, protocol="bivlc-i2t", strategy="batches", batch_size=2)
    stage = study.stages.get()
    assert stage.tasks.count() == 8
    assert "4 screens, then more" in client.get(link(study)).text
    stage.quota = 3
    stage.save(update_fields=["quota"])
    assert "Up to 3 screens" in client.get(link(study)).text
