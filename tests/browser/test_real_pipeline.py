"""The 12 real BiVLC items through all four stages, by keyboard in a real Chromium, to a split and a human baseline."""

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.figures import human_baseline
from annotation.figures.funnel import funnel
from annotation.models import Judgment, Lease, Study
from annotation.pipeline import promotion
from annotation.protocols.decision_rule import KEPT
from annotation.protocols.registry import PROTOCOLS
from annotation.screens.read_answer import place_on_screen
from annotation.studies import lifecycle as study_lifecycle
from tests.browser.looking import send
from tests.browser.test_real_run import BIVLC, INDICES
from tests.builders import real_material as material
from tests.builders import studies

pytestmark = pytest.mark.real
DISCARDED = "bivlc-6850"  # nobody finds an image for it, and nobody can tell these two apart
SAME = "bivlc-153"


@pytest.fixture
def study(real, tmp_path) -> Study:
    items = material.bivlc_items(real / "data" / "bivlc")
    manifest, images = material.packed(items, real / "data", tmp_path)
    call_command("import_benchmark", "jsonl", str(manifest), images=str(images), name="Twelve", verbosity=0)
    small = ["strategy=pool", "agreement_items=", "agreement_overlap="]
    changed = [*(f"choose.{setting}" for setting in small), "disambiguate.strategy=pool"]
    call_command("create_study", "Twelve", preset="bivlc", name="All four stages", sample=8, set=changed)
    return Study.objects.get(name="All four stages")


def right(lease: Lease) -> str:
    """What somebody who knows would press, at its place on this screen."""
    task, key = lease.task, lease.task.item.key
    if task.stage.name == "choose":
        return "n" if key == DISCARDED else place_on_screen(lease, task.item.truth["bivlc-choose"][0])
    if task.stage.name == "disambiguate":
        return "b" if key == SAME else place_on_screen(lease, "positive-0")
    return place_on_screen(lease, PROTOCOLS[task.stage.protocol].right_answer(task.question, task.options))


def judge(desk, screens: int) -> None:
    for _ in range(screens):
        send(desk, right(Lease.objects.select_related("task__item", "task__stage").get(token=desk.lease)), "Enter")


def read_rules(page) -> None:
    page.get_by_role("button", name="I have read").click()
    expect(page.locator("#desk.ready")).to_be_visible()


@pytest.mark.nightly
def test_twelve_items_through_all_four_stages(study, sit, tmp_path):
    choose, disambiguate, i2t, _ = study.stages.all()
    judge(sit(annotator=studies.annotator(study, stage=choose)), BIVLC)
    desk = sit(annotator=studies.annotator(study, stage=disambiguate))
    judge(desk, BIVLC - 1)
    desk.all_done()
    study_lifecycle.move_stage(stage=disambiguate, to="closed", by="test")
    assert sum(result.state == KEPT for result in promotion.results(disambiguate).values()) == BIVLC - 2
    desk = sit(annotator=studies.annotator(study, stage=i2t))
    judge(desk, 16)
    desk.page.get_by_role("button", name="Start").or_(desk.page.get_by_role("button", name="I have read")).first.click()
    judge(desk.at_desk(), 16)
    desk.all_done()
    assert desk.page.errors == []
    assert Judgment.objects.count() == 12 + 11 + 32
    check(study, tmp_path)


def check(study: Study, folder) -> None:
    import datasets

    counts = funnel(study)
    steps = [(step["name"], step["entered"], step["kept"]) for step in counts["stages"]]
    assert steps == [("choose", 12, 11), ("disambiguate", 11, 10)] and counts["kept"] == 10
    assert {(row["stage"], row["reason"]) for row in counts["reasons"]} == {(1, "no_image_fits"), (2, "ambiguous_both")}
    [found] = human_baseline.baselines(study)
    assert {name: (row["n"], row["right"]) for name, row in found["measures"].items()}["group"] == (8, 8)
    call_command("export_split", "All four stages", out=folder / "split")
    loaded = datasets.load_dataset(str(folder / "split"), split="test")
    assert {row["id"] for row in loaded} == {f"bivlc-{n}" for n in INDICES} - {DISCARDED, SAME}
    assert all(row["negative_image"] is not None and row["image"] is not None for row in loaded)
