"""The agreement page in a browser: all of it is within reach of the keys."""

from django.urls import reverse

from annotation.figures import agreement
from tests.browser.looking import fits, in_windows
from tests.builders import crowds


def test_keys_reach_it_all(page, visit):
    """It breaks no rule of axe: test_plots.py."""
    stage = crowds.stage(items=12, people=4, overlap=3)
    visit(page, reverse("study-agreement", args=[stage.study_id]))
    page.focus("#by")
    page.keyboard.press("p")  # pair of annotators
    page.keyboard.press("Enter") if page.locator("select#by").input_value() == "pair" else page.select_option(
        "#by", "pair"
    )
    page.focus("form.asks button")
    page.keyboard.press("Enter")
    page.wait_for_url("**by=pair**")
    assert page.locator(".by-table tbody tr").count() == len(agreement.stage_agreement(stage, "answer")["pair"])
    assert [fits(page) for _ in in_windows(page)] == [True, True] and page.errors == []
