"""From an import over the human baseline and a model's scores to the page that compares them, in a real Chromium."""

import pytest
from playwright.sync_api import expect

from annotation.designs.plan import StagePlan
from annotation.models import Lease, Study
from annotation.protocols.registry import PROTOCOLS
from annotation.screens.read_answer import place_on_screen
from annotation.studies import lifecycle as study_lifecycle
from benchmarks.models import Benchmark
from tests.browser.looking import send
from tests.builders import real_material as material
from tests.builders import studies
from tests.builders.scored_benchmarks import tiny_clip

pytestmark = pytest.mark.real
ITEMS = 4


def pairs(folder) -> list[dict]:
    """The first items with both their captions and both their released images."""
    found = material.bivlc_items(folder)[:ITEMS]
    for item in found:
        positive, *candidates = item["images"]
        chosen = candidates[int(item.pop("truth")["bivlc-choose"][0].rpartition("-")[2])]
        item["images"] = [positive, {**chosen, "role": "negative"}]
    return found


def bring_in(page, site, files) -> Benchmark:
    manifest, images = files
    page.goto(f"{site}/benchmarks/import/")
    page.get_by_label("Benchmark name").fill("Pairs")
    page.locator("input[name=format][value=jsonl]").check()
    page.get_by_label("Data and images").set_input_files(manifest)
    page.get_by_label("Images", exact=True).set_input_files(images)
    page.locator("button.primary").click()
    expect(page.locator("#sums-title")).to_be_visible()
    return Benchmark.objects.get(name="Pairs")


def baseline_of(benchmark: Benchmark) -> Study:
    plans = [StagePlan("bivlc-i2t", name="i2t"), StagePlan("bivlc-t2i", name="t2i", after="i2t")]
    return study_lifecycle.create_study(name="People", benchmark=benchmark, stages=plans, by="test", seed=1)


def judge(desk, stage) -> None:
    """All of a stage, by keyboard, as somebody who knows."""
    for _ in range(2 * ITEMS):
        lease = Lease.objects.select_related("task__item").get(token=desk.lease)
        right = PROTOCOLS[stage.protocol].right_answer(lease.task.question, lease.task.options)
        send(desk, place_on_screen(lease, right), "Enter")


@pytest.mark.nightly
def test_people_and_a_model_stand_in_one_table(
    real, tmp_path, site, page, sit, sign_in, admin_user, eager_tasks, settings
):
    settings.MODELS = tmp_path / "models"
    tiny_clip(settings.MODELS / "tiny")
    sign_in(page, admin_user)
    benchmark = bring_in(page, site, material.packed(pairs(real / "data" / "bivlc"), real / "data", tmp_path))
    study = baseline_of(benchmark)
    for stage in study.stages.all():
        judge(sit(annotator=studies.annotator(study, stage=stage)), stage)
    page.goto(f"{site}/benchmarks/{benchmark.pk}/")
    page.get_by_role("link", name="Score with a model").click()
    page.get_by_label("Model", exact=True).fill("local-dir:tiny")
    page.get_by_role("button", name="Score").click()
    page.goto(f"{site}/benchmarks/{benchmark.pk}/models/")
    rows = page.locator("table.models").first.locator("tr").all_inner_texts()
    [people] = [row for row in rows if "People" in row]
    assert people.count("100.0%") >= 7
    assert any("tiny" in row for row in rows) and rows[-1].startswith("Chance")
    assert page.errors == []
