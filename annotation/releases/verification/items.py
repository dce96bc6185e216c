"""Check that the forms of a release agree, row by row, in ids, words and images; that no image is in two splits; and
that each content has one format and size, and all its licences listed.

items.jsonl lists the items; the parquet files and every other form have them in its order.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from annotation.exports import item_parts
from annotation.exports.columns import FILES_OF_ITEMS
from annotation.exports.files import EXTENSIONS
from annotation.protocols.schema import ProtocolFile
from annotation.releases.schema import MANIFEST, PARTS
from annotation.releases.verification.forms import READERS, Row, content, is_image, parquet
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.schemas import fits, other_keys
from benchmarks.formats.csv_text import harmless
from benchmarks.records import NAME, is_own

ITEMS, TEXTS, IMAGES, DATA = "items.jsonl", "texts.jsonl", "images.jsonl", "data"
SIZE = ("format", "width", "height")
SAID = ("source_name", "licence", "attribution")


def check_items(place: Place, report: Report) -> None:
    splits, columns = place.splits, place.manifest["columns"]
    forms = ["spreadsheet" if form == "csv" else form for form in place.manifest["release"]["forms"]]
    forms += ["csv"] if "spreadsheet" in forms else []
    chosen = {name: READERS[name] for name in sorted(forms) if name in READERS}
    seen: dict[str, set[str]] = {}  # image in the data → its names
    files: dict[str, ProtocolFile] = {}  # by stage
    with report.reading(MANIFEST):
        files = {one["name"]: place.protocol_file(one) for one in place.manifest["stages"] if one["protocol_file"]}
    if item_parts.VOTES not in columns.values():
        report.problem(MANIFEST, "no column has the votes that the items' decisions are based on")
    for split in splits:
        _check_split(place, report, split, columns, chosen, seen, files)
    with report.reading(ITEMS):
        _check_apart(place, report)
    with report.reading(TEXTS):
        _check_texts(place, report)
    with report.reading(IMAGES):
        _check_images(place, report, seen)


def _check_split(
    place: Place, report: Report, split: str, columns: dict, chosen: dict, seen: dict, files: dict
) -> None:
    """Check all forms of a split side by side."""
    readers = {DATA: safely(report, f"{DATA}/{split}", parquet(place, split))}
    for name, (_, reader) in chosen.items():
        readers[name] = safely(report, f"{name}/{split}", reader(place, split))
    lines = safely(report, ITEMS, (pair for pair in enumerate(place.lines(ITEMS)) if pair[1].get("split") == split))
    counts = dict.fromkeys(readers, 0)
    items = 0
    for item, *rows in zip_longest(lines, *readers.values()):
        found = {name: row for name, row in zip(readers, rows, strict=True) if row is not None}
        items += item is not None
        _, data = found.get(DATA, ("", None))
        for name, (file, row) in found.items():
            counts[name] += 1
            with report.reading(file):
                if name == DATA and item is not None:
                    _against_item(report, file, row, item[1], columns, files)
                    _check_whole(report, file, row, item[1], columns)
                elif name != DATA and data is not None:
                    _against_data(report, name, file, row, data, item)
        for column, part in columns.items() if data is not None else ():
            if is_image(part) and (path := data[column]):
                seen.setdefault(content(path), set()).add(path)
    for name, count in counts.items():
        report.count(f"rows of {READERS[name][0] if name in READERS else 'parquet'} against items.jsonl", count)
        if count != items:
            report.problem(f"{name}/{split}", f"it has {count:,} rows, but {ITEMS} has {items:,} items in {split}")


def safely(report: Report, file: str, rows: Iterator) -> Iterator:
    """Yield the rows up to the first that cannot be read."""
    with report.reading(file):
        yield from rows


def _against_item(report: Report, file: str, row: Row, line: dict, columns: dict, files: dict) -> None:
    parts = item_parts.parts_of(line)
    for column, part in columns.items():
        wanted = item_parts.votes_of(line, files) if part == item_parts.VOTES else _part_of(line, parts, part)
        value = row[column]
        report.count("cells of parquet files")
        if is_image(part):
            report.count("embedded images by their bytes", value is not None)
            value = value and content(value)
        elif part.startswith("meta:") and isinstance(value, str) and not isinstance(wanted, str):
            wanted = wanted if wanted is None else json.dumps(wanted, ensure_ascii=False, sort_keys=True)
        if value != wanted:
            report.problem(
                file, f"item {line['id']!r} has {column} {_brief(row[column])}, but {_brief(wanted)} in {ITEMS}"
            )


def _check_whole(report: Report, file: str, row: Row, line: dict, columns: dict) -> None:
    """Check that every text and image of an item is in some column of its row, whatever the columns' names."""
    cells: Counter[object] = Counter()
    for column, part in columns.items():
        if part.startswith(item_parts.KINDS) and row[column] is not None:
            cells[content(row[column]) if is_image(part) else row[column]] += 1
    wanted = [(f"{caption['role']} caption", caption["text"]) for caption in line["captions"]]
    wanted += [(f"text {role}", text) for role, texts in line.get("texts", {}).items() for text in texts]
    wanted += [(f"image {image['key']}", image["sha256"]) for image in line["images"]]
    report.count("texts and images of items in their rows", len(wanted))
    for what, one in wanted:
        if not cells[one]:
            report.problem(file, f"item {line['id']!r} has the {what} {_brief(one)} in {ITEMS}, but in no column")
        cells[one] -= 1


