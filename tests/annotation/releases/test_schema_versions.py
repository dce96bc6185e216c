"""A release verifies for ever: those that are kept in tests/frozen_releases do, whatever versions are added.

What fails here is Winnow, never the release: do not make it again.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.releases import schema_versions
from annotation.releases.archive_reader import NotARelease, ReleaseFiles
from annotation.releases.compare import compare
from annotation.releases.plan import FORMS, PUBLIC
from annotation.releases.schema_versions import JUDGMENTS, KEY, MANIFEST, STAGES, Version
from annotation.releases.verification import recomputed
from annotation.releases.verification.place import Place
from annotation.releases.verification.verifying import verify
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.release import read_items
from tests.annotation.releases.released import change_json, change_lines, mend

KEPT = Path(__file__).resolve().parents[2] / "frozen_releases"
CONTENT = {  # of each release, which is never made again
    "1/images-1.0": "d3dadb04028a120cc21829b612f42a263427e0dd948b54c61161ab65a0038f1c",
    "1/ratings-1.0": "dd87ca5555075bcdc0cddad5643779a6d36a3a7b949e535db709869e89124e82",
    "1/texts-1.0": "18b943e2dc00bfe604f0bad339af19d8b078313ab7daaaa8336b70ed2a9d1915",
    "2/images-1.0": "c0aa8d1ca4e54d23ac53091954dd1ad1f1cdca9b306b371e541d43de0298253c",
    "2/ratings-1.0": "747fd16b5cde98b27c89d4d6d4b3a75b80515db49bd8bc5035ec5b6c2392c7c9",
    "2/texts-1.0": "578c49697d3a56d68a0277fc74cd9b183fba8894543c4a8cca5a0a4c0c18e26b",
    "3/own-1.0": "c010893edbb7c2ff2ac337c5bcd1f4e2fc979b8fd5b1d609f6d26c3af277f8d0",
    "4/protocols-1.0": "f9b8ecc037a62a1c27750d7bcb92f4cf54c9de502bf6c56178702e1fdfdd59df",
    "4/audit-1.0": "5955583da54c411f44ea0f62f087d3fa1baac3d4f2c6a5002add9b0fc68853fb",
    "4/adaptive-1.0": "85cf3f97bf7ef2e6b088b477ddcb86e2e4c2ab135d4941530909f4fe4936dd25",
    "5/baseline-1.0": "5aca75fc5bf3ab926b61238181e73f4b4ee65860c95b20a5c2211d2ec129547b",
    "5/images-1.0": "3670f29cde669e8c2cd5b21ffa117d9b1f35a4314db809621c063e0f9f13c065",
    "5/own-1.0": "78595386486d3cb8c14b32deac82826436383b98b99ae53b58683a95186b9591",
    "5/protocols-1.0": "749ff4167cb9108c493cf6436b9f788ff26b00e92eb20cc6761137f747f39cc5",
    "5/texts-1.0": "607473c87ad623f2b6d6b20bf411990d2704df02d238b71b3d82270ac27e7a32",
    "6/baseline-1.0": "5adaaa96a9f910ee51e9517120557bce6439b03fd8767491b2a7872c17e20eea",
    "6/protocols-1.0": "31f97396396a7da7443c0433b8e5571cc78eaaf2fd5059b2633e9a84cbde879e",
    "7/images-1.0": "0d7fdec274a2b50b9e31f98bc79228f55ec9cfcc93d90b1875a7dbee0a73c6c0",
    "7/protocols-1.0": "97538a9d79b209577e8e42e47475d768993375a3660e6bd8ecd15ab1b48ddd92",
    "8/images-1.0": "f258d07a0a285f2faa72e20c23c138831e3a30a757daefe823034fb37400890d",
    "8/protocols-1.0": "7c323f8bad34f7c0775720688b6c119049335417c83dbf41332648dbb8fcfc05",
}
LAST_OF_VERSION = {name.partition("/")[0]: name for name in CONTENT}
NEWEST = schema_versions.newest()
NEW = {"tasks.jsonl": "shade", JUDGMENTS: "device", "items.jsonl/images": "dpi", MANIFEST: "house", STAGES: "pace"}
NEXT = Version(
    keys={
        "tasks.jsonl": {"shade": "text"},
        "notes.jsonl": {"words": "text"},
        "items.jsonl/images": {"dpi": "int?"},
        "dropped.jsonl/images": {"dpi": "int?"},
        JUDGMENTS: {"device": "string"},
        MANIFEST: {"house": "text"},
        STAGES: {"pace": "number"},
    },
    meant={"tasks.jsonl": {"shade": "plain"}, MANIFEST: {"house": "ours"}, STAGES: {"pace": 1.5}},
    dropped={"tasks.jsonl": ("shared",)},
    figures={"figures.json": ("extra", "stages/*/extra"), "statistics.json": ("whole/extra",)},
)


@pytest.fixture
def kept(tmp_path) -> Callable[[str], Path]:
    """A copy of a frozen release, unpacked."""

    def unpacked(name: str, folder: str = "release") -> Path:
        with ReleaseFiles(KEPT / f"{name}.zip") as files:
            files.unpack(tmp_path / folder)
        return tmp_path / folder

    return unpacked


@pytest.fixture
def next_version(monkeypatch) -> None:
    """A version that comes next, with what it brings: columns, keys, figures; and a key less."""
    monkeypatch.setattr(schema_versions, "VERSIONS", (*schema_versions.VERSIONS, NEXT))
    parts = recomputed.parts

    def with_more(rows, decided):
        found = parts(rows, decided)
        return found | {"extra": lambda: 7, "stages": lambda: [{**one, "extra": 7} for one in found["stages"]()]}

    monkeypatch.setattr(recomputed, "parts", with_more)


def both_settings(folder: Path, change: Callable[[dict], object]) -> None:
    for name in (MANIFEST, "release.json"):
        change_json(folder / name, change)


def with_column(folder: Path, name: str, value: str | None) -> None:
    table = pq.read_table(folder / JUDGMENTS)
    pq.write_table(table.append_column(name, pa.array([value] * len(table), pa.string())), folder / JUDGMENTS)


def of_next_version(folder: Path) -> Path:
    """The same release, as a Winnow of the next version would have made it."""

    def settings(found: dict) -> None:
        found |= {KEY: NEWEST + 1, "house": "ours"}
        for stage in found["stages"]:
            stage["pace"] = 1.5

    def tasks(rows: list[dict]) -> None:
        for row in rows:
            del row["shared"]
            row["shade"] = "plain"

    def images(rows: list[dict]) -> None:
        for image in (image for row in rows for image in row["images"]):
            image["dpi"] = None

    def figures(found: dict) -> None:
        found["extra"] = 7
        for stage in found["stages"]:
            stage["extra"] = 7

    both_settings(folder, settings)
    change_lines(folder / "tasks.jsonl", tasks)
    change_lines(folder / "items.jsonl", images)
    change_lines(folder / "dropped.jsonl", images)
    change_json(folder / "figures.json", figures)
    with_column(folder, "device", None)
    (folder / "notes.jsonl").write_text('{"words": "A table that is new."}\n')
    change_json(folder / MANIFEST, lambda found: found["files"].update({"notes.jsonl": {"rows": 1}}))
    mend(folder)
    return folder


def add_new(folder: Path, place: str) -> None:
    """The key or column that the next version has there."""
    name = NEW[place]
    if place == JUDGMENTS:
        with_column(folder, name, "pen")
    elif place == MANIFEST:
        both_settings(folder, lambda found: found.update({name: "theirs"}))
    elif place == STAGES:
        both_settings(folder, lambda found: found["stages"][0].update({name: 2}))
    elif place == "tasks.jsonl":
        change_lines(folder / place, lambda rows: rows[0].update({name: "dark"}))
    else:
        change_lines(folder / "items.jsonl", lambda rows: rows[0]["images"][0].update({name: 72}))
    mend(folder)


# The frozen releases


def beside_sizes(problems: list[str]) -> list[str]:
    """The frozen releases say 512 x 512 of pictures of 64 x 48, as only a test could: an import reads the size."""
    return [one for one in problems if "is a JPEG of 64 × 48 pixels, not a" not in one]


def test_every_version_has_its_frozen_releases():
    assert sorted(path.relative_to(KEPT).with_suffix("").as_posix() for path in KEPT.rglob("*.zip")) == sorted(CONTENT)
    assert {int(name.partition("/")[0]) for name in CONTENT} == set(range(1, schema_versions.newest() + 1))


@pytest.mark.parametrize("name", CONTENT)
def test_a_frozen_release_is_the_same_and_verifies(kept, name):
    folder = kept(name)
    assert json.loads((folder / MANIFEST).read_text())["content"] == CONTENT[name]
    report = verify(folder)
    assert beside_sizes(report.problems) == []
    assert report.checked["figures computed again"] > 100


def test_a_frozen_release_can_be_imported(kept, parquet_trial_in_process):
    folder, log = (
        kept("1/images-1.0"),
        ProblemLog(),
    )  # of the three it has most to read: chosen candidates, three splits
    found = list(read_items(folder, log))
    assert len(found) == len((folder / "items.jsonl").read_text().splitlines()) > 0 and log.count == 0


def test_the_frozen_releases_have_something_of_everything(kept):
    """Every table has rows, every form and part is in one of them, and whatever makes a release hard to verify."""
    places = [Place(kept(name, name)) for name in CONTENT]
    for name in schema_versions.Schema(1).keys:
        if name.endswith(".jsonl"):
            assert any(True for place in places for _ in place.lines(name)), name
    assert {form for place in places for form in place.manifest["release"]["forms"]} == set(FORMS)
    assert {place.public for place in places} >= {frozenset(), frozenset(PUBLIC)}
    assert {len(place.splits) for place in places} == {1, 2, 3}
    tasks = [task for place in places for task in place.lines("tasks.jsonl")]
    assert {task["kind"] for task in tasks} >= {"judge", "check"} and {task["round"] for task in tasks} == {1, 2}
    assert any(place.manifest["exclusions"] for place in places)
    protocols = {stage["protocol"] for place in places for stage in place.manifest["stages"]}
    assert protocols == {
        "bivlc-choose", "bivlc-disambiguate", "bivlc-i2t", "bivlc-t2i", "visla-paraphrase", "visla-triplet",
        "hard-positive-rank", "verify", "mixed@1", "image-caption-foil@1",
    }  # fmt: skip


# A version is added


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in LAST_OF_VERSION.values() else [pytest.mark.nightly]) for name in CONTENT],
)
def test_a_release_verifies_after_a_version_was_added(kept, next_version, name):
    assert beside_sizes(verify(kept(name)).problems) == []


def test_a_release_of_the_added_version_verifies(kept, next_version):
    assert beside_sizes(verify(of_next_version(kept(f"{NEWEST}/protocols-1.0"))).problems) == []


@pytest.mark.parametrize("added", [False, True], ids=["no such version", "a later version"])
def test_a_release_of_version_one_may_not_have_what_came_later(kept, request, added):
    if added:
        request.getfixturevalue("next_version")
    folder = kept("1/texts-1.0")
    for place in NEW:
        add_new(folder, place)
    problems = verify(folder).problems
    for place, name in NEW.items():
        assert [one for one in problems if one.startswith(place.partition("/")[0]) and name in one], (place, problems)


@pytest.mark.parametrize(
    ("parts", "change", "said"),
    [
        ("images", lambda image: image.update(attributes={"model": "m"}), "an image has an invalid attributes"),
        ("captions", lambda caption: caption.update(attributes={"model": "m"}), "a caption has an invalid attributes"),
        ("captions", lambda caption: caption.update(role="prompt"), "has the role 'prompt', which its schema version"),
    ],
)
def test_a_release_of_version_two_has_no_roles_of_the_users_own(kept, parts, change, said):
    folder = kept("2/texts-1.0")
    change_lines(folder / "items.jsonl", lambda rows: change(rows[0][parts][0]))
    mend(folder)
    assert [one for one in verify(folder).problems if said in one]


@pytest.mark.parametrize(
    ("name", "key", "value", "file"),
    [
        ("4/audit-1.0", "protocol_file", None, JUDGMENTS),
        ("3/own-1.0", "protocol_file", None, MANIFEST),
        ("3/own-1.0", "audit", {}, MANIFEST),
        ("3/own-1.0", "certainty", 0.9, MANIFEST),
    ],
)
def test_only_releases_of_the_newest_version_have_the_keys_of_set_ups(kept, name, key, value, file):
    folder = kept(name)
    both_settings(folder, lambda found: [stage.update({key: value}) for stage in found["stages"]])
    mend(folder)
    named = "answers" if file == JUDGMENTS else key
    assert [one for one in verify(folder).problems if one.startswith(file) and named in one]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("6/baseline-1.0", lambda group: group.update(low=0.3142), "/baselines/0/measures/group/low: 0.148"),
        ("6/baseline-1.0", lambda group: group.update(effective=24.0), "/baselines/0/measures/group/effective: 3.94"),
        ("5/baseline-1.0", lambda group: group.update(low=0.1489), "/baselines/0/measures/group/low: 0.314"),
        ("5/baseline-1.0", lambda group: group.update(over="items"), "/baselines/0/measures/group/over: not checked"),
    ],
)
def test_a_human_baseline_has_its_intervals_over_annotators_from_version_six_on(kept, name, change, said):
    folder = kept(name)
    change_json(folder / "figures.json", lambda found: change(found["baselines"][0]["measures"]["group"]))
    mend(folder)
    assert any(said in one for one in verify(folder).problems)


@pytest.mark.parametrize(
    ("name", "low", "of_other"), [("6/protocols-1.0", -0.056, -0.0886), ("7/protocols-1.0", -0.0886, -0.056)]
)
def test_intervals_of_agreement_are_of_the_jackknife_from_version_seven_on(kept, name, low, of_other):
    folder, found = kept(name), []

    def change(figures: dict) -> None:
        interval = figures["stages"][0]["agreement"][0]["alpha"]["interval"]
        found.append(interval["low"])
        interval["low"] = of_other

    change_json(folder / "figures.json", change)
    mend(folder)
    assert found == [pytest.approx(low, abs=1e-4)]
    assert any(f"/stages/0/agreement/0/alpha/interval/low: {low}" in one for one in verify(folder).problems)


def test_what_reads_an_older_release_finds_what_its_lack_means(kept, next_version):
    place = Place(kept("1/texts-1.0"))
    assert {task["shade"] for task in place.lines("tasks.jsonl")} == {"plain"}
    assert {image["dpi"] for line in place.lines("items.jsonl") for image in line["images"]} == {None}
    assert list(place.lines("notes.jsonl")) == []
    assert place.manifest["house"] == "ours" and {stage["pace"] for stage in place.manifest["stages"]} == {1.5}
    assert place.judgments(["stage", "device"]).__next__().column("device").null_count > 0
    assert KEY in place.manifest_as_written and "house" not in place.manifest_as_written


def test_releases_of_two_versions_are_compared(kept, next_version):
    folders = kept(f"{NEWEST}/protocols-1.0", "a"), of_next_version(kept(f"{NEWEST}/protocols-1.0", "b"))
    with ReleaseFiles(folders[0]) as a, ReleaseFiles(folders[1]) as b:
        found = compare(a, b)
        assert [len(list(one.lines("notes.jsonl"))) for one in (a, b)] == [0, 1]
    assert found["setup"].pop("files") and found["setup"] == {"made": {KEY: [NEWEST, NEWEST + 1]}}
    totals = found["totals"]
    assert totals.pop("unchanged") == found["releases"][0]["kept"] > 0 and not any(totals.values())


# The number itself


@pytest.mark.parametrize("number", [NEWEST + 1, 99])
def test_a_release_of_a_newer_winnow_says_what_to_do(kept, number):
    folder = kept("1/ratings-1.0")
    both_settings(folder, lambda found: found.update({KEY: number, "version": "9.9"}))
    mend(folder)
    (problem,) = verify(folder).problems
    assert f"has schema version {number}, and this Winnow knows versions up to {NEWEST}" in problem
    assert "A newer Winnow made it (9.9). Use that version of Winnow, or a later one." in problem
    with pytest.raises(NotARelease, match=r"A newer Winnow made it \(9\.9\)"):
        ReleaseFiles(folder).manifest  # noqa: B018


@pytest.mark.parametrize("number", [0, -1, 1.0, True, "1", None, [1]])
def test_what_is_no_version_is_a_problem(kept, number):
    folder = kept("1/ratings-1.0")
    both_settings(folder, lambda found: found.update({KEY: number}))
    mend(folder)
    (problem,) = verify(folder).problems
    assert problem.startswith(f"{MANIFEST}: {KEY} is {number!r}, and must be a whole number from 1.")


def test_a_release_that_names_no_version_is_of_version_one(kept):
    """Made before releases named one: their tables are those of version 1."""
    folder = kept("1/ratings-1.0")
    both_settings(folder, lambda found: found.pop(KEY))
    mend(folder)
    assert beside_sizes(verify(folder).problems) == []
    assert ReleaseFiles(folder).manifest[KEY] == 1
