"""Messages by e-mail: what each kind tells, to whom, and that everybody is told once."""

from datetime import UTC, datetime, timedelta
from smtplib import SMTPServerDisconnected

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.mail import EmailMessage
from django.utils import timezone

from annotation.assignment import leases
from annotation.judging import submissions
from annotation.models import Role, Slot, Study
from annotation.notifications import digest
from annotation.participants import lifecycle as participant_lifecycle
from annotation.pipeline import audits
from annotation.studies import lifecycle, members
from benchmarks.jobs import jobs
from benchmarks.models import Job, Notification
from benchmarks.notifications import send, subscriptions
from benchmarks.notifications.kinds import KINDS, Kind
from benchmarks.records import Problem
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def mail_server(settings):
    settings.EMAIL_HOST, settings.SITE_URL = "mail.example.org", "https://winnow.example.org"
    settings.DEFAULT_FROM_EMAIL = "winnow@example.org"


@pytest.fixture
def ana() -> User:
    return User.objects.create_user("ana", email="ana@example.org", is_staff=True)


def wants(user: User, *kinds: str) -> None:
    subscriptions.choose(user=user, kinds=kinds, by="test")


def ended(user: User, kind: str = "export", failed: bool = False, **params) -> Job:
    job = jobs.queue_job(kind=kind, title=f"{kind} of cups", params=params, by="test", created_by=user)
    jobs.start_job(job=job, by="test")
    if failed:
        return jobs.fail_job(job=job, by="test", problems=[Problem("ODD", "a.csv", 1, "", "Private.")])
    return jobs.finish_job(job=job, by="test", report={})


def sent() -> list[str]:
    """The subjects of what is sent now."""
    mail.outbox.clear()
    count = send.send_all()
    assert count == len(mail.outbox)
    return [one.subject for one in mail.outbox]


# Once


def test_each_is_told_once(ana):
    ended(ana, "import")  # before they asked
    wants(ana, "job")
    assert sent() == []
    job = ended(ana, "import")
    assert sent() == ["[Winnow] Done: import of cups"] and sent() == []
    assert Notification.objects.filter(about=f"job:{job.pk}", sent=True).count() == 1


def test_a_message_is_plain_text_with_a_link_and_says_how_to_end_it(ana):
    wants(ana, "job")
    job = ended(ana, "import", failed=True)
    assert sent() == ["[Winnow] Failed: import of cups"]
    (message,) = mail.outbox
    assert (message.to, message.from_email) == (["ana@example.org"], "winnow@example.org")
    assert f"\nhttps://winnow.example.org/jobs/{job.pk}/\n" in message.body and "Private" not in message.body
    assert "https://winnow.example.org/account/" in message.body and not getattr(message, "alternatives", None)


def test_nothing_is_sent_without_a_mail_server_an_address_or_a_right(ana, settings):
    wants(ana, "job")
    ended(ana, "import")
    for change in ({"email": ""}, {"is_staff": False}, {"is_active": False}):
        before = {name: getattr(ana, name) for name in change}
        User.objects.update(**change)
        assert sent() == []
        User.objects.update(**before)
    settings.EMAIL_HOST = ""
    assert sent() == []
    settings.EMAIL_HOST = "mail.example.org"
    assert len(sent()) == 1


def test_a_refused_message_is_tried_again_and_not_for_ever(ana, monkeypatch):
    wants(ana, "job")
    ended(ana, "import")

    def refuse(self, *args):
        raise SMTPServerDisconnected("busy")

    with monkeypatch.context() as busy:
        busy.setattr(EmailMessage, "send", refuse)
        assert sent() == []
    assert sent() == []  # not at once
    for tried in (-send.RETRY, timedelta(hours=2)):  # the second by a clock that was ahead
        Notification.objects.update(sent=False, tried_at=timezone.now() + tried)
        assert len(sent()) == 1
    Notification.objects.update(sent=False, tries=send.TRIES, tried_at=timezone.now() - send.RETRY)
    assert sent() == []


def test_neither_a_killed_nor_a_second_worker_sends_it_twice(ana, monkeypatch):
    monkeypatch.setattr(send, "RETRY", timedelta())
    wants(ana, "job")
    job = ended(ana, "import")

    def killed(self, *args):
        other = send._send(ana, "job", send.Message(f"job:{job.pk}", "again", "again"))  # another worker meanwhile
        assert not other
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(EmailMessage, "send", killed)
        with pytest.raises(KeyboardInterrupt):
            send.send_all()
    assert sent() == []


def test_a_kind_that_fails_does_not_silence_the_others(ana, monkeypatch):
    wants(ana, "stage", "job")
    ended(ana, "import")
    monkeypatch.setitem(KINDS, "stage", Kind("stage", "Broken", lambda *asked: 1 / 0))
    assert len(sent()) == 1


# A job


def test_a_job_is_told_to_who_asked_and_may_still_see_it(ana):
    study = studies.study(items=2)
    member = members.add(study=study, user=ana, role=Role.VIEWER, by="test")
    wants(ana, "job")
    ended(ana, "export", study=study.pk)
    ended(ana, "figures", study=study.pk)
    ended(User.objects.create_user("kim", is_staff=True), "import")
    assert sent() == ["[Winnow] Done: export of cups"]
    member.delete()
    ended(ana, "export", study=study.pk)
    assert sent() == []


# A stage


