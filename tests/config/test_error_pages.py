"""What somebody sees who followed a wrong link, is not allowed, or met a fault of ours."""

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string

pytestmark = pytest.mark.django_db


def test_a_wrong_address_is_answered_with_a_page(client):
    answer = client.get("/judge/nobody-has-this-token/")
    assert answer.status_code == 404 and "Page not found" in answer.text


def test_who_is_no_manager_is_told_so(client):
    client.force_login(User.objects.create_user("guest", last_login=None))
    answer = client.get("/studies/")
    assert answer.status_code == 403 and "You don’t have access to this page" in answer.text


def test_a_fault_is_answered_without_a_request():
    assert "Something went wrong" in render_to_string("500.html")
