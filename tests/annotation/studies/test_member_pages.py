"""The page of a study's members."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.models import Member, Role, Study
from annotation.studies import members
from tests.browser.looking import fits, in_windows
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(owner) -> Study:
    return studies.study(created_by=owner)


def page(study: Study) -> str:
    return reverse("study-members", args=[study.pk])


def one(member: Member) -> str:
    return reverse("study-member", args=[member.study_id, member.pk])


def add(study: Study, name: str, role: Role = Role.VIEWER) -> Member:
    return members.add(study=study, user=User.objects.create_user(name, is_staff=True), role=role, by="test")


def test_an_owner_adds_changes_and_removes(client, study):
    User.objects.create_user("bo", is_staff=True)
    assert "has the role viewer" in client.post(page(study), {"name": " bo ", "role": "viewer"}, follow=True).text
    bo = study.members.get(user__username="bo")
    assert "bo now has the role manager" in client.post(one(bo), {"role": "manager"}, follow=True).text
    assert study.members.get(pk=bo.pk).role == "manager"
    assert "bo is no longer a member" in client.post(one(bo), {"remove": "1"}, follow=True).text
    assert study.members.count() == 1


@pytest.mark.parametrize(
    "sent, why",
    [
        ({"name": "nobody", "role": "viewer"}, "There is no user nobody"),
        ({"name": "ana", "role": "viewer"}, "already a member"),
        ({"name": "", "role": "viewer"}, "required"),
        ({"name": "ana", "role": "king"}, "valid choice"),
    ],
)
def test_what_cannot_be_added_is_said_at_its_field(client, study, sent, why):
    answer = client.post(page(study), sent)
    assert answer.status_code == 422 and why in answer.text
    assert study.members.count() == 1


@pytest.mark.parametrize("sent", [{"remove": "1"}, {"role": "viewer"}, {"role": "king"}])
def test_the_last_owner_and_an_odd_role_are_refused_in_words(client, study, sent):
    answer = client.post(one(study.members.get()), sent, follow=True)
    assert "last owner" in answer.text or "That role does not exist." in answer.text
    assert study.members.get().role == "owner"


def test_the_only_owner_is_offered_no_way_out(client, study):
    assert "Remove ana" not in client.get(page(study)).text
    add(study, "bo", Role.OWNER)
    assert "Remove ana" in client.get(page(study)).text


def test_another_study_s_member_is_not_there(client, study):
    other = add(studies.study(), "bo")
    assert client.post(reverse("study-member", args=[study.pk, other.pk]), {"remove": "1"}).status_code == 404
    assert Member.objects.filter(pk=other.pk).exists()


@pytest.mark.parametrize("sent", [{"remove": "1"}, {"role": "viewer"}])
def test_who_gives_up_the_study_is_led_to_the_others(client, study, sent):
    add(study, "bo", Role.OWNER)
    answer = client.post(one(study.members.get(user__username="ana")), sent)
    assert answer.url == reverse("study-list")


def test_a_manager_reads_the_list_and_changes_nothing(client, study):
    client.force_login(add(study, "bo", Role.MANAGER).user)
    shown = client.get(page(study)).text
    assert "ana" in shown and 'name="role"' not in shown and "Remove" not in shown


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_axe_finds_nothing_and_the_keyboard_does_all(open_page, site, sign_in, axe_violations, owner, study):
    add(study, "bo")
    User.objects.create_user("cy", is_staff=True)
    screen = open_page()
    sign_in(screen, owner)
    screen.goto(site + page(study))
    for window in in_windows(screen):
        assert axe_violations(screen) == [] and fits(screen), window
    screen.get_by_label("Name or e-mail address").focus()
    for key in ("c", "y", "Tab", "m", "Tab", "Enter"):
        screen.keyboard.press(key)
    screen.get_by_text("cy now has the role manager in this study.").wait_for()
    assert screen.errors == []
