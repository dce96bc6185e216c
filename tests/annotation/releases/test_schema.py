"""A release verifies for ever: the one that is kept in tests/frozen_releases does, of each schema version.

If it no longer does, Winnow is wrong and never the release: do not make it again.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.exports.columns import TABLES
from annotation.releases import schema
from annotation.releases.archive_reader import NotARelease, ReleaseFiles
from annotation.releases.compare import compare
from annotation.releases.plan import FORMS, PUBLIC
from annotation.releases.schema import JUDGMENTS, KEY, MANIFEST
from annotation.releases.verification.place import Place
from annotation.releases.verification.verifying import verify
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.release import read_items
from tests.annotation.releases.released import change_json, change_lines, mend

STAGES = "manifest.json/stages"
KEPT = Path(__file__).resolve().parents[2] / "frozen_releases"
CONTENT = {1: "45497ed1ee41020fb3f4a4daf58f798ebd11887ca161861b6fffc0ccfad98aef"}  # by schema version
NEW = {"tasks.jsonl": "shade", JUDGMENTS: "device", "items.jsonl/images": "dpi", MANIFEST: "house", STAGES: "pace"}


@pytest.fixture
def kept(tmp_path) -> Callable[..., Path]:
    """A copy of the frozen release of a version, unpacked."""

    def unpacked(version: int = 1, folder: str = "release") -> Path:
        with ReleaseFiles(KEPT / f"{version}.zip") as files:
            files.unpack(tmp_path / folder)
        return tmp_path / folder

    return unpacked


def both_settings(folder: Path, change: Callable[[dict], object]) -> None:
    for name in (MANIFEST, "release.json"):
        change_json(folder / name, change)
    mend(folder)


def add_new(folder: Path, place: str) -> None:
    """A key or column that no version has."""
    name = NEW[place]
    if place == JUDGMENTS:
        table = pq.read_table(folder / JUDGMENTS)
        pq.write_table(table.append_column(name, pa.array(["pen"] * len(table), pa.string())), folder / JUDGMENTS)
    elif place == MANIFEST:
        both_settings(folder, lambda found: found.update({name: "theirs"}))
    elif place == STAGES:
        both_settings(folder, lambda found: found["stages"][0].update({name: 2}))
    elif place == "tasks.jsonl":
        change_lines(folder / place, lambda rows: rows[0].update({name: "dark"}))
    else:
        change_lines(folder / "items.jsonl", lambda rows: rows[0]["images"][0].update({name: 72}))
    mend(folder)


# The frozen release of each version


def test_every_version_has_its_frozen_release():
    assert sorted(path.name for path in KEPT.rglob("*.zip")) == [f"{version}.zip" for version in CONTENT]
    assert list(CONTENT) == list(range(1, schema.VERSION + 1))


@pytest.mark.parametrize("version", CONTENT)
def test_a_frozen_release_is_the_same_and_verifies(kept, version):
    folder = kept(version)
    assert json.loads((folder / MANIFEST).read_text())["content"] == CONTENT[version]
    report = verify(folder)
    assert report.problems == []
    assert report.checked["figures computed again"] > 100


def test_a_frozen_release_can_be_imported(kept, parquet_trial_in_process):
    folder, log = kept(), ProblemLog()
    found = list(read_items(folder, log))
    assert len(found) == len((folder / "items.jsonl").read_text().splitlines()) > 0 and log.count == 0


def test_frozen_releases_can_be_compared(kept):
    with ReleaseFiles(kept()) as a, ReleaseFiles(kept()) as b:
        assert compare(a, b)["same"]


def test_the_frozen_release_has_something_of_everything(kept):
    """Rows in every table, every form, several splits, protocol files, nothing hidden."""
    place = Place(kept(schema.VERSION))
    assert all(place.manifest["files"][table.file]["rows"] for table in TABLES.values())
    assert set(place.manifest["release"]["forms"]) == set(FORMS) and place.public == set(PUBLIC)
    assert len(place.splits) == 3
    assert all(stage["protocol_file"] for stage in place.manifest["stages"])


# What no version has


@pytest.mark.parametrize("place", NEW)
def test_a_key_or_column_that_its_version_does_not_have_is_a_problem(kept, place):
    folder = kept()
    add_new(folder, place)
    problems = verify(folder).problems
    assert [one for one in problems if one.startswith(place.partition("/")[0]) and NEW[place] in one], problems


@pytest.mark.parametrize(
    ("parts", "change", "said"),
    [
        ("images", lambda image: image.update(attributes="m"), "an image has an invalid attributes"),
        ("captions", lambda caption: caption.update(attributes="m"), "a caption has an invalid attributes"),
        ("captions", lambda caption: caption.update(model="m"), "a caption has an invalid model"),
        ("captions", lambda caption: caption.update(role="a role"), "has 'a role', which cannot be a role"),
    ],
)
def test_a_part_of_an_item_with_other_keys_or_no_role_is_a_problem(kept, parts, change, said):
    folder = kept()
    change_lines(folder / "items.jsonl", lambda rows: change(rows[0][parts][0]))
    mend(folder)
    assert [one for one in verify(folder).problems if said in one]


# The number itself


@pytest.mark.parametrize("number", [schema.VERSION + 1, 8, 99])
def test_a_release_of_another_winnow_says_what_to_do(kept, number):
    folder = kept()
    both_settings(folder, lambda found: found.update({KEY: number, "version": "9.9"}))
    (problem,) = verify(folder).problems
    assert f"has schema version {number}, and this Winnow reads version {schema.VERSION}" in problem
    assert "Another Winnow made it (9.9): verify and compare it with that one." in problem
    with pytest.raises(NotARelease, match=r"Another Winnow made it \(9\.9\)"):
        ReleaseFiles(folder).manifest  # noqa: B018


@pytest.mark.parametrize("number", [0, -1, 1.0, True, "1", None, [1]])
def test_what_is_no_version_is_a_problem(kept, number):
    folder = kept()
    both_settings(folder, lambda found: found.update({KEY: number}))
    (problem,) = verify(folder).problems
    assert problem.startswith(f"{MANIFEST}: {KEY} is {number!r}, but must be a whole number from 1.")


def test_a_release_of_another_version_still_says_where_its_items_are(kept):
    """So that a new release of a study deals items as an old one did."""
    folder = kept()
    both_settings(folder, lambda found: found.update({KEY: 8}))
    assert {line["split"] for line in ReleaseFiles(folder).lines("items.jsonl")} == {"train", "validation", "test"}
