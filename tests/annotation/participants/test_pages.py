"""What managers see of participants, and the files that go to Prolific and come from there."""

import csv
import io
import uuid

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.checks import attention_checks
from annotation.designs.plan import StagePlan
from annotation.figures import annotators
from annotation.judging import submissions
from annotation.models import Annotator, Judgment, Slot, Study
from annotation.participants import lifecycle as participant_lifecycle
from annotation.participants import prolific, roster
from annotation.protocols.base import CANNOT_JUDGE
from benchmarks.formats.csv_text import harmless
from benchmarks.formats.text import OLD_EXCEL
from benchmarks.models import Event
from tests.builders import studies

pytestmark = pytest.mark.usefixtures("savepoint")
TWO = [
    StagePlan("bivlc-choose", name="first", settings={"carries": "negative", "overlap": 2}),
    StagePlan("bivlc-choose", name="second", source="first", apart_from=[]),
]


@pytest.fixture(scope="module")
def shared(module_world) -> Study:
    return studies.study(items=40, overlap=2, pay_per_hour="12.00", consent="")


@pytest.fixture
def study(shared, savepoint) -> Study:
    return Study.objects.get(pk=shared.pk)


def person(study, answers: int = 0, pid: str = "", times=(2000,), pick=None, **who) -> Annotator:
    made = studies.annotator(study, prolific_pid=pid, **who)
    for number in range(answers):
        ms = times[number % len(times)]
        studies.judgment(made, study.stages.first(), pick, active_ms=ms, elapsed_ms=ms)
    return made


def finish(client, annotator: Annotator) -> None:
    """Their quota is full, and they see the last page."""
    annotator.study.stages.update(quota=1)
    client.get(f"/judge/{annotator.token}/")
    annotator.study.stages.update(quota=None)


def page(client, study) -> str:
    return client.get(reverse("study-annotators", args=[study.pk])).text


def own(client, annotator: Annotator) -> str:
    return client.get(reverse("study-annotator", args=[annotator.study_id, annotator.number])).text


def everybody(study) -> list[roster.Participant]:
    return roster.participants(study, annotators.latest(study).data)


def act(client, annotator: Annotator, what: str, **sent):
    where = reverse("study-annotator", args=[annotator.study_id, annotator.number])
    return client.post(where, {"act": what, **sent}, follow=True).text


def sheet(client, study) -> list[dict[str, str]]:
    text = client.get(reverse("study-submissions", args=[study.pk])).text
    return list(csv.DictReader(io.StringIO(text)))


def upload(client, study, text: str | bytes, follow: bool = True):
    data = text.encode() if isinstance(text, str) else text
    sent = {"file": SimpleUploadedFile("export.csv", data)}
    return client.post(reverse("study-returned", args=[study.pk]), sent, follow=follow)


ADDRESSES = ["study-annotators", "study-pay", "study-prolific", "study-submissions"]


def test_what_is_not_there_is_404(client, manager, study):
    other = person(studies.study())
    for name in ADDRESSES:
        assert client.get(reverse(name, args=[9999])).status_code == 404
    for number in (99, other.number + 5):
        where = reverse("study-annotator", args=[study.pk, number])
        assert client.post(where, {"act": "exclude", "reason": "No"}).status_code == 404


# The table


def test_everybody_is_there_with_what_they_did(client, manager, study):
    person(study, 2, "pid-ada", times=(30_000,))
    person(study, name="Grace <b>")
    shown = page(client, study)
    assert "pid-ada" in shown and "Grace &lt;b&gt;" in shown and "A-02" in shown
    ada, grace = everybody(study)
    assert (ada.answers, ada.counted, ada.active_minutes, ada.pay) == (2, 2, 1.0, pytest.approx(0.2))
    assert (grace.answers, grace.state, ada.state) == (0, "not begun", "working")


def test_an_empty_study_has_a_page(client, manager):
    assert "Nobody has joined yet" in page(client, studies.study())


