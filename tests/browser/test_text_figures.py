"""What papers report, on the study page and a benchmark's page, in a real browser: it fits, and can be used by all."""

import pytest

from tests.annotation.dashboard.test_text_figures import MATERIAL, worked
from tests.browser.looking import flaws
from tests.builders.pictures import paint


def open_paper(visit, page, study) -> None:
    visit(page, f"/studies/{study.pk}/stages/1/")
    for summary in page.locator("#live-paper summary").all():
        summary.click()


@pytest.mark.nightly
@pytest.mark.parametrize("protocol", MATERIAL)
def test_what_the_paper_reports_is_accessible_and_fits(visit, page, axe_violations, protocol):
    open_paper(visit, page, paint(worked(protocol).study))
    assert (flaws(page, axe_violations), page.errors) == ([], [])


def test_a_study_and_its_benchmark_with_its_plot_are_accessible_and_fit(visit, page, axe_violations):
    study = paint(worked("visla-triplet", items=4).study)
    open_paper(visit, page, study)
    assert flaws(page, axe_violations, "#live-paper") == []
    visit(page, f"/benchmarks/{study.benchmark_id}/")
    page.click("#likeness-table summary")
    assert page.locator(".heights rect").count() > 0
    assert (flaws(page, axe_violations), page.errors) == ([], [])
