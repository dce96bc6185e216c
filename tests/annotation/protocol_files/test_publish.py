"""Publishing protocol files, and stages that ask them."""

import hashlib

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from annotation.models import ProtocolVersion
from annotation.protocol_files.publish import NameTaken, publish
from annotation.protocols import library
from annotation.protocols.registry import is_known, protocol_named
from benchmarks.formats.base import ProblemLog, Unreadable
from tests.builders import declared, studies

pytestmark = pytest.mark.django_db
TEXT = library.text_of("prompt-fit")


def test_the_same_text_is_one_version_and_another_the_next():
    first = publish(text=TEXT, by="test")
    assert str(first) == "prompt-fit@1" and first.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert publish(text=TEXT, by="test") == first
    second = publish(text=TEXT.replace("judgments: 3", "judgments: 5"), by="test")
    assert str(second) == "prompt-fit@2"
    assert [protocol_named(str(one)).file.judgments for one in (first, second)] == [3, 5]


@pytest.mark.parametrize("number", ["0", "01", "2", "x", "", "-1", "١", "9" * 20, "9" * 5000])
def test_a_version_has_one_name(number):
    publish(text=TEXT, by="test")
    assert is_known("prompt-fit@1") and not is_known(f"prompt-fit@{number}")


def test_a_text_with_problems_is_no_version():
    log = ProblemLog()
    with pytest.raises(Unreadable):
        publish(text=TEXT.replace("kind: scale", "kind: stars"), by="test", log=log)
    assert log.problems and not ProtocolVersion.objects.exists()


def test_a_name_belongs_to_those_who_published_under_it():
    first, second, root = (
        User.objects.create(username=name, is_superuser=name == "root") for name in ("ada", "ben", "root")
    )
    publish(text=TEXT, by="ada", user=first)
    with pytest.raises(NameTaken):
        publish(text=TEXT + "\n", by="ben", user=second)
    assert publish(text=TEXT + "\n", by="root", user=root).number == 2
    assert publish(text=TEXT + "\n\n", by="ada", user=first).number == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda version: ProtocolVersion.objects.update(text=""),
        lambda version: ProtocolVersion.objects.update(number=7),
        lambda version: version.delete(),
    ],
    ids=["text", "number", "deletion"],
)
def test_a_published_version_never_changes(change):
    version = publish(text=TEXT, by="test")
    with pytest.raises(IntegrityError), transaction.atomic():
        change(version)


def test_its_author_can_leave():
    author = User.objects.create(username="ada")
    publish(text=TEXT, by="ada", user=author)
    author.delete()
    assert ProtocolVersion.objects.get().published_by is None


def test_what_is_not_published_is_no_protocol():
    for name in ("prompt-fit@1", "prompt-fit@x", "prompt-fit@"):
        with pytest.raises(KeyError):
            protocol_named(name)


VOTES = [
    (["caption-positive-0"] * 2 + ["caption-negative-0"], ("kept", "caption-positive-0", "")),
    (["caption-positive-0", "both", "both"], ("dropped", "both", "both_fit")),
    (["caption-positive-0", "both", "caption-negative-0"], ("dropped", "", "no_agreement")),
    (["caption-negative-0"] * 2 + ["neither"], ("dropped", "caption-negative-0", "foil_fits")),
]


@pytest.mark.parametrize(("votes", "expected"), VOTES)
def test_the_files_rules_decide_a_task(votes, expected):
    study = declared.study("image-caption-foil", items=1)
    stage = study.stages.get()
    assert (stage.protocol, stage.name, stage.overlap) == ("image-caption-foil@1", "image-caption-foil", 3)
    for vote in votes:
        studies.judgment(studies.annotator(study), stage, vote)
    decided = stage.tasks.get().decided
    assert (decided.state, decided.outcome, decided.reason) == expected
