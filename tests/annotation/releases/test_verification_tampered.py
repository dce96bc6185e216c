"""Whatever somebody changes in a release is found, and the file named; also where the manifest was mended after it."""

import hashlib
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from annotation.releases import build
from annotation.releases.verification.verifying import verify
from benchmarks.construction.splitting import Assigned
from tests.annotation.releases.released import change_json, change_lines, change_table, copied, lines, mend, release
from tests.builders.declared import MIXED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
STUDIES = ("written", "stages", "protocol_files")
TRAIN = "data/train-00000-of-00001.parquet"
TAR, SPREADSHEET = "webdataset/train/0.tar", "csv/train.spreadsheet.csv"
PATH, SECOND = "protocols/mixed@1.yaml", "protocols/image-caption-foil@1.yaml"


Change = Callable[[Path], object]  # what somebody does to a release's folder


def in_lines(name: str, change: Callable[[list[dict]], object]) -> Change:
    return lambda folder: change_lines(folder / name, change)


def in_json(name: str, change: Callable[[dict], object]) -> Change:
    return lambda folder: change_json(folder / name, change)


def in_text(name: str, old: str, new: str) -> Change:
    """The first time that it stands there."""

    def change(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def in_table(name: str, change: Callable[[list[dict]], object]) -> Change:
    return lambda folder: change_table(folder / name, change)


def of_task(**values: object) -> Change:
    return in_lines("tasks.jsonl", lambda rows: rows[0].update(values))


def written(name: str, text: str) -> Change:
    return lambda folder: (folder / name).write_text(text)


def answer(folder: Path) -> None:
    def change(rows):
        row = next(row for row in rows if row["counted"] and row["live"] and row["answer"] == "caption-candidate-0")
        row["answer"] = "cannot_judge"

    change_table(folder / "judgments.parquet", change)


def image(folder: Path) -> None:
    """Another's bytes under its name."""

    def change(rows):
        rows[0]["image"] = {"bytes": rows[1]["image"]["bytes"], "path": rows[0]["image"]["path"]}

    change_table(folder / TRAIN, change)


def picture(folder: Path) -> None:
    one, other = sorted((folder / "imagefolder/train/images").iterdir())[:2]
    shutil.copyfile(one, other)


def swapped(folder: Path) -> None:
    """Two items' images, bytes and names, in one form: each is what its name says."""

    def change(rows):
        rows[0]["image"], rows[1]["image"] = rows[1]["image"], rows[0]["image"]

    change_table(folder / TRAIN, change)


def figure(folder: Path, off: float = 2e-9) -> None:
    def change(found):
        found["funnel"]["kept_share"] += off

    change_json(folder / "figures.json", change)


def shard(folder: Path) -> None:
    """Of a split that there is none of."""
    shutil.copyfile(folder / TRAIN, folder / "data/dev-00000-of-00001.parquet")


def change_tar(folder: Path, change) -> None:
    """`change` gets and returns the entries of the first shard, as [(name, bytes)]."""
    path = folder / TAR
    with tarfile.open(path) as archive:
        entries = [(entry.name, archive.extractfile(entry).read()) for entry in archive]
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in change(entries):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def entry_renamed(folder: Path) -> None:
    """A loader finds one sample more."""
    change_tar(folder, lambda entries: [("99" + entries[0][0], entries[0][1]), *entries[1:]])


def entry_surplus(folder: Path) -> None:
    change_tar(folder, lambda entries: [*entries, ("99999999.jpg", b"more")])


def entry_after_the_end(folder: Path) -> None:
    with (folder / TAR).open("ab") as file:
        file.write(b"more")


def empty_shard(folder: Path) -> None:
    table = pq.read_table(folder / TRAIN)
    (folder / TRAIN).rename(folder / "data/train-00000-of-00002.parquet")
    pq.write_table(table.slice(0, 0), folder / "data/train-00001-of-00002.parquet")


def surplus_shard(folder: Path) -> None:
    pq.write_table(pq.read_table(folder / TRAIN).slice(0, 0), folder / "data/train-00001-of-00001.parquet")


def parquet_metadata(folder: Path, name: str = TRAIN) -> None:
    table = pq.read_table(folder / name)
    pq.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), "note": "more"}), folder / name)


