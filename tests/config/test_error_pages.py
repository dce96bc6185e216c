"""What somebody sees who followed a wrong link, is not allowed, or met a fault of ours."""

from urllib.parse import unquote

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client

pytestmark = pytest.mark.django_db


def test_a_wrong_address_is_answered_with_a_page(client):
    answer = client.get("/judge/nobody-has-this-token/")
    assert answer.status_code == 404 and "Page not found" in answer.text


def test_who_is_no_manager_is_told_so(client):
    client.force_login(User.objects.create_user("guest", last_login=None))
    answer = client.get("/studies/")
    assert answer.status_code == 403 and "You don’t have access to this page" in answer.text


def test_an_outdated_form_is_refused_with_a_page_that_has_what_was_typed():
    client, text = Client(enforce_csrf_checks=True), "A rule that took long to write."
    client.force_login(User.objects.create_superuser("ana", last_login=None))
    back = "http://testserver/studies/1/settings/instructions/"
    answer = client.post(
        "/studies/1/settings/instructions/", {"text": text, "old_password": "s" * 30}, headers={"Referer": back}
    )
    assert answer.status_code == 403 and "This page was out of date" in answer.text
    assert text in answer.text and f'href="{back}"' in answer.text and "s" * 30 not in answer.text
    assert 'href="http://elsewhere' not in client.post("/", headers={"Referer": "http://elsewhere/"}).text


def test_a_session_that_has_ended_leads_back_to_the_page_of_the_form(client):
    page = "http://testserver/studies/1/people/prolific/"
    answer = client.post("/studies/1/people/codes/", headers={"Referer": page})
    assert unquote(answer.url) == f"/login/?next={page}"


def test_a_fault_is_answered_without_a_request():
    assert "Something went wrong" in render_to_string("500.html")
