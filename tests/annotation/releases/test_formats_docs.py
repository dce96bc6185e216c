"""docs/reference/release-formats.md: the code in it runs in a release and reads its items."""

import re
from pathlib import Path

import pytest

from annotation.releases.formats.registry import FORMS
from tests.annotation.releases.kept import row, written

PAGE = (Path(__file__).resolve().parents[3] / "docs/reference/release-formats.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    rows = [row(place, "test" if place % 2 else "train", id=f"00{place}") for place in range(6)]
    for name in [name for name, form in FORMS.items() if form.writer]:
        written(name, folder, rows)
    return folder / "release"


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_code_reads_the_items_of_the_test_split(release, number, offline, monkeypatch):
    monkeypatch.chdir(release)
    exec(BLOCKS[number], names := {})
    assert ids(names["test"]) == ["001", "003", "005"]


def ids(found) -> list[str]:
    return list(found["id"]) if hasattr(found, "columns") else [(one.get("json") or one)["id"] for one in found]


def test_every_form_has_its_part():
    assert re.findall(r"^## (\w+)$", PAGE, re.MULTILINE) == list(FORMS) and len(BLOCKS) == 8