def no_picture(folder: Path) -> None:
    """Other bytes, and their hash wherever the image is named."""
    old = json.loads((folder / "images.jsonl").read_text().splitlines()[0])["sha256"]
    data = b"These bytes are no image."
    new = hashlib.sha256(data).hexdigest()

    def change(rows):
        for image in (image for row in rows for image in row.values() if isinstance(image, dict)):
            if image["path"].startswith(old):
                image.update(bytes=data, path=image["path"].replace(old, new))

    for path in folder.glob("data/*.parquet"):
        change_table(path, change)
    for path in folder.glob("*.jsonl"):
        path.write_text(path.read_text().replace(old, new))


def width(folder: Path) -> None:
    """Wherever it is told."""
    for name in ("items.jsonl", "dropped.jsonl", "images.jsonl"):
        path = folder / name
        path.write_text(path.read_text().replace('"width": ', '"width": 1'))


def as_dropped(folder: Path) -> None:
    """An item that nobody was asked about becomes one that people dropped."""
    lines = (folder / "not_asked.jsonl").read_text().splitlines(keepends=True)
    (folder / "not_asked.jsonl").write_text("".join([*lines[:1], *lines[2:]]))
    with (folder / "dropped.jsonl").open("a") as file:
        file.write(lines[1])


# Of protocol files


def rule(folder: Path) -> None:
    path = folder / PATH
    path.write_text(path.read_text().replace("m: 2", "m: 3"))


def rule_with_its_hash(folder: Path) -> None:
    """The file and every hash of it: what it decides is then not what the tables have."""
    rule(folder)
    digest = hashlib.sha256((folder / PATH).read_bytes()).hexdigest()
    for name in ("manifest.json", "release.json"):
        change_json(folder / name, lambda found: found["stages"][0]["protocol_file"].update(sha256=digest))


def own_words(folder: Path) -> None:
    """What annotators were to read, with every hash of the file."""
    old = hashlib.sha256((folder / PATH).read_bytes()).hexdigest()
    in_text(PATH, "answer what is asked", "answer what you like")(folder)
    new = hashlib.sha256((folder / PATH).read_bytes()).hexdigest()
    for name in ("manifest.json", "release.json"):
        (folder / name).write_text((folder / name).read_text().replace(old, new))


def evaluated(folder: Path) -> None:
    for name in ("manifest.json", "release.json"):
        change_json(folder / name, lambda found: found["evaluation"].update(kind="visla"))


def setting(folder: Path) -> None:
    for name in ("manifest.json", "release.json"):
        change_json(folder / name, lambda found: found["stages"][1]["drops"].update(both="unclear"))


def unnamed(folder: Path) -> None:
    """A published file of this server is not asked for."""
    for name in ("manifest.json", "release.json"):
        change_json(folder / name, lambda found: found["stages"][1].update(protocol_file=None))


def of_judgment(**values) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        def answered(rows):
            next(row for row in rows if row["answer"] == "caption-positive-0" and row["counted"]).update(values)

        change_table(folder / "judgments.parquet", answered)

    return change


def of_label(folder: Path) -> None:
    def change(rows):
        row = next(row for row in rows if row["answers"] and row["stage"] == "first")
        row["answer"] = f"sideways/{row['answer'].partition('/')[2]}"

    change_table(folder / "judgments.parquet", change)


def adjudication(folder: Path) -> None:
    """The decision, but not the answer: in both tables, and where the item is listed."""

    def change(rows):
        next(row for row in rows if row.get("decided_by", "adjudicator") == "adjudicator").update(state="dropped")

    for name in ("tasks.jsonl", "adjudications.jsonl"):
        change_lines(folder / name, change)


