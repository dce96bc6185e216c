"""A study's results and their page to share in a browser, in every window: nothing is in the way of anyone."""

from django.urls import reverse

from annotation.studies import sharing
from tests.annotation.comparison.test_people_and_models import asked, foils, judge, scored
from tests.browser.looking import flaws
from tests.builders import declared


def test_axe_finds_nothing(page, visit, axe_violations, tmp_path):
    benchmark = foils()
    study = asked(benchmark, declared.published("image-caption-foil"))
    judge(study.stages.get())
    scored(benchmark, tmp_path, 9, "CLIP")
    shared = sharing.share(study=study, by="test")
    for address in (reverse("study-results", args=[study.pk]), reverse("shared-results", args=[shared.token])):
        visit(page, address)
        page.locator("figure.plot").first.scroll_into_view_if_needed()
        page.locator(".drawing svg, .drawing canvas").first.wait_for()
        assert (flaws(page, axe_violations), page.errors) == ([], [])
