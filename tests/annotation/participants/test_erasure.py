"""Who somebody was is forgotten everywhere; what they judged stays, and so does every byte of the export."""

import logging
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.exports.export import export_split
from annotation.judging import completion
from annotation.models import Annotator, Lease
from annotation.participants import lifecycle as participant_lifecycle
from annotation.participants.erasure import PERSONAL, erase, of_before
from benchmarks.housekeeping import tables
from benchmarks.models import Event
from config.logs import Redacted
from tests.annotation.releases.released import contents
from tests.builders import crowds, studies
from tests.builders import webhooks as builders_webhooks
from tests.builders.pipelines import with_originals

WHO = {
    "name": "Grace Canary",
    "prolific_pid": "CANARYPID",
    "prolific_study": "CANARYSTUDY",
    "prolific_session": "CANARYSESSION",
}


def person(study) -> Annotator:
    """Came by Prolific, came again by another submission, judged, flagged."""
    who = studies.annotator(study, **WHO)
    studies.judgment(who, study.stages.get())
    participant_lifecycle.arrive(annotator=who, stage=None, by="test", prolific_session="CANARYSECOND")
    return who


def everything() -> bytes:
    return b"".join(piece for name in tables.names() for piece in tables.dump(name, tables.columns(name)))


@pytest.mark.django_db(transaction=True)
def test_nothing_is_left_and_the_export_is_the_same(tmp_path):
    study = with_originals(crowds.stage(items=6, people=2, overlap=2).study)
    studies.annotator(study, **WHO)
    who = Annotator.objects.get(name=WHO["name"])
    participant_lifecycle.arrive(annotator=who, stage=None, by="test", prolific_session="CANARYSECOND")
    assert everything().count(b"CANARY") >= 5 and who.token.encode() in everything()
    export_split(study=study, out=tmp_path / "before", by="test")
    assert erase(annotator=who, by="test")
    export_split(study=study, out=tmp_path / "after", by="test")
    assert contents(tmp_path / "before") == contents(tmp_path / "after")
    assert b"CANARY" not in everything() and b"Grace" not in everything()
    assert Annotator.objects.filter(number=who.number, token=who.token).exists()
    assert who.token == Annotator.objects.get(pk=who.pk).token


BROWSER = {"HTTP_USER_AGENT": "CANARYBROWSER", "REMOTE_ADDR": "203.0.113.77", "HTTP_REFERER": "https://CANARYREFERER/"}


def stored_anywhere() -> bytes:
    """Every value of every table, every file in the storage, and what Redis has."""
    redis = cache._cache.get_client()
    values = [value for key in redis.scan_iter() for value in (key, redis.dump(key) or b"")]
    files = [path.read_bytes() for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file()]
    return b"\n".join([everything(), *values, *files])


@pytest.mark.django_db(transaction=True)
def test_nothing_of_somebody_who_came_answered_and_was_paid_is_kept(client, manager, caplog):
    cache.clear()
    study = studies.study(items=3, overlap=1, quota=1, consent="Do you agree?")
    builders_webhooks.webhook(study)
    visitor = Client(**BROWSER)
    for ids in ("", "?PROLIFIC_PID=CANARYPID10001&STUDY_ID=CANARYSTUDY10001&SESSION_ID=CANARYSESSION10001"):
        with caplog.at_level(logging.DEBUG):
            sent = {"name": "Grace Canary", "consent": "yes", "key": "CANARYKEY"}
            home = visitor.post(f"/join/{study.invite}/{ids}", sent).url
            who = Annotator.objects.get(token=home.split("/")[2])
            studies.read(who, study.stages.get())
            visitor.get(home)
            lease = who.leases.get()
            visitor.post(home + "flag/", {"lease": lease.token, "flag_reason": "blurred"})
            studies.judgment(who, study.stages.get())
            assert "code" in visitor.get(home).text
            again = ids.replace("STUDY1", "STUDY2").replace("SESSION1", "SESSION2")
            visitor.post(f"/join/{study.invite}/{again}")
            visitor.get(home)
            visitor.post(home + "leave/")
            visitor.post(home + "return/")
            client.get(reverse("study-annotators", args=[study.pk]))
            client.get(reverse("study-submissions", args=[study.pk]))
            csv = f"Participant id,Status\n{who.prolific_pid},RETURNED\n".encode()
            client.post(
                reverse("study-returned", args=[study.pk]), {"file": SimpleUploadedFile("x.csv", csv)}, follow=True
            )
        token = who.token
        before = stored_anywhere()
        assert token.encode() in before and (b"CANARYSESSION10001" in before) == bool(ids)
        assert erase(annotator=who, by="test")
        kept = stored_anywhere()
        logged = "\n".join(map(Redacted().format, caplog.records))
        for value in ("CANARY", "Grace Canary", token, "203.0.113.77"):
            assert value.encode() not in kept and value not in logged
    assert Event.objects.filter(verb="was given a code").count() >= 2


