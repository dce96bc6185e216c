"""In a real Chromium the pictures of practice are there, or it takes no answer."""

import pytest
from playwright.sync_api import expect

from annotation.checks import gold_items
from annotation.checks.parsing import Known
from annotation.models import Attempt, Kind
from benchmarks.models import Caption
from tests.browser.looking import in_windows, outside
from tests.builders import pictures, studies


def pupil():
    """About to practise: four pictures, square and side by side with the words, as BiVLC's are."""
    source = studies.benchmark(items=1, candidates=4)
    Caption.objects.filter(item__benchmark=source).update(text="A grey and white rabbit lays in a sink.")
    pictures.paint(studies.study(benchmark=source))
    study = studies.study()
    known = {item: Known(("candidate-1",)) for item in source.items.all()}
    gold_items.set_known(kind=Kind.PRACTICE, stage=study.stages.get(), known=known, by="test")
    return studies.annotator(study)


def test_the_pictures_of_practice_are_in_sight(sit):
    desk = sit(annotator=pupil()).at_desk()
    seen = desk.page.locator(".card-option img")
    expect(seen).to_have_count(4)
    for press in ([], ["1", "Enter"]):
        desk.press(*press)
        expect(desk.page.locator("#feedback")).to_have_count(len(press) // 2)
        for _ in in_windows(desk.at_desk().page):
            assert all(image.bounding_box() and image.bounding_box()["width"] > 100 for image in seen.all())
            assert outside(desk.page, [".card-place", "h1", ".submit"]) == []
    assert desk.page.errors == []


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        pytest.param("**/i/*", "did not load.", marks=pytest.mark.nightly),
        ("**/layout*.js", "This screen cannot be shown. Load the page again."),
    ],
)
def test_no_answer_is_taken_to_what_cannot_be_seen(open_page, sit, lost, said):
    page = open_page(reduced_motion="no-preference", unshared=True)
    broken = "export const fit = () => { throw new Error('cannot lay out'); };"
    page.route(lost, lambda route: route.fulfill(
        status=200 if "layout" in lost else 404, body=broken, content_type="text/javascript",
    ))  # fmt: skip
    desk = sit(page=page, annotator=pupil()).at_desk()
    desk.press("1", "Enter").told(said)
    page.locator("#submit").click()
    page.wait_for_load_state("networkidle")
    assert page.locator("#feedback").count() == 0 and [one["right"] for one in Attempt.objects.get().answers] == [None]
    page.errors.clear()
