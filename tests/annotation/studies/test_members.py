"""A study's members: who becomes one, and that an owner stays."""

import threading

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from annotation.models import Member, Role, Study
from annotation.studies import members
from annotation.studies.members import CannotChange
from benchmarks.models import Event
from tests.builders import studies

pytestmark = pytest.mark.django_db


def staff(name: str) -> User:
    return User.objects.create_user(name, is_staff=True)


@pytest.fixture
def study() -> Study:
    return studies.study(created_by=staff("ana"))


def add(study: Study, name: str, role: Role = Role.OWNER) -> Member:
    return members.add(study=study, user=staff(name), role=role, by="test")


def test_who_makes_a_study_owns_it(study):
    member = study.members.get()
    assert (member.user.username, member.role) == ("ana", "owner")
    assert not studies.study().members.exists()


def test_every_change_is_on_record(study):
    bo = add(study, "bo", Role.VIEWER)
    members.change(member=bo, role=Role.MANAGER, by="test")
    members.remove(member=bo, by="test")
    told = Event.objects.filter(subject=f"study:{study.pk}", data__user=bo.user_id).order_by("pk")
    assert [(event.verb, event.data["role"]) for event in told] == [
        ("added a member", "viewer"),
        ("changed a member", "manager"),
        ("removed a member", "manager"),
    ]


def test_the_same_role_again_is_no_change(study):
    before = Event.objects.count()
    members.change(member=study.members.get(), role=Role.OWNER, by="test")
    assert Event.objects.count() == before


def test_nobody_is_a_member_twice(study):
    with pytest.raises(CannotChange, match="already a member"):
        members.add_by_name(study=study, name="ana", role=Role.VIEWER, by="test")
    with pytest.raises(IntegrityError), transaction.atomic():
        Member.objects.create(study=study, user=User.objects.get(), role=Role.VIEWER)


def test_only_who_may_manage_becomes_a_member(study):
    User.objects.create_user("guest")
    with pytest.raises(CannotChange, match="may not manage studies"):
        members.add_by_name(study=study, name="guest", role=Role.VIEWER, by="test")
    with pytest.raises(CannotChange, match="There is no user bo"):
        members.add_by_name(study=study, name="bo", role=Role.VIEWER, by="test")


def test_a_member_is_found_by_the_address_of_exactly_one(study):
    cy = User.objects.create_user("cy", "Cy@lab.example", is_staff=True)
    assert members.add_by_name(study=study, name="cy@LAB.example", role=Role.VIEWER, by="test").user == cy
    User.objects.create_user("di", "cy@lab.example", is_staff=True)
    with pytest.raises(CannotChange, match="Several users have the address"):
        members.add_by_name(study=study, name="cy@lab.example", role=Role.VIEWER, by="test")


@pytest.mark.parametrize("other", [Role.MANAGER, Role.VIEWER])
def test_the_last_owner_stays(study, other):
    add(study, "bo", other)
    ana = study.members.get(role=Role.OWNER)
    with pytest.raises(CannotChange, match="ana is the last owner"):
        members.remove(member=ana, by="test")
    with pytest.raises(CannotChange, match="ana is the last owner"):
        members.change(member=ana, role=other, by="test")
    assert study.members.filter(role=Role.OWNER).count() == 1


def test_an_owner_who_cannot_log_in_is_none(study):
    gone = add(study, "bo")
    User.objects.filter(pk=gone.user_id).update(is_active=False)
    with pytest.raises(CannotChange, match="last owner"):
        members.remove(member=study.members.get(user__username="ana"), by="test")
    members.remove(member=gone, by="test")


def test_with_another_owner_one_may_go(study):
    add(study, "bo")
    members.remove(member=study.members.get(user__username="ana"), by="test")
    assert study.members.get().user.username == "bo"


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_remove_each_other_at_once_leave_one(study):
    add(study, "bo")
    start, refused = threading.Barrier(2), []

    def remove(member: Member) -> None:
        start.wait()
        try:
            members.remove(member=member, by="test")
        except CannotChange as refusal:
            refused.append(str(refusal))
        connection.close()

    threads = [threading.Thread(target=remove, args=[member]) for member in members.members_of(study)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (study.members.count(), len(refused)) == (1, 1)


# By command


def test_the_command_makes_an_owner_or_says_that_there_is_none(capsys):
    studies.benchmark(items=2, name="Small")
    call_command("create_study", "Small", "--protocol", "verify", "--name", "Nobody's")
    assert "Only admins see it" in capsys.readouterr().out
    staff("ana")
    call_command("create_study", "Small", "--protocol", "verify", "--name", "Ana's", "--owner", "ana")
    assert "Only admins" not in capsys.readouterr().out
    assert {member.study.name: member.user.username for member in Member.objects.all()} == {"Ana's": "ana"}


def test_the_command_refuses_an_owner_who_may_not_manage():
    studies.benchmark(items=2, name="Small")
    User.objects.create_user("guest")
    for name in ("guest", "bo"):
        with pytest.raises(CommandError, match=f"There is no staff user '{name}'"):
            call_command("create_study", "Small", "--protocol", "verify", "--owner", name)
    assert not Study.objects.exists()
