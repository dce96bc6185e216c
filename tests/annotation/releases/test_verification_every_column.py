"""Change one value anywhere in a release, mend every hash, and verification names the file.

What is changed is read from the release itself: each column of each table once, each key of each JSON document, each
other file once. So a column that is new is changed too, and either found or has to be listed in ONLY_HERE.
"""

import copy
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.exports.columns import TABLES
from annotation.releases.plan import FORMS as OTHER_FORMS
from annotation.releases.verification import verifying
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from tests.annotation.releases.released import contents, copied, mend

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported"), pytest.mark.nightly]
STUDIES = ("rich",)
ONLY_HERE = {  # docs/reference/verifying.md lists them
    "adjudications.jsonl": {"note"},
    "annotators.jsonl": {"stages/screened_out"},
    "corrections.jsonl": {"reason", "at"},
    "dropped.jsonl": {
        "captions/imported", "images/round", "images/sha256", "images/width", "images/height", "images/source_name",
        "images/attribution", "meta",
    },
    "items.jsonl": {"captions/imported", "images/round", "meta"},
    "judgments.parquet": {"flags", "language", "reason", "shown"},
    "tasks.jsonl": {"batch", "shared", "shows"},
}  # fmt: skip
DECODED: dict = {}  # each image once for all changes
FORMS = {"data", *OTHER_FORMS}
PARTS = (
    *(table.file for table in TABLES.values()), "README.md", "croissant.json", "csv", "data", "data_statement.md",
    "figures.json", "imagefolder", "jsonl", "lmms_eval", "manifest.json", "protocols", "release.json", "score.py",
    "scoring", "statistics.json", "vlmevalkit", "webdataset",
)  # fmt: skip


def other(value: object, values: Iterable = ()) -> object:
    """Another value of its kind, one of `values` if possible."""
    for one in values:
        if one != value and type(one) is type(value):
            return one
    match value:
        case None:
            return "x"
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case datetime():
            return value + timedelta(seconds=1)
        case dict():
            return {**value, **{name: other(one) for name, one in [*value.items()][:1]}} or {"x": 1}
        case list():
            return [*map(other, value[:1]), *value[1:]] or ["x"]
        case bytes():
            return value[::-1]
    raise TypeError(type(value))


def columns(rows: list[dict], within: str = "") -> Iterator[tuple[str, list[dict]]]:
    """(name, the objects that have it), those of objects in lists too."""
    for name in dict.fromkeys(key for row in rows for key in row):
        there = [row for row in rows if name in row]
        parts = [one for row in there if isinstance(row[name], list) for one in row[name] if isinstance(one, dict)]
        if parts:
            yield from columns(parts, f"{within}{name}/")
        else:
            yield f"{within}{name}", there


def in_rows(rows: list[dict], numbers: Collection[str] = ()) -> Iterator[tuple[str, list[dict]]]:
    """(the column, the rows with another value in one of them). A null in the columns `numbers` becomes one."""
    for name, _ in columns(rows):
        changed = copy.deepcopy(rows)
        there = dict(columns(changed))[name]
        key = name.rpartition("/")[2]
        row = next((row for row in there if row[key] not in (None, [], {}, "", 0, False)), there[0])
        row[key] = 1 if row[key] is None and name in numbers else other(row[key], (one[key] for one in there))
        yield name, changed


def in_object(found: dict) -> Iterator[tuple[str, dict]]:
    """Each key, and each of the first object in a list under a key."""
    for name, value in found.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for part, changed in in_object(value[0]):
                yield f"{name}/{part}", {**found, name: [changed, *value[1:]]}
        else:
            yield name, {**found, name: other(value)}


def in_text(text: str) -> str:
    """A digit in its second half, without the line end, is another one, or a letter."""
    for test in (str.isdigit, str.isalpha):
        if places := [
            place for place in range(len(text.rstrip()) // 2, len(text)) if test(text[place]) and text[place] < "z"
        ]:
            place = places[0]
            return f"{text[:place]}{chr(ord(text[place]) ^ 1)}{text[place + 1 :]}"
    raise ValueError(text)


def changes(path: Path) -> Iterator[tuple[str, bytes]]:
    """(what, the content of the file with that changed)."""
    match path.suffix:
        case ".jsonl":
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            for name, changed in in_rows(rows):
                yield name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in changed).encode()
        case ".parquet":
            table = pq.read_table(path)
            numbers = [field.name for field in table.schema if pa.types.is_integer(field.type)]
            for name, changed in in_rows(table.to_pylist(), numbers):
                sink = pa.BufferOutputStream()
                pq.write_table(pa.Table.from_pylist(changed, schema=table.schema), sink)
                yield name, sink.getvalue().to_pybytes()
        case ".json":
            for name, changed in in_object(json.loads(path.read_text())):
                yield name, json.dumps(changed).encode()
        case ".jpg":
            yield "", path.read_bytes() + b"x"
        case ".tar":
            yield "", path.read_bytes().replace(b"cups", b"cusp", 1)
        case _:
            yield "", in_text(path.read_text()).encode()


@pytest.fixture(scope="module")
def folder(whole, tmp_path_factory) -> Path:
    return copied(whole("rich"), tmp_path_factory.mktemp("changed") / "release")


@contextmanager
def changed(folder: Path, name: str, content: bytes) -> Iterator[bool]:
    """The file has that content, and every hash of it is mended. Whether that undid the change: it was of a hash."""
    before = contents(folder)
    (folder / name).write_bytes(content)
    if name.startswith("protocols/"):
        old, new = (hashlib.sha256(one).hexdigest().encode() for one in (before[name], content))
        for one in ("manifest.json", "release.json"):
            (folder / one).write_bytes(before[one].replace(old, new))
    mend(folder, name)
    try:
        yield (folder / name).read_bytes() == before[name]
    finally:
        for one in (name, "manifest.json", "release.json", "README.md", "croissant.json"):
            (folder / one).write_bytes(before[one])


def problems(folder: Path) -> list[str]:
    place, report = Place(folder, decoded=DECODED), Report()
    for name, check in verifying.CHECKS.items():
        with report.reading(name):
            check(place, report)
    return report.problems


def parts_of(names: Iterable[str]) -> dict[str, list[str]]:
    """Files by what they are: of a form, those of one split are enough."""
    found = defaultdict(list)
    for name in names:
        first = name.partition("/")[0]
        if first not in FORMS or name.removeprefix(f"{first}/").startswith("test"):
            found[first].append(name)
    return found


@pytest.mark.parametrize("part", PARTS)
def test_one_changed_value_is_found_though_every_hash_was_mended(folder, part):
    missed = set()
    for name in parts_of(contents(folder))[part]:
        for what, content in changes(folder / name):
            with changed(folder, name, content) as is_mended:
                missed |= set() if is_mended or problems(folder) else {what}
    assert missed == ONLY_HERE.get(part, set())


def test_a_release_that_nobody_changed_has_no_problem_and_no_other_parts(folder):
    assert problems(folder) == [] and set(parts_of(contents(folder))) == {*PARTS}


def test_the_documentation_lists_what_stands_in_one_file_only():
    page = Path("docs/reference/verifying.md").read_text().partition("in one file only")[2].partition("\n## ")[0]
    for part, names in ONLY_HERE.items():
        (line,) = [line for line in page.splitlines() if line.startswith(f"| `{part}` |")]
        assert set(re.findall("`([^`]+)`", line)) == {part, *names}
