"""In a real Chromium the pictures of practice are there."""

import pytest
from playwright.sync_api import expect

from annotation.checks import gold_items
from annotation.checks.parsing import Known
from annotation.models import Kind
from benchmarks.models import Caption
from tests.browser.looking import in_windows
from tests.browser.test_judge_look import INSIDE
from tests.builders import pictures, studies

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def pupil():
    """About to practise: four pictures, square and side by side with the words, as BiVLC's are."""
    source = studies.benchmark(items=1, candidates=4)
    Caption.objects.filter(item__benchmark=source).update(text="A grey and white rabbit lays in a sink.")
    pictures.paint(studies.study(benchmark=source))
    study = studies.study()
    known = {item: Known(("candidate-1",)) for item in source.items.all()}
    gold_items.set_known(kind=Kind.TRAINING, stage=study.stages.get(), known=known, by="test")
    return studies.annotator(study)


def test_the_pictures_of_practice_are_in_sight(sit):
    desk = sit(annotator=pupil()).at_desk()
    seen = desk.page.locator(".card-option img")
    expect(seen).to_have_count(4)
    for press in ([], ["1", "Enter"]):
        desk.press(*press)
        expect(desk.page.locator("#told")).to_have_count(len(press) // 2)
        for _ in in_windows(desk.at_desk().page):
            assert all(image.bounding_box() and image.bounding_box()["width"] > 100 for image in seen.all())
            assert desk.page.evaluate(INSIDE, [".card-place", "h1", ".submit"]) == []
    assert desk.page.errors == []
