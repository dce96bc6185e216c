"""Studies of protocol files on COCO images, judged by keyboard and on a phone: a preference, and a rating, from import
to a verified release."""

import json
import zipfile
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.models import Annotator, Judgment, Study
from annotation.protocols import library
from benchmarks.models import ItemImage
from tests.browser.conftest import submit_button
from tests.browser.looking import ANOTHER_SCREEN, fits, send
from tests.builders import declared, real_material, releases, studies

pytestmark = pytest.mark.real
ITEMS, MODELS = 2, ("ours", "theirs", "other")
BROKEN = """() => [...document.querySelectorAll('.points small')].flatMap(({ firstChild: text }) =>
  [...text.data.matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
  }).map(([word]) => word))"""  # words under the points of a scale that go over two lines


def imported(name: str, real: Path, folder: Path, pictures: int) -> Study:
    """A caption of COCO as the prompt, and its image and others as what models made of it; a study with the file."""
    coco = real / "data/coco_val2017"
    first = {row["file"]: row["caption"] for row in reversed(real_material.rows(coco / "rows.csv")) if row["caption"]}
    files = sorted(first)[: ITEMS + pictures - 1]
    lines = []
    for number, file in enumerate(files[:ITEMS]):
        shown = [
            {"role": "picture", "file": other, "model": model}
            for other, model in zip(files[number : number + pictures], MODELS, strict=False)
        ]
        lines.append({"id": f"coco-{number}", "type": "coco", "texts": {"prompt": first[file]}, "images": shown})
    manifest, images = folder / "items.jsonl", folder / "images.zip"
    manifest.write_text("\n".join(map(json.dumps, lines)))
    with zipfile.ZipFile(images, "w") as archive:
        for file in files:
            archive.write(coco / "images" / file, file)
    call_command("import_benchmark", "jsonl", str(manifest), images=str(images), name=name, verbosity=0)
    call_command("create_study", name, protocol=[declared.published(name)], name=f"Study of {name}")
    return Study.objects.get(name=f"Study of {name}")


def on_a_phone(sit, open_page, study: Study):
    page = open_page(width=390, height=844, has_touch=True, is_mobile=True, reduced_motion="no-preference")
    return sit(annotator=studies.annotator(study), page=page)


def labels(annotator: Annotator) -> list[str]:
    return list(Judgment.objects.filter(lease__annotator=annotator).order_by("pk").values_list("answer", flat=True))


def released(study: Study, name: str, folder: Path) -> None:
    """It holds the file, and verifies."""
    study.stages.update(state="closed")
    release = releases.frozen(study)
    path = Path(default_storage.path(release.file))
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "release")
    (made,) = (folder / "release").iterdir()
    assert (made / f"protocols/{name}@1.yaml").read_text() == library.text_of(name)
    call_command("verify_release", str(made))


def test_a_rating(real, sit, open_page, visit, tmp_path):
    study = imported("prompt-fit", real, tmp_path, pictures=1)
    study.stages.update(overlap=2)
    study.stages.get().tasks.update(overlap=2)
    first = sit(annotator=studies.annotator(study))
    for key in ("4", "5"):
        send(first, key, "Enter")
    assert first.all_done().page.errors == []
    second = on_a_phone(sit, open_page, study)
    for _ in range(ITEMS):
        assert fits(second.page) and second.page.evaluate(BROKEN) == []
        before = second.lease
        second.page.locator("#place label").filter(has_text="Almost completely").tap()
        submit_button(second.page).tap()
        second.page.wait_for_function(ANOTHER_SCREEN, arg=before)
    assert second.all_done().page.errors == []
    assert (sorted(labels(first.annotator)), labels(second.annotator)) == (["4", "5"], ["4", "4"])
    page = visit(open_page(), f"/studies/{study.pk}/quality/")
    expect(page.locator("main")).to_contain_text("ordinal")
    released(study, "prompt-fit", tmp_path)


@pytest.mark.nightly
def test_a_preference(real, sit, open_page, visit, tmp_path):
    study = imported("preference", real, tmp_path, pictures=3)
    desk = sit(annotator=studies.annotator(study))
    for number in range(3 * ITEMS - 1):
        send(desk, "tb12"[number % 4], "Enter")
    desk.press("1", "Enter")
    assert desk.all_done().page.errors == []
    told = labels(desk.annotator)
    assert len(told) == 3 * ITEMS and {"tie", "both_bad"} < set(told)
    assert set(told) - {"tie", "both_bad"} <= {f"picture-{place}" for place in range(3)}
    assert set(ItemImage.objects.values_list("attributes__model", flat=True)) == set(MODELS)
    page = visit(open_page(), f"/studies/{study.pk}/stages/1/")
    for model in MODELS:
        expect(page.locator("main")).to_contain_text(model)