def test_the_sheet_of_pay_has_everybody_with_what_they_are_due(client, manager, study):
    person(study, 2, "p1", times=(30_000,))
    person(study, 1, name="=Ada", times=(60_000,))
    rows = list(csv.DictReader(io.StringIO(client.get(reverse("study-pay", args=[study.pk])).text)))
    names = ("pseudonym", "name", "participant_id", "answers", "active_minutes", "pay_due", "currency")
    assert [[row[name] for name in names] for row in rows] == [
        ["A-01", "", "p1", "2", "1.0", "0.20", "USD"],
        ["A-02", harmless("=Ada"), "", "1", "1.0", "0.20", "USD"],
    ]
    shown = client.get(reverse("study-annotators", args=[study.pk])).context
    assert shown["totals"] == {"minutes": pytest.approx(2.0), "pay": pytest.approx(0.4)}


def test_how_many_more_are_needed_at_least_is_said(client, manager, study):
    assert "at least 2 more people needed to finish" in page(client, study)  # of two answers each
    studies.annotator(study)
    assert "needed to finish" not in page(client, study)


def test_the_states(client, manager, study):
    people = [person(study, 1) for _ in range(5)]
    finish(client, people[1])
    participant_lifecycle.leave(annotator=people[2], by="test")
    participant_lifecycle.exclude(annotator=people[3], reason="No", by="test")
    people[4].seats.update(screened_out_at=people[4].joined_at)
    assert [one.state for one in everybody(study)] == [
        "working", "finished", "left", "excluded", "screened out"
    ]  # fmt: skip


def test_time_from_the_first_answer_to_the_last_over_all_stages():
    study = studies.study(items=2, stages=TWO, pay_per_hour="6.00")
    first, second = study.stages.all()
    one, other = studies.annotator(study), studies.annotator(study)
    for ann in (one, other):
        studies.judgment(ann, first, "candidate-0")
    participant_lifecycle.arrive(annotator=one, stage=second, by="test")
    studies.read(one, second)
    last = studies.judgment(one, second)
    found = everybody(study)[0]
    begun = Judgment.objects.filter(lease__annotator=one).earliest("created_at")
    minutes = (last.created_at - begun.created_at).total_seconds() / 60
    assert (found.answers, found.counted) == (2, 2)
    assert found.span_minutes == pytest.approx(minutes, abs=1e-6) and found.span_pay == pytest.approx(minutes / 10)


def test_signs_are_said_with_their_figures(client, manager, study):
    for number in range(3):
        person(study, 7, times=(4000,), name=f"careful {number}", pick=None)
    person(study, 20, "fast", times=(500,))
    [found] = roster.submissions(study)
    assert "0.5 s a screen, everybody 4.0 s" in found.signs
    assert "chose position 1 in 100% of 20 picks" in found.signs
    assert "0.5 s a screen; everybody 4.0 s. 20 of 20 screens" in page(client, study)


def test_what_was_taken_back_is_no_answer_and_its_time_is_paid(study):
    ann = person(study, 1, times=(60_000,))
    submissions.undo(annotator=ann, key=uuid.uuid4())
    [found] = everybody(study)
    assert (found.answers, found.counted, found.active_minutes) == (0, 0, 1.0)


def queries(client, url: str) -> int:
    client.get(url)
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


@pytest.mark.parametrize("name", ADDRESSES)
def test_as_many_queries_for_three_as_for_one(client, manager, study, name):
    url = reverse(name, args=[study.pk])
    finish(client, person(study, 1, "p0"))
    one = queries(client, url)
    for number in (1, 2):
        finish(client, person(study, 3, f"p{number}"))
    participant_lifecycle.exclude(annotator=Annotator.objects.last(), reason="No", by="test", excluded_by=manager)
    assert queries(client, url) == one


# Deciding


def test_a_manager_excludes_with_a_reason_and_reinstates(client, manager, study):
    ann = person(study, 3)
    assert "3 answers no longer count" in act(client, ann, "exclude", reason="Clicked the first <i>")
    ann.refresh_from_db()
    assert (ann.excluded_by, ann.exclusion_reason) == (manager, "Clicked the first <i>")
    assert "Clicked the first &lt;i&gt;" in page(client, study)
    assert not Slot.objects.filter(judgment__isnull=False).exists()
    assert "3 answers count again" in act(client, ann, "reinstate", reason="A mistake")
    assert Event.objects.get(verb="reinstated").by == f"user:{manager.pk}"


