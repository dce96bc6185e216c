"""The main job on real input: imported, judged by two people, exported, loaded. All 84 items of the 99 real images
are judged by `make nightly`; the suite judges the 12 of BiVLC and 2 others."""

import json
import os

import pytest
from django.core.management import call_command

from annotation.models import Judgment, Lease, Study
from annotation.screens.read_answer import place_on_screen
from tests.browser.looking import send
from tests.builders import real_material as material
from tests.builders import studies

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"
pytestmark = pytest.mark.real
BIVLC, COCO = 12, 72
INDICES = [153, 748, 1969, 2389, 2764, 3015, 5001, 5396, 6611, 6850, 6882, 7150]


def truth_of(lease: Lease) -> str:
    """The place of the image that was made from the caption; "n" where the manifest states none."""
    truth = lease.task.item.truth.get("bivlc-choose")
    return place_on_screen(lease, truth[0]) if truth else "n"


def judge_all(desk, screens: int, hasty: bool = False) -> None:
    """By keyboard, to the completion page. The hasty one answers every seventh screen with its first picture."""
    for number in range(screens):
        lease = Lease.objects.select_related("task__item").get(token=desk.lease)
        send(desk, "1" if hasty and number % 7 == 0 else truth_of(lease), "Enter")
    desk.all_done()


def imported(real_folder, folder, coco: int) -> Study:
    manifest, images = material.material(real_folder / "data", folder, coco)
    call_command("import_benchmark", "jsonl", str(manifest), images=str(images), name="Real", verbosity=0)
    call_command("create_study", "Real", protocol=["bivlc-choose"], overlap=2, name="Real run")
    return Study.objects.get(name="Real run")


@pytest.mark.parametrize("coco", [2, pytest.param(COCO, marks=pytest.mark.nightly)])
def test_from_candidate_images_to_a_split_that_loads(real, sit, open_page, tmp_path, coco):
    study, items = imported(real, tmp_path, coco), BIVLC + coco
    page = open_page()
    for hasty in (False, True):
        judge_all(sit(annotator=studies.annotator(study), page=page), items, hasty)
    assert Judgment.objects.filter(counted_on__stage__study=study).count() == 2 * items
    call_command("export_split", "Real run", out=tmp_path / "split")
    check_split(tmp_path / "split", items)


def check_split(split, items: int) -> None:
    import datasets

    manifest = json.loads((split / "manifest.json").read_text())
    counts = manifest["counts"]
    assert counts["imported"] == items == counts["kept"] + counts["dropped"] and counts["open"] == 0
    loaded = datasets.load_dataset(str(split), split="test")
    assert len(loaded) == counts["kept"] > 0
    fields = {"id", "image", "caption", "negative_caption", "negative_image", "type", "subtype"}
    fields |= {"candidate_image", "candidate_image_2", "candidate_image_3", "votes"}  # those that were not chosen
    assert set(loaded.column_names) == fields
    kept = {row["id"]: row for row in loaded}
    assert {key for key in kept if key.startswith("bivlc")} == {f"bivlc-{number}" for number in INDICES}
    assert kept["bivlc-6850"]["negative_image"].size == (512, 512)
    assert kept["bivlc-6850"]["negative_caption"].startswith("An orange vase")