# Study, and what somebody does → the file that has to be named, and words of the sentence. All of a group is done to
# one release: nothing of it hides what another does, or is found in its place.
CHANGES = [
    ("written", {
        in_table(TRAIN, lambda rows: rows[0].update(caption="Other words.")): (TRAIN, "has caption 'Other words.'"),
        answer: ("figures.json", "/stages/"),
        in_lines("jsonl/train.jsonl", lambda rows: rows.pop()): ("jsonl/train", "rows"),
        in_lines("dropped.jsonl", lambda rows: rows.pop()): ("manifest.json", "counts/dropped"),
        image: (TRAIN, "named"),
        in_json("statistics.json", lambda found: found["whole"].update(images=99)): (
            "statistics.json", "/whole/images",
        ),
        in_lines("dropped.jsonl", lambda rows: rows[0].update(reason="cannot_judge_at_all")): (
            "dropped.jsonl", "its outcomes make it",
        ),
    }),
    ("written", {
        in_table("judgments.parquet", lambda rows: rows.pop(3)): ("figures.json", "/stages/"),
        picture: ("imagefolder/train/metadata.jsonl", "named"),
        swapped: (TRAIN, "in items.jsonl"),
        figure: ("figures.json", "/funnel/kept_share"),
        of_task(name="Somebody"): ("tasks.jsonl", "name"),
        in_lines("images.jsonl", lambda rows: rows[0].update(licence=None)): ("images.jsonl", "licence"),
        shard: ("data/dev-00000-of-00001.parquet", "any format or split"),
    }),
    ("written", {
        in_json("figures.json", lambda found: found["stages"][0].update(best=0.5)): (
            "figures.json", "/stages/0/best: not checked",
        ),
        in_json("manifest.json", lambda found: found["counts"].update(imported=999)): (
            "manifest.json", "counts/imported",
        ),
        in_text(SPREADSHEET, "generic", "=generic"): (SPREADSHEET, "=generic"),
        width: ("images.jsonl", "pixels, not a"),
        entry_renamed: ("webdataset/train", "does not belong to the sample"),
        written("imagefolder/train/images/more.jpg", "more"): (
            "imagefolder/train", "images/more.jpg is not in the list",
        ),
        empty_shard: ("data/train-00001-of-00002.parquet", "empty shard"),
    }),
    ("written", {
        entry_surplus: ("webdataset/train", "have no text"),
        surplus_shard: ("data/train-00001-of-00001.parquet", "its number"),
        in_text(SPREADSHEET, "generic", "'generic"): (SPREADSHEET, "'generic"),
        in_text("items.jsonl", "{", '{"id": "other", '): ("items.jsonl", "the key 'id' twice"),
        parquet_metadata: (TRAIN, "its metadata"),
        lambda folder: parquet_metadata(folder, "judgments.parquet"): ("judgments.parquet", "its metadata"),
    }),
    ("written", {
        entry_after_the_end: ("webdataset/train", "more data after its last entry"),
        in_text("statistics.json", "{", '{"whole": 1, '): ("statistics.json", "the key 'whole' twice"),
        no_picture: ("images.jsonl", "cannot be decoded"),
    }),
    ("stages", {
        in_lines("not_asked.jsonl", lambda rows: rows[0].update(reason="not_sampled")): (
            "not_asked.jsonl", "is listed here, but its outcomes make it not_asked check_item",
        ),
        in_lines("not_asked.jsonl", lambda rows: rows[-1].update(stage=None)): (
            "not_asked.jsonl", "listed under stage None",
        ),
        as_dropped: ("dropped.jsonl", "is listed here, but its outcomes make it not_asked"),
    }),
    ("protocol_files", {
        rule: (PATH, "its SHA-256"),
        unnamed: ("figures.json", "image-caption-foil@1:captions.negative=second_positive' is missing"),
        written("protocols/other@1.yaml", MIXED): ("protocols/other@1.yaml", "any format or split"),
        of_label: ("judgments.parquet", "does not allow"),
        of_judgment(answer="both", place=None, answers='{"fit": "both"}'): ("items.jsonl", "votes is"),
    }),
    ("protocol_files", {
        in_text("score.py", "Python 3.10", "Python 3.14"): ("score.py", "but the other files make it"),
        in_text("scoring/sugarcrepe.py", "1 / 2", "1 / 4"): ("scoring/sugarcrepe.py", "but the other files make it"),
        in_text("scoring/aro.py", " > ", " >= "): ("scoring/aro.py", "but the other files make it"),
        in_text("lmms_eval/utils.py", "FIGURES", "FIGURE"): ("lmms_eval/utils.py", "but the other files make it"),
        in_text("lmms_eval/test.yaml", "max_new_tokens: 16", "max_new_tokens: 1"): ("lmms_eval/test.yaml", "line "),
        own_words: ("data_statement.md", "answer what you like"),
    }),
    ("protocol_files", {
        evaluated: ("lmms_eval/test.yaml", "but the other files make it"),
        in_text("README.md", "12 items are", "13 items are"): ("README.md", "'13 items are"),
    }),
    ("protocol_files", {
        in_text("croissant.json", "parquet: every", "parquet: not every"): ("croissant.json", "not every"),
    }),
    ("written", {
        in_text("source/train/Generic_VISLA.tsv", "a", "o"): ("source/train/Generic_VISLA.tsv", "line 1 is"),
        written("webdataset/train/nshards.txt", "2\n"): ("webdataset/train", "nshards.txt is not 1"),
    }),
    ("protocol_files", {
        rule_with_its_hash: ("tasks.jsonl", "by the protocol file"),
        setting: (SECOND, "has drops"),
        of_judgment(answers='{"fit": "both"}'): ("judgments.parquet", "answers is"),
        adjudication: ("tasks.jsonl", "state: 'kept' here"),
    }),
    ("protocol_files", {
        written(PATH, "winnow: protocol/1\nname: mixed\n"): (PATH, "it is not a protocol file: line "),
        of_judgment(answer="both", place=None): ("judgments.parquet", "by the protocol file"),
    }),
    ("protocol_files", {
        lambda folder: (folder / PATH).unlink(): (PATH, "it is missing; the stage 'first' asks it"),
    }),
    ("protocol_files", {
        of_task(names={}): ("tasks.jsonl", "names is"),
        of_task(rules=[]): ("tasks.jsonl", "rules is"),
        of_task(state="dropped", reason="foil_fits"): ("tasks.jsonl", "the outcome of a task differs"),
    }),
]  # fmt: skip
TOLD = [(number, *told) for number, (_, changes) in enumerate(CHANGES) for told in changes.values()]