@pytest.mark.parametrize("what", ["exclude", "reinstate"])
def test_nobody_is_excluded_or_reinstated_without_a_reason(client, manager, study, what):
    ann = person(study, 1)
    if what == "reinstate":
        participant_lifecycle.exclude(annotator=ann, reason="No", by="test")
    before = Annotator.objects.get().excluded_at
    for reason in ("", "  ", "\0"):
        act(client, ann, what, reason=reason)
        assert Annotator.objects.get().excluded_at == before, reason


def test_a_manager_marks_somebody_as_returned_and_lets_them_go_on(client, manager, study):
    ann = person(study, 1)
    client.get(f"/judge/{ann.token}/")
    assert "has been marked as left" in act(client, ann, "left")
    assert not Slot.objects.filter(held_until__isnull=False).exists()
    act(client, ann, "back")
    assert Annotator.objects.get().left_at is None


# Links and codes


def test_managers_can_send_somebody_their_own_link(client, manager, study):
    ann = person(study, 0, "p1")
    link = f'value="http://testserver/judge/{ann.token}/"'
    assert link in own(client, ann)
    participant_lifecycle.exclude(annotator=ann, reason="No", by="test")
    assert link not in own(client, ann)


def test_the_links_carry_prolifics_three_parameters(client, manager):
    study = studies.study(stages=TWO)
    shown = client.get(reverse("study-prolific", args=[study.pk])).text.replace("&amp;", "&")
    wanted = "/?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    for to in (study, *study.stages.all()):
        assert f"http://testserver/join/{to.invite}{wanted}" in shown


def test_the_codes_are_set(client, manager, study):
    sent = {"completion_code": " DONE1 ", "screened_out_code": "OUT2", "no_consent_code": "NO3"}
    client.post(reverse("study-codes", args=[study.pk]), sent)
    study.refresh_from_db()
    assert (study.completion_code, study.screened_out_code, study.no_consent_code) == ("DONE1", "OUT2", "NO3")
    assert Event.objects.get(verb="set codes").by == f"user:{manager.pk}"


@pytest.mark.parametrize("codes", [("", "B", "C"), ("A", "A", "C"), ("A" * 41, "B", "C"), ("A", "B\0", "B")], ids=str)
def test_codes_that_would_not_tell_endings_apart_are_refused(client, manager, study, codes):
    before = study.completion_code
    sent = dict(zip(prolific.CODES, codes, strict=True))
    answer = client.post(reverse("study-codes", args=[study.pk]), sent)
    study.refresh_from_db()
    assert (answer.status_code, study.completion_code) == (422, before)
    assert 'id="problems"' in answer.text


# Submissions to approve


def test_a_submission_without_signs_is_suggested_for_approval(client, manager, study):
    ann = person(study, 1, "p1", prolific_session="x1", times=(60_000,))
    finish(client, ann)
    [row] = sheet(client, study)
    assert (row["participant_id"], row["submission_id"], row["pseudonym"]) == ("p1", "x1", "A-01")
    assert (row["code_given"], row["suggestion"], row["reasons"]) == (study.completion_code, "approve", "")
    assert (row["answers"], row["active_minutes"], row["pay_due"], row["currency"]) == ("1", "1.0", "0.20", "USD")


def test_what_to_look_at_is_spelled_out_and_nothing_is_rejected(client, manager, study):
    *_, out = person(study, 0, "p1"), person(study, 1, "p2"), person(study, 1, "p3")
    participant_lifecycle.exclude(annotator=out, reason="Same place 40 times", by="test")
    rows = sheet(client, study)
    assert {row["suggestion"] for row in rows} == {"look"}
    assert [row["reasons"] for row in rows] == [
        "answered nothing",
        "was not shown the completion code",
        "excluded: Same place 40 times; was not shown the completion code",
    ]


def avoid(who: Annotator, how: str, screens: int) -> None:
    """Skip, flag (and answer) or do not judge so many of the next screens."""
    for _ in range(screens):
        lease = studies.assignment_leases.hold(annotator=who, stage=who.stage, wanted=1)[0]
        if how == "skip":
            studies.assignment_leases.skip(annotator=who, token=lease.token)
            continue
        if how == "flag":
            submissions.flag(annotator=who, token=lease.token, reason="blurred")
        answer = {"shown_answer": CANNOT_JUDGE, "reason": "dark"} if how == "cannot" else {"shown_answer": "none"}
        submission = submissions.Submission(token=lease.token, key=uuid.uuid4(), **answer)
        submissions.submit(annotator=who, submission=submission)