@pytest.mark.django_db
class TestOne:
    @pytest.fixture
    def study(self):
        return studies.study(items=3)

    def test_judgments_and_what_is_held_stay(self, study):
        who = person(study)
        before = list(Lease.objects.values_list("pk", "state"))
        old = who.token
        erase(annotator=who, by="test")
        assert list(Lease.objects.values_list("pk", "state")) == before
        assert not Annotator.objects.filter(token=old).exists()
        assert Event.objects.filter(verb="erased personal data", subject=f"annotator:{who.pk}").count() == 1
        assert not erase(annotator=who, by="test")

    def test_the_old_link_opens_nothing(self, client, study):
        who = person(study)
        old = who.token
        erase(annotator=who, by="test")
        assert client.get(reverse("judge", args=[old])).status_code == 404

    def test_who_comes_again_is_somebody_new(self, study):
        who = person(study)
        erase(annotator=who, by="test")
        again = studies.annotator(study, **WHO)
        assert (again.number, again.pk != who.pk) == (who.number + 1, True)

    def test_who_arrives_in_the_same_moment_leaves_nothing(self, study):
        who = person(study)
        erase(annotator=Annotator.objects.get(pk=who.pk), by="test")
        participant_lifecycle.arrive(annotator=who, stage=None, by="test", prolific_session="CANARYTHIRD")
        assert {getattr(Annotator.objects.get(pk=who.pk), name) for name in PERSONAL} == {""}

    def test_a_code_given_in_the_same_moment_leaves_nothing(self, study):
        who = person(study)
        erase(annotator=Annotator.objects.get(pk=who.pk), by="test")
        completion.give_code(who, study, participant_lifecycle.FINISHED)
        assert Event.objects.get(verb="was given a code").data["session"] == ""

    def test_the_database_holds_it(self, study):
        who = person(study)
        erase(annotator=who, by="test")
        with pytest.raises(IntegrityError, match="annotator_erased_whole"), transaction.atomic():
            Annotator.objects.filter(pk=who.pk).update(name="Grace")

    def test_by_command(self, study, capsys):
        who = person(study)
        call_command("erase_annotator", study.name, who.pseudonym.lower())
        assert "erased" in capsys.readouterr().out
        with pytest.raises(CommandError, match="no annotator A-99"):
            call_command("erase_annotator", study.name, "A-99")

    def test_those_of_long_ago(self, study, capsys):
        old, fresh, nameless = person(study), studies.annotator(study, name="New"), studies.annotator(study)
        ago = timezone.now() - timedelta(days=100)
        Annotator.objects.update(joined_at=ago)
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("ALTER TABLE annotation_judgment DISABLE TRIGGER USER")
            cursor.execute("UPDATE annotation_judgment SET created_at = %s", [ago])
        Lease.objects.update(granted_at=ago)
        studies.judgment(fresh, study.stages.get())
        assert list(of_before(timezone.now() - timedelta(days=90))) == [old]
        call_command("erase_personal_data", older_than=90, dry_run=True)
        assert Annotator.objects.get(pk=old.pk).name and "1 annotator would be erased" in capsys.readouterr().out
        call_command("erase_personal_data", older_than=90)
        assert set(Annotator.objects.exclude(erased_at=None)) == {old} and nameless.erased_at is None