@pytest.fixture
def study(ana) -> Study:
    return studies.study(items=2, created_by=ana, name="Cups\nand saucers")


def test_a_stage_is_told_when_its_last_judgment_is_given(ana, study):
    wants(ana, "stage")
    annotator, stage = studies.annotator(study), study.stages.get()
    assert sent() == []  # nothing is judged
    studies.judgment(annotator, stage)
    assert sent() == []
    studies.judgment(annotator, stage)
    assert sent() == ["[Winnow] Stage Choose the image that fits of Cups and saucers is done"]
    assert f"/studies/{study.pk}/stages/1/\n" in mail.outbox[0].body
    assert sent() == []


def test_an_audit_is_told_when_it_has_met_its_target(ana):
    wants(ana, "stage")
    stage = studies.stage(items=12, strategy="audit", target_half_width=0.2)
    members.add(study=stage.study, user=ana, role=Role.MANAGER, by="test")
    annotator = studies.annotator(stage.study)
    for _ in range(10):
        studies.judgment(annotator, stage)
    assert sent() == [f"[Winnow] Stage Choose the image that fits of {stage.study.name} is done"]
    assert "has all the judgments that it needs. The target is met." in mail.outbox[0].body
    assert audits.stop_if_over(stage) and sent() == []


def test_an_audit_whose_bound_is_not_met_says_so(ana):
    wants(ana, "stage")
    stage = studies.stage(items=3, strategy="audit", target_bound=0.5, any_look=True)
    members.add(study=stage.study, user=ana, role=Role.MANAGER, by="test")
    annotator = studies.annotator(stage.study)
    for _ in range(3):
        studies.judgment(annotator, stage, "none")
    assert sent() == [f"[Winnow] Stage Choose the image that fits of {stage.study.name} is done"]
    assert "The target is not met: 3 of all 3 items are wrong, more than 50%." in mail.outbox[0].body


def test_a_stage_that_opens_again_is_told_again_but_not_after_an_undo(ana, study):
    wants(ana, "stage")
    annotator, stage = studies.annotator(study), study.stages.get()
    for _ in range(2):
        studies.judgment(annotator, stage)
    assert len(sent()) == 1
    for hours, told in ((0, 0), (2, 1)):
        Notification.objects.update(tried_at=timezone.now() - timedelta(hours=hours))
        slot = Slot.objects.filter(stage=stage).exclude(judgment=None).first()
        before = {"annotator": slot.annotator, "judgment": slot.judgment}
        Slot.objects.filter(pk=slot.pk).update(annotator=None, judgment=None)
        assert sent() == []
        Slot.objects.filter(pk=slot.pk).update(**before)
        assert len(sent()) == told


def test_what_is_old_or_not_theirs_or_closed_is_no_news(ana, study):
    annotator, stage = studies.annotator(study), study.stages.get()
    for _ in range(2):
        studies.judgment(annotator, stage)
    wants(ana, "stage")  # it is done already
    viewer = User.objects.create_user("kim", email="kim@example.org", is_staff=True)
    members.add(study=study, user=viewer, role=Role.VIEWER, by="test")
    wants(viewer, "stage")
    root = User.objects.create_superuser("root", email="root@example.org")
    wants(root, "stage")
    Notification.objects.exclude(user=ana).delete()
    assert sent() == []
    Notification.objects.all().delete()
    lifecycle.move_stage(stage=stage, to="closed", by="test")
    assert sent() == []


# Every day


def at(hour: int, day: int = 2) -> datetime:
    return datetime(2026, 3, day, hour, 30, tzinfo=UTC)


@pytest.fixture
def clock(monkeypatch):
    def put(moment: datetime) -> None:
        monkeypatch.setattr(digest.timezone, "now", lambda: moment)

    return put


def test_a_day_has_one_message_with_what_waits(ana, study, clock, monkeypatch):
    monkeypatch.setattr(send, "RETRY", timedelta())
    clock(at(1))
    wants(ana, "daily")
    stage = study.stages.get()
    annotator = studies.annotator(study, name="Grace")
    lease = leases.hold(annotator=annotator, stage=stage, wanted=1)[0]
    submissions.flag(annotator=annotator, token=lease.token, reason="Odd")
    participant_lifecycle.leave(annotator=annotator, by="test")
    clock(at(digest.HOUR - 1))
    assert sent() == []
    clock(at(digest.HOUR))
    assert sent() == ["[Winnow] Flags and blocked items"]
    body = mail.outbox[0].body
    assert "- 1 flag to review\n- 2 blocked items: no annotator left who may judge\n" in body
    assert f"/studies/{study.pk}/items/blocked/?stage=1" in body and "Grace" not in body and "Odd" not in body
    clock(at(23))
    assert sent() == []
    clock(at(digest.HOUR, day=3))
    assert len(sent()) == 1


def test_a_day_without_anything_to_do_has_no_message_and_is_looked_at_once(ana, study, clock, monkeypatch):
    clock(at(1))
    wants(ana, "daily")
    lifecycle.move_study(study=study, to="paused", by="test")
    clock(at(digest.HOUR))
    assert sent() == []
    assert Notification.objects.filter(kind="daily", about="2026-03-02", sent=True).exists()
    monkeypatch.setattr(digest, "_of_stage", lambda stage: pytest.fail("looked again"))
    lifecycle.move_study(study=Study.objects.get(), to="open", by="test")
    assert sent() == []