@pytest.mark.parametrize(
    ("how", "screens", "reason"),
    [
        ("skip", 39, "skipped 39 of 40 screens"),
        ("cannot", 39, "“cannot judge” in 39 of 40 answers"),
        ("flag", 39, "flagged 39 of 40 screens"),
        ("skip", 2, "skipped 2 of 3 screens"),
        ("cannot", 1, "“cannot judge” in 1 of 2 answers"),
        ("skip", 1, "skipped 1 of 2 screens"),
        ("flag", 1, ""),
    ],
)
def test_who_finished_by_avoiding_the_screens_is_looked_at(client, manager, study, how, screens, reason):
    ann = person(study, 1, "p1", times=(60_000,))
    avoid(ann, how, screens)
    finish(client, ann)
    [row] = sheet(client, study)
    assert row["code_given"] == study.completion_code
    assert (row["suggestion"], row["skipped"]) == ("look" if reason else "approve", str(screens * (how == "skip")))
    assert reason in row["reasons"].split("; ") and (not reason or f"{reason[1:]}.</span>" in page(client, study))


@pytest.mark.parametrize(
    ("items", "checks", "skipped", "reason"),
    [(4, 1, 1, "skipped 1 of 1 checks"), (8, 2, 2, "skipped 2 of 2 checks"), (20, 5, 1, "")],
)
def test_who_skipped_the_checks_is_looked_at_however_few_these_are(client, manager, items, checks, skipped, reason):
    study = studies.study(items=items, check_rate=0.2, consent="")
    known, stage = studies.benchmark(items=checks), study.stages.get()
    answers = {item: ["none"] for item in known.items.all()}
    made = {task.pk for task in attention_checks.set_checks(stage=stage, answers=answers, by="test")}
    ann, skips = studies.annotator(study, prolific_pid="p1"), skipped
    while held := studies.assignment_leases.hold(annotator=ann, stage=stage, wanted=1):
        if held[0].task_id in made and skips:
            skips -= 1
            studies.assignment_leases.skip(annotator=ann, token=held[0].token)
        else:
            studies.submit(ann, held[0], "none")
    client.get(f"/judge/{ann.token}/")
    [row] = sheet(client, study)
    assert (row["suggestion"], row["reasons"]) == ("look" if reason else "approve", reason)


def test_who_finished_with_far_less_than_the_others_is_looked_at(client, manager, study):
    people = [person(study, 5, f"p{n}", pick="none", times=(60_000,)) for n in range(5)]
    people.append(person(study, 1, "p9", pick="none", times=(60_000,)))
    for one in people:
        finish(client, one)
    reasons = [row["reasons"] for row in sheet(client, study)]
    assert reasons == [*[""] * 5, "finished with 1 answer; the median of all who finished is 5"]


def test_a_code_of_an_earlier_submission_is_not_given_for_the_newest(client, manager, study):
    ann = person(study, 1, "p1", prolific_session="x1")
    finish(client, ann)
    participant_lifecycle.arrive(annotator=ann, stage=None, by="test", prolific_session="x2")
    rows = sheet(client, study)
    assert [row["submission_id"] for row in rows] == ["x1", "x2"]
    assert [row["code_given"] for row in rows] == [study.completion_code, ""]


def test_nobody_is_paid_twice_for_what_they_did_for_an_earlier_submission(client, manager):
    study = studies.study(items=4, stages=TWO, pay_per_hour="60.00")
    first, second = study.stages.all()
    ann, other = (
        studies.annotator(study, prolific_pid="p1", prolific_session="x1", stage=first),
        studies.annotator(study),
    )
    for who, minutes in ((ann, 2), (other, 1)):
        for _ in range(3):
            studies.judgment(who, first, "candidate-0", active_ms=minutes * 60_000, elapsed_ms=minutes * 60_000)
    participant_lifecycle.arrive(annotator=ann, stage=second, by="test", prolific_study="s2", prolific_session="x2")
    studies.read(ann, second)
    studies.judgment(ann, second, active_ms=60_000, elapsed_ms=60_000)
    rows = sheet(client, study)
    assert [(row["submission_id"], row["answers"], row["pay_due"]) for row in rows] == [
        ("x1", "3", "6.00"),
        ("x2", "1", "1.00"),
    ]
    assert [one.answers for one in everybody(study)] == [4, 3]


