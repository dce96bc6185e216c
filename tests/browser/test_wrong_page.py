"""Who is wrong where, in a real browser: by keyboard, accessible, on real pictures."""

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.models import Stage
from benchmarks.models import Benchmark
from tests.browser.looking import flaws, tab_to
from tests.builders import predictions, studies
from tests.builders import real_material as material

pytestmark = pytest.mark.real
RIGHT, WRONG = "caption-positive-0", "caption-negative-0"


@pytest.fixture
def stage(real, tmp_path) -> Stage:
    """Image to text of six real BiVLC items: two people, split on every third; one model misses every second item,
    one is wrong throughout, one sees no image."""
    items = material.bivlc_items(real / "data/bivlc")[:6]
    for item in items:
        named = {image["role"]: image for image in item["images"]}  # of candidates, the last
        item["images"] = [named["positive"], {**named["candidate"], "role": "negative"}]
        item.pop("truth", None)
    manifest, images = material.packed(items, real / "data", tmp_path)
    call_command("import_benchmark", "jsonl", str(manifest), images=str(images), name="Real", verbosity=0)
    benchmark = Benchmark.objects.get(name="Real")
    study = studies.study(benchmark=benchmark, protocol="bivlc-i2t", overlap=2, name="Real run")
    for place in range(2):
        person, number = studies.annotator(study), 0
        while studies.judgment(person, study.stages.get(), WRONG if place and number % 3 == 0 else RIGHT):
            number += 1
    rows = list(benchmark.items.all())
    long = "hf-hub:laion/CLIP-ViT-bigG-14-laion2B-39B-b160k"
    for title, right, size in (("ViT-B-32", 2, 0.04), (long, 99, 0.02), ("gpt2", 3, 1.5)):
        of = {row: predictions.bivlc(row.position % right == 1, size * (1 + row.position)) for row in rows}
        predictions.model(benchmark, of, title, blind=title == "gpt2")
    return study.stages.get()


def test_it_is_accessible_fits_and_leads_to_a_decision_by_keyboard(visit, page, axe_violations, stage):
    address = f"/studies/{stage.study_id}/quality/model-errors/?stage=1"
    visit(page, f"{address}&which=all")
    page.locator("#margins").scroll_into_view_if_needed()
    expect(page.locator("#margins svg")).to_be_visible()
    assert (flaws(page, axe_violations), page.errors) == ([], [])
    visit(page, address)
    tab_to(page, page.locator("#which"))
    page.keyboard.type("annotators")
    tab_to(page, page.locator(".filters button"))
    page.keyboard.press("Enter")
    page.wait_for_url("**which=split**")
    tab_to(page, page.locator(".case a.button").first)
    page.keyboard.press("Enter")
    expect(page.locator("#note")).to_have_value("Models disagree: people undecided, 2 of 2 models wrong.")