@pytest.fixture(scope="module")
def found(whole, tmp_path_factory) -> Callable[[int], list[str]]:
    """The problems of the release of a group."""

    @cache
    def of(group: int) -> list[str]:
        study, changes = CHANGES[group]
        folder = copied(whole(study), tmp_path_factory.mktemp("changed") / "release")
        for change in changes:
            change(folder)
        mend(folder)
        return verify(folder).problems

    return of


@pytest.mark.parametrize(("group", "file", "words"), TOLD)
def test_what_was_changed_is_found_though_the_hashes_were_mended(found, group, file, words):
    problems = found(group)
    assert [one for one in problems if one.startswith(file) and words in one], problems
    if CHANGES[group][0] == "written":
        assert not [one for one in problems if "SHA-256" in one]


def test_a_figure_that_is_off_by_less_is_the_same(released):
    folder = released("written")
    figure(folder, 5e-10)
    mend(folder)
    assert verify(folder).problems == []


def test_files_that_are_missing_extra_or_changed_are_named(released):
    folder = released("written")
    (folder / "csv/train.csv").unlink()
    (folder / "imagefolder/train/images/0.jpg").write_bytes(b"more")
    (folder / "link").symlink_to("/etc/hostname")
    with (folder / "README.md").open("a") as file:
        file.write("\n")
    problems = verify(folder).problems
    named = {problem.partition(": ")[0]: problem for problem in problems}
    assert "missing" in named["csv/train.csv"] and "not in the manifest" in named["imagefolder/train/images/0.jpg"]
    assert "link" in named["link"] and "content" in " ".join(problems)
    assert [problem for problem in problems if problem.startswith("README.md: its SHA-256")]


