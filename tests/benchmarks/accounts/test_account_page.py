"""The page of one's own account: e-mail address, password, and the way to everything else."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.models import Event, Subscription

pytestmark = pytest.mark.django_db
OLD, NEW = "cups-and-saucers", "plates-and-bowls"


@pytest.fixture
def ana(client) -> User:
    user = User.objects.create_user("ana", password=OLD, is_staff=True)
    client.force_login(user)
    return user


def change(client, **fields):
    return client.post(reverse("account"), fields)


def test_it_shows_the_account_and_leads_to_the_token(client, ana):
    page = client.get(reverse("account")).text
    assert reverse("api-token") in page and 'name="appearance"' in page and ">ana</p>" in page
    assert reverse("account") in client.get(reverse("study-list")).text


def test_an_address_is_stored_and_emptied(client, ana):
    for address in ("ana@example.org", ""):
        change(client, save="email", email=address)
        ana.refresh_from_db()
        assert ana.email == address
    event = Event.objects.filter(verb="changed an e-mail address").first()
    assert event.by == event.subject == f"user:{ana.pk}" and "example" not in str(event.data)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"save": "email", "email": "ana@"}, "Enter a valid email address."),
        ({"save": "password", "old_password": "wrong", "new_password1": NEW, "new_password2": NEW}, "old password was"),
        ({"save": "password", "old_password": OLD, "new_password1": NEW, "new_password2": "x"}, "fields didn’t match"),
        ({"save": "password", "old_password": OLD, "new_password1": "12", "new_password2": "12"}, "too short"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(client, ana, fields, why):
    before = User.objects.values().get()
    page = change(client, **fields)
    assert page.status_code == 422 and why in page.text and 'aria-invalid="true"' in page.text
    assert User.objects.values().get() == before and OLD not in page.text and not Event.objects.exists()


def test_a_changed_password_ends_other_sessions_and_keeps_this_one(client, ana):
    other = type(client)()
    other.force_login(ana)
    change(client, save="password", old_password=OLD, new_password1=NEW, new_password2=NEW)
    assert "Your password has been changed" in client.get(reverse("account")).text
    assert other.get(reverse("account")).status_code == 302
    ana.refresh_from_db()
    assert ana.check_password(NEW) and Event.objects.filter(verb="changed a password").count() == 1


def test_a_form_that_names_nothing_changes_nothing(client, ana):
    assert change(client, email="x@example.org").status_code == 200
    assert not Event.objects.exists()


def test_notifications_are_offered_only_where_e_mail_is_sent(client, ana, settings):
    assert 'name="kinds"' not in client.get(reverse("account")).text
    change(client, save="email", email="ana@example.org", kinds=["job"])
    assert not Subscription.objects.exists()
    settings.EMAIL_HOST = "mail.example.org"
    page = client.get(reverse("account")).text
    assert all(f'name="kinds" value="{kind}"' in page for kind in ("job", "stage", "daily"))
    assert change(client, save="email", email="", kinds=["job"]).status_code == 422
    change(client, save="email", email="ana@example.org", kinds=["job", "daily"])
    change(client, save="email", email="ana@example.org", kinds=["daily"])
    assert [one.kind for one in ana.subscriptions.all()] == ["daily"]
    assert Event.objects.filter(verb="chose notifications").count() == 2
