"""What papers report, on the study page and a benchmark's page, in a real browser: it fits, and can be used by all."""

import pytest
from django.contrib.auth.models import User

from tests.annotation.dashboard.test_text_figures import MATERIAL, worked
from tests.builders.pictures import paint

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def visit(site, sign_in):
    user = User.objects.create_user("ana", password="x", is_staff=True, is_superuser=True)

    def go(page, path: str):
        sign_in(page, user)
        page.goto(f"{site}{path}")
        return page

    return go


@pytest.mark.parametrize("protocol", MATERIAL)
def test_what_the_paper_reports_is_accessible_and_fits(visit, open_page, axe_violations, protocol):
    study = paint(worked(protocol).study)
    for width, height, dark in ((1366, 768, False), (1366, 768, True), (390, 844, False), (390, 844, True)):
        page = visit(open_page(width, height, dark), f"/studies/{study.pk}/")
        for summary in page.locator("#live-paper summary").all():
            summary.click()
        assert axe_violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.errors == []


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_a_benchmarks_page_with_its_plot_is_accessible_and_fits(visit, open_page, axe_violations, width, height):
    study = paint(worked("visla-triplet", items=3).study)
    page = visit(open_page(width, height), f"/benchmarks/{study.benchmark_id}/")
    page.click("#likeness-table summary")
    assert page.locator(".heights rect").count() > 0
    assert axe_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.errors == []
