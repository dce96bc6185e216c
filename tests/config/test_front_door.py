"""The two addresses of the project package."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

pytestmark = pytest.mark.django_db


def test_the_front_door_leads_a_stranger_to_the_login(client):
    assert client.get("/").url == reverse("login")


def test_the_front_door_leads_staff_to_the_studies(client):
    client.force_login(User.objects.create(username="m", is_staff=True))
    assert client.get("/").url == reverse("study-list")


def test_health_says_which_server_does_not_answer(client, settings):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": "unix:///nowhere.sock"}}
    answer = client.get("/healthz")
    assert answer.status_code == 503
    assert answer.content.decode() == "database: ok\nredis: does not answer\n"
