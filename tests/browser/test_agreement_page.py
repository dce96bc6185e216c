"""The agreement page in a browser: accessible, and all of it within reach of the keys."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.figures import agreement
from tests.builders import crowds


def address(stage) -> str:
    return reverse("study-agreement", args=[stage.study_id])


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("width, dark", [(1366, False), (390, True)])
def test_axe_finds_nothing_and_keys_reach_it_all(open_page, site, sign_in, axe_violations, width, dark):
    manager = User.objects.create_superuser("ana", password="x")
    stage = crowds.stage(items=60, people=12, overlap=3)
    page = open_page(width=width, dark=dark)
    sign_in(page, manager)
    page.goto(site + address(stage))
    page.focus("#by")
    page.keyboard.press("p")  # pair of annotators
    page.keyboard.press("Enter") if page.locator("#by").input_value() == "pair" else page.select_option("#by", "pair")
    page.focus("form.asks button")
    page.keyboard.press("Enter")
    page.wait_for_url("**by=pair**")
    assert page.locator(".by-table tbody tr").count() == len(agreement.stage_agreement(stage, "answer")["pair"])
    assert axe_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.errors == []