def _check_texts(place: Place, report: Report) -> None:
    """Check that texts written by annotators are also in the items."""
    written = item_parts.written_texts(place.lines(TEXTS))
    for name in FILES_OF_ITEMS.values():
        for line in place.lines(name):
            wanted = item_parts.texts_beside(line["captions"], written.get(line["id"], {}))
            found = line.get("texts", {})
            report.count("items against texts.jsonl")
            for role in sorted(wanted.keys() | found.keys()):
                if wanted.get(role, []) != found.get(role, []):
                    words = f"the texts {role} {_brief(found.get(role, []))}, but {_brief(wanted.get(role, []))}"
                    report.problem(name, f"item {line['id']!r} has {words} in {TEXTS}")


def _against_data(report: Report, name: str, file: str, row: Row, data: Row, item: tuple[int, Mapping] | None) -> None:
    """Compare a row with that of the parquet files, and its number (if any) with the item's."""
    key = row.pop("__key__", None)
    if key is not None and item is not None and int(key) != item[0]:
        report.problem(file, f"item {item[1]['id']!r} is listed as {key}, but as number {item[0]} in {ITEMS}")
    if set(row) != set(data):
        report.problem(file, f"it has the columns {', '.join(sorted(row))}, unlike the parquet files")
        return
    for column, value in data.items():
        if not _same(name, row[column], value):
            words = f"{column} {_brief(row[column])}, but {_brief(value)} in the parquet files"
            report.problem(file, f"a row has {words} (in {_brief(data.get('id', next(iter(data.values()))))})")


def _same(form: str, cell: Any, value: object) -> bool:
    """Return whether a cell has the value: in CSV as text; in CSV for spreadsheets with an apostrophe exactly if the
    text may be run as a formula.
    """
    if form not in ("csv", "spreadsheet"):
        return cell == value and isinstance(cell, bool) == isinstance(value, bool)
    wanted = "" if value is None else value if isinstance(value, str) else str(value).lower()
    if form == "csv":
        return cell == wanted
    return cell == (harmless(wanted) if isinstance(value, str) else wanted)


def _brief(value: object) -> str:
    words = repr(value)
    return words if len(words) <= 80 else f"{words[:77]}…"


def _part_of(line: dict, parts: dict[str, list], part: str) -> object:
    """Return the part of an item that a column (in the manifest) has; an image by its hash."""
    of, _, name = part.partition(":")
    if part.startswith(item_parts.KINDS):
        found = item_parts.part_of(parts, part)
        return found["sha256"] if isinstance(found, dict) else found
    return line["meta"].get(name) if of == "meta" else line["id" if of == "key" else of]


def _check_apart(place: Place, report: Report) -> None:
    """Check that each image, shown or not, is in only one split, and that each item is listed once."""
    split_of: dict[bytes, str] = {}
    ids: set[str] = set()
    for line in place.lines(ITEMS):
        report.count("ids of items")
        if line["id"] in ids:
            report.problem(ITEMS, f"item {line['id']!r} is listed twice")
        ids.add(line["id"])
        if line["split"] not in place.splits:
            report.problem(ITEMS, f"item {line['id']!r} is in {line['split']!r}, which is not in the manifest")
        for image in line["images"]:
            first = split_of.setdefault(bytes.fromhex(image["sha256"]), line["split"])
            if first != line["split"]:
                report.problem(ITEMS, f"image {image['sha256']} of {line['id']!r} is in {first} and in {line['split']}")
            if image["chosen"] != (image["key"] == line["negative_image"]):
                report.problem(ITEMS, f"item {line['id']!r}: chosen of image {image['key']} contradicts negative_image")
    report.count("images in only one split", len(split_of))


# Images