def test_a_link_to_another_stage_without_a_new_submission_parts_nothing(client, manager):
    study = studies.study(stages=TWO)
    first, second = study.stages.all()
    ann = studies.annotator(study, prolific_pid="p1", prolific_session="x1", stage=first)
    participant_lifecycle.arrive(annotator=ann, stage=second, by="test")
    assert [row["submission_id"] for row in sheet(client, study)] == ["x1"]


def test_only_prolifics_people_are_in_the_file(client, manager, study):
    person(study, 1, name="Ada")
    assert sheet(client, study) == []


def test_no_cell_is_a_formula(client, manager, study):
    cells = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"]
    for cell in cells:
        person(study, 0, f"{cell}x", prolific_session=cell)
    text = client.get(reverse("study-submissions", args=[study.pk])).text
    rows = list(csv.reader(io.StringIO(text, newline="")))[1:]
    assert [row[:2] for row in rows] == [[harmless(f"{cell}x"), harmless(cell)] for cell in cells]


# Prolific's export


HEAD = "Submission id,Participant id,Status,Started at\n"


def test_whoever_returned_or_timed_out_has_left(client, manager, study):
    people = [person(study, 1, f"p{n}", prolific_session=f"x{n}") for n in range(4)]
    text = HEAD + "x0,p0,RETURNED,\nx1,p1,TIMED-OUT,\nx2,p2,APPROVED,\nx3,p3,AWAITING REVIEW,\n"
    shown = upload(client, study, "\ufeff" + text).text
    assert [bool(Annotator.objects.get(pk=one.pk).left_at) for one in people] == [True, True, False, False]
    assert "1 approved, 1 awaiting review, 1 returned, 1 timed-out" in shown and "Marked as left: A-01, A-02" in shown
    assert "No one else has left" in upload(client, study, text).text


def test_an_earlier_submission_that_was_returned_says_nothing_about_the_newest(client, manager, study):
    person(study, 1, "p0", prolific_session="new")
    shown = upload(client, study, HEAD + "old,p0,RETURNED,\n").text
    assert Annotator.objects.get().left_at is None and "Ignored 1 earlier submission" in shown


def test_unknown_ids_are_named(client, manager, study):
    rows = "".join(f"s{n},ghost-{n:02d},RETURNED,\n" for n in range(25))
    shown = upload(client, study, HEAD + rows + rows).text
    assert "ghost-00, ghost-01" in shown and "ghost-20" not in shown and "and 5 more" in shown


def test_older_names_of_the_columns_are_read(client, manager, study):
    person(study, 0, "p0", prolific_session="x0")
    upload(client, study, "session_id,participant_id,status\nx0,p0,timed out\n")
    assert Annotator.objects.get().left_at


@pytest.mark.parametrize(
    "text",
    [b"", b"Status\nRETURNED\n", b"Participant id\np0\n", HEAD.encode(), b"\xff\xfe\x00P", b"a\x00b,c\n1,2\n", b'"""'],
    ids=["empty", "no id", "no status", "no rows", "not UTF-8", "NUL", "quotes"],
)
def test_what_is_no_export_cannot_be_read(text):
    with pytest.raises(prolific.Unreadable, match="Upload the export as Prolific made it"):
        prolific.read(text)


def test_an_excel_workbook_is_named_as_one():
    with pytest.raises(prolific.Unreadable, match="This is an Excel workbook"):
        prolific.read(OLD_EXCEL + bytes(99))


@pytest.mark.parametrize("text", ["", HEAD])
def test_what_is_no_export_is_refused_with_a_sentence(client, manager, study, text):
    person(study, 0, "p0")
    answer = upload(client, study, text, follow=False)
    assert answer.status_code == 422 and 'id="id_file_error"' in answer.text
    assert Annotator.objects.get().left_at is None


def test_a_file_that_is_too_large_is_refused(client, manager, study, monkeypatch):
    monkeypatch.setattr("annotation.participants.views.MOST_BYTES", 10)
    assert upload(client, study, HEAD + "x0,p0,RETURNED,\n", follow=False).status_code == 422