def test_an_image_in_two_splits_is_found(exports, tmp_path, monkeypatch):
    """All else of that release is right."""

    def assign(source, plan, earlier):
        keys = [line["id"] for line in source.lines("items.jsonl")]
        return Assigned({one: ("train", "test")[place % 2] for place, one in enumerate(keys)}, {})

    monkeypatch.setattr(build, "_assign_splits", assign)
    problems = verify(release(exports("stages"), tmp_path / "out", splits={"train": 50, "test": 50})).problems
    first, wrong = {}, []
    for line in lines(tmp_path / "out/items.jsonl"):
        for image in line["images"]:
            if first.setdefault(image["sha256"], line["split"]) != line["split"]:
                wrong.append(
                    (image["chosen"], f"items.jsonl: image {image['sha256']} of '{line['id']}' is in train and in test")
                )
    assert problems == [problem for _, problem in wrong] and {chosen for chosen, _ in wrong} == {False, True}


@pytest.mark.parametrize("hidden", ["created_at", "reason"])
def test_what_is_not_public_is_found_where_it_stands(exports, tmp_path, hidden):
    folder = release(exports("written"), tmp_path / "out", ())
    value = {"created_at": "2026-03-02T08:00:00+00:00", "reason": "I know this place."}[hidden]
    name = {"created_at": "texts.jsonl", "reason": "judgments.parquet"}[hidden]
    change = change_lines if name.endswith("jsonl") else change_table
    change(folder / name, lambda rows: rows[0].update({hidden: value}))
    mend(folder)
    assert [one for one in verify(folder).problems if one.startswith(name) and f"{hidden} is not public" in one]


# Damage

DAMAGES = {
    "half": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "object": lambda content: b"{}\n",
    "list": lambda content: b"[[1, 2]]\n",
    "noise": lambda content: bytes(range(256)) * 4,
    "deep": lambda content: b"[" * 100_000,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_has_problems_and_every_file_is_named(released, damage):
    folder = released("written")
    names = [path for path in folder.rglob("*") if path.is_file() and path.name != "manifest.json"]
    changed = []
    for path in names:
        content = path.read_bytes()
        path.write_bytes(DAMAGES[damage](content))
        changed += [path.relative_to(folder).as_posix()] if path.read_bytes() != content else []
    problems = verify(folder).problems
    assert {*changed} <= {problem.partition(": ")[0] for problem in problems}


@pytest.mark.parametrize("name", ["figures.json", "tasks.jsonl", "judgments.parquet", "items.jsonl", TRAIN])
def test_one_damaged_file_leaves_the_others_checked(released, name):
    folder = released("written")
    path = folder / name
    path.write_bytes(path.read_bytes()[:100])
    report = verify(folder)
    assert [problem for problem in report.problems if problem.startswith(f"{name}: it cannot be checked further")]
    assert report.checked["SHA-256 of files"] > 30


@pytest.mark.parametrize("damage", DAMAGES)
def test_without_a_manifest_that_can_be_read_there_is_one_problem(released, damage):
    path = released("written") / "manifest.json"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    (problem,) = verify(path.parent).problems
    assert problem.startswith("manifest.json: ")


def test_a_manifest_without_its_parts_has_a_problem_for_each_check(released):
    path = released("written") / "manifest.json"
    path.write_text(json.dumps({"made_by": "Winnow", "kind": "release", "schema_version": 1}))
    assert len(verify(path.parent).problems) >= 5


def test_no_folder_is_a_problem(tmp_path):
    assert "there is no such folder" in verify(tmp_path / "nowhere").problems[0]