def _check_images(place: Place, report: Report, seen: Mapping[str, set[str]]) -> None:
    """Check the images; `seen` has the names of each image in the data, by its hash."""
    sizes: dict[str, tuple] = {}
    said: dict[str, tuple[dict, ...]] = {}  # image in the data → statements about it in items, in order of appearance
    for name in FILES_OF_ITEMS.values():
        with report.reading(name):
            fine: set[tuple] = set()
            for line in place.lines(name):
                _check_captions(report, name, line)
                for image in line["images"]:
                    _check_image(report, name, line["id"], image, sizes, fine)
                    if name == ITEMS and image["sha256"] in seen:
                        for values, key in zip(said.setdefault(image["sha256"], ({}, {}, {})), SAID, strict=True):
                            values.setdefault(image[key])
    with report.reading(IMAGES):
        _check_listed(place, report, seen, sizes, said)


def _check_captions(report: Report, name: str, line: Mapping) -> None:
    """Check that roles are known, or valid as user-defined roles."""
    roles = {one["role"] for one in line["captions"]} | {one["key"].rpartition("-")[0] for one in line["images"]}
    odd = sorted(role for role in roles if is_own(role) and not NAME.fullmatch(role))
    if odd:
        report.problem(name, f"item {line['id']!r} has {odd[0]!r:.60}, which cannot be a role")
    for caption in line["captions"]:
        report.count("captions of items by their keys")
        if wrong := _invalid(caption, "captions"):
            report.problem(name, f"item {line['id']!r}: a caption has an invalid {', '.join(wrong)}")


def _invalid(part: Mapping, kind: str) -> list[str]:
    """Return the keys of a caption or an image that are superfluous, missing, or have unsuitable values."""
    columns = PARTS[kind]
    return other_keys(part, columns) or [
        one.name for one in columns if one.name in part and not fits(part[one.name], one)
    ]


def _check_image(
    report: Report, name: str, item: str, image: Mapping, sizes: dict[str, tuple], fine: set[tuple]
) -> None:
    """Check an image; `sizes` has the format and size of each image, `fine` the keys and types of valid images."""
    report.count("images of items by their keys")
    shape = *image, *map(type, image.values())
    if shape in fine and sizes.get(image["sha256"]) == (image["format"], image["width"], image["height"]):
        return
    wrong = _invalid(image, "images")
    if wrong or not re.fullmatch("[0-9a-f]{64}", image["sha256"]) or image["format"] not in EXTENSIONS:
        report.problem(name, f"item {item!r}: an image has an invalid {', '.join(wrong) or 'hash or format'}")
        return
    fine.add(shape)
    size = tuple(image[key] for key in SIZE)
    if sizes.setdefault(image["sha256"], size) != size:
        report.problem(name, f"item {item!r}: image {image['sha256']} is {size}, elsewhere {sizes[image['sha256']]}")


def _in_words(format: str, width: int, height: int) -> str:
    return f"{format} of {width} × {height} pixels"


def _check_listed(place: Place, report: Report, seen: Mapping, sizes: dict[str, tuple], said: Mapping) -> None:
    listed = []
    for line in place.lines(IMAGES):
        content = line["sha256"]
        listed.append(content)
        report.count("lines of images.jsonl")
        if content not in seen:
            report.problem(IMAGES, f"image {content} is not in any parquet file")
            continue
        if line["file_names"] != sorted(seen[content]):
            report.problem(IMAGES, f"image {content} is called {line['file_names']!r:.80}, but not in the data")
        size = tuple(line[key] for key in SIZE)
        if sizes.get(content, size) != size:
            report.problem(IMAGES, f"image {content} has size {size}, but another in {ITEMS}")
        report.count("images decoded")
        found = place.decoded.get(content)
        if found != size:
            words = f"is a {_in_words(*found)}, not a {_in_words(*size)}" if found else "cannot be decoded"
            report.problem(IMAGES, f"image {content} {words}")
        if any(not one.endswith(f".{EXTENSIONS.get(line['format'])}") for one in line["file_names"]):
            report.problem(IMAGES, f"image {content} has format {line['format']}, unlike its names")
        for key, values in zip(SAID, said.get(content, ()), strict=False):
            if line[key] != "; ".join(filter(None, values)):
                report.problem(IMAGES, f"image {content} has the {key} {line[key]!r:.60}, but another in {ITEMS}")
    if listed != sorted(set(listed)):
        report.problem(IMAGES, "its lines are not sorted by hash, or repeat one")
    for content in sorted(set(seen) - set(listed)):
        report.problem(IMAGES, f"image {content}, which is in the data, is missing")
