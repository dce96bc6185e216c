"""Change one value anywhere in a release, mend every hash, and verification names the file.

What is changed is read from the release itself: each column of each table once, each key of each JSON document, each
other file once. So a column that is new is changed too, and either found or has to be listed in ONLY_HERE.
"""

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from annotation.releases.verification import verifying
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from tests.annotation.releases.released import copied, mend

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
STUDIES = ("rich",)
DECODED: dict = {}  # each image once for all changes
Change = Callable[[], None]


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


def in_rows(rows: list[dict]) -> Iterator[tuple[str, list[dict]]]:
    """(the column, the rows with another value in one of them)."""
    for name, _ in columns(rows):
        changed = copy.deepcopy(rows)
        there = dict(columns(changed))[name]
        key = name.rpartition("/")[2]
        row = next((row for row in there if row[key] not in (None, [], {}, "", 0, False)), there[0])
        row[key] = other(row[key], (one[key] for one in there))
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
    """A digit in its second half is another one, or a letter."""
    for test in (str.isdigit, str.isalpha):
        if places := [place for place in range(len(text) // 2, len(text)) if test(text[place]) and text[place] < "z"]:
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
            for name, changed in in_rows(table.to_pylist()):
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


def problems(folder: Path) -> list[str]:
    place, report = Place(folder, decoded=DECODED), Report()
    for name, check in verifying.CHECKS.items():
        with report.reading(name):
            check(place, report)
    return report.problems


def test_all(folder):
    import time

    assert problems(folder) == []
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    before = {name: (folder / name).read_bytes() for name in names}
    found = {}
    for name in names:
        for what, content in changes(folder / name):
            assert content != before[name], (name, what)
            start = time.time()
            (folder / name).write_bytes(content)
            mend(folder, name)
            said = problems(folder)
            found[f"{name} {what}"] = [sum(name in one for one in said), len(said), said[:3], time.time() - start]
            for one in (name, "manifest.json", "README.md", "croissant.json"):
                (folder / one).write_bytes(before[one])
    Path("/tmp/vv/found.json").write_text(json.dumps(found, indent=1))
