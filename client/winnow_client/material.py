"""Turn a table's rows, with images, into items of Winnow's manifest and an archive of the images."""

import csv
import hashlib
import io
import json
import math
import os
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

MANIFEST = ("id", "type", "subtype", "captions", "texts", "lists", "images", "meta", "truth")
ROLES = ("positive", "negative", "second_positive", "candidate")
COLUMN = re.compile(r"(?:(?P<role>[a-z][a-z0-9_]*)_)?(?P<kind>caption|image)(?:_\d+)?")
KNOWN = [*MANIFEST, "caption", "image", *(f"{role}_{kind}" for role in ROLES for kind in ("caption", "image"))]
KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpg", b"GIF8": "gif", b"RIFF": "webp"}  # by their first bytes
STAMP = (1980, 1, 1, 0, 0, 0)  # the same images make the same archive
META = "meta: further information, never shown"
MOST_SHOWN = 5
REASON = "Imported again with other content."


class Frame(Protocol):
    """A pandas or polars DataFrame, or an Arrow table."""

    @property
    def columns(self) -> Iterable[object]: ...


Folder = str | os.PathLike[str]
Rows = Iterable[Mapping[str, object]] | Frame | Folder


class WrongColumns(ValueError):
    """Some column names would not be understood as you probably mean them. Nothing was sent."""


@dataclass
class Material:
    """`items` as in the manifest, and `images`: files by their names in it. `columns`: the meaning given to each
    column.

    `folder` may be a zip. `space`: a folder for images that are not files yet; `meta`: columns that are further
    information, whatever they are called. Raises FileNotFoundError if an image is missing, WrongColumns, and ValueError
    if there are no rows.
    """

    rows: Rows
    folder: Folder
    space: Path
    meta: Collection[str] = ()
    columns: dict[str, str] = field(default_factory=dict)
    images: dict[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.items = [self._item(row, place) for place, row in enumerate(records(self.rows), start=1)]
        if not self.items:
            raise ValueError("There are no rows.")
        if wrong := [one for one in map(self._mistaken, self.columns) if one]:
            raise WrongColumns(f"{' '.join(wrong)} Rename such a column, or name it in `meta`.")
        self._name_images(Path(self.folder).absolute())

    def _item(self, row: Mapping[str, Any], place: int) -> dict[str, Any]:
        """Return the item of a row. Columns are named as in a release: `caption`, `negative_caption`,
        `candidate_image_2` … The manifest's own names keep their meaning, and any other column goes into `meta`."""
        item: dict[str, Any] = {"id": str(place)}
        parts: dict[str, list[dict[str, Any]]] = {"caption": [], "image": []}
        meta: dict[str, Any] = {}
        for name, value in ((str(name), _plain(value)) for name, value in row.items()):
            column = None if name in self.meta else COLUMN.fullmatch(name)
            if name not in self.columns:
                self.columns[name] = self._becomes(name, column)
            if value is None:
                continue
            if name in self.meta:
                meta[name] = value
            elif name in ("captions", "images"):
                parts[name[:-1]] += _entries(value, name)
            elif column:
                key = "text" if column["kind"] == "caption" else "file"
                parts[column["kind"]] += (_entry(column["role"] or "positive", one, key) for one in _listed(value))
            elif name in MANIFEST:
                item[name] = str(value) if name == "id" else value
            else:
                meta[name] = value
        for image in parts["image"]:
            if "file" in image:
                image["file"] = self._file(image["file"], place)
        if meta:
            item["meta"] = {**item.get("meta", {}), **meta}
        return item | {f"{kind}s": members for kind, members in parts.items() if members}

    def _becomes(self, name: str, column: re.Match[str] | None) -> str:
        if column and name not in MANIFEST:
            return f"{column['kind']} in the role {column['role'] or 'positive'}"
        return name if name in MANIFEST and name not in self.meta else META

    def _mistaken(self, name: str) -> str:
        """Return a sentence if the name is close to another."""
        column = COLUMN.fullmatch(name)
        if name in KNOWN or name in self.meta or (column and column["role"] in (*ROLES, None)):
            return ""
        plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        if column:
            near = [f"{role}_{column['kind']}" for role in get_close_matches(column["role"], ROLES, 1, 0.8)]
        elif plain in KNOWN or COLUMN.fullmatch(plain):
            near = [plain]
        else:
            near = [one for one in get_close_matches(plain, KNOWN, 1, 0.8) if not plain.startswith(f"{one}_")]
        return f"The column “{name}” is not known. Did you mean “{near[0]}”?" if near else ""

    def _file(self, image: Any, place: int) -> str:
        """Return the path of an image, written to `space` if it is not a file; the same content has the same name."""
        if isinstance(image, Mapping):
            image = image.get("bytes") or image.get("path")
        if isinstance(image, str | os.PathLike):
            return os.fspath(image)
        try:
            content = _content(image)
        except (TypeError, OSError) as error:  # raised by Pillow for numbers or channels that a PNG cannot have
            what = " ".join(str(one) for one in (type(image).__name__, getattr(image, "dtype", "")) if str(one))
            says = f"Row {place}: this {what} cannot become a PNG ({error}). Use numbers from 0 to 255 as uint8."
            raise ValueError(says) from None
        if content is None:
            raise ValueError(f"Row {place}: {type(image).__name__} is not an image. Use a path, bytes, PIL or numpy.")
        kind = next((kind for start, kind in KINDS.items() if content.startswith(start)), "img")
        path = self.space / f"{hashlib.sha256(content).hexdigest()[:24]}.{kind}"
        if not path.exists():
            path.write_bytes(content)
        return str(path)

    def _name_images(self, folder: Path) -> None:
        """Replace paths by names below the images' common folder, hiding any other folder from the server."""
        if folder.is_file():
            if not zipfile.is_zipfile(folder):
                raise ValueError(f"{folder.name} is neither a folder nor a zip.")
            with zipfile.ZipFile(folder) as archive:
                folder = self.space / "unpacked" / folder.name
                archive.extractall(folder)
        rows = enumerate(self.items, start=1)
        used = [(row, image) for row, item in rows for image in item.get("images", ()) if "file" in image]
        paths = [Path(os.path.normpath(folder / str(image["file"]))) for _, image in used]
        missing = [f"row {row}: {path}" for (row, _), path in zip(used, paths, strict=True) if not path.is_file()]
        if missing:
            more = f" … and {len(missing) - MOST_SHOWN:,} more" if len(missing) > MOST_SHOWN else ""
            raise FileNotFoundError(f"These images do not exist: {'; '.join(missing[:MOST_SHOWN])}{more}")
        given = [path.parent for path in paths if path.parent != self.space]
        base = os.path.commonpath(given) if given else ""
        for (_, image), path in zip(used, paths, strict=True):
            image["file"] = path.name if path.parent == self.space else path.relative_to(base).as_posix()
            self.images[image["file"]] = path

    def sha256(self, name: str) -> str:
        """Return an image's hash, by its name in the archive."""
        with self.images[name].open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def differences(self, stored: Mapping[str, Mapping[str, Any]]) -> tuple[list[dict[str, str]], dict[str, Path]]:
        """Return rows of corrections that make stored items match these, and the images they name."""
        rows: list[dict[str, str]] = []
        for item in self.items:
            there = stored.get(item["id"], {"captions": (), "images": ()})
            old = {(f"caption-{one['role']}", one["position"]): one["text"] for one in there["captions"]}
            old |= {(one["role"], one["position"]): one["sha256"] for one in there["images"]}
            counts: Counter[str] = Counter()
            for one in [*item.get("captions", ()), *item.get("images", ())]:
                role = one["role"] if "file" in one else f"caption-{one['role']}"
                place = role, counts[role]
                counts[role] += 1
                what = {"file": one["file"]} if "file" in one else {"text": one.get("text", "")}
                if place in old and (self.sha256(one["file"]) if "file" in one else one.get("text")) != old[place]:
                    rows.append({"id": item["id"], "place": f"{role}-{place[1]}", "reason": REASON, **what})
        return rows, {row["file"]: self.images[row["file"]] for row in rows if "file" in row}

    def write_items(self, folder: Path) -> Path:
        return write_rows(self.items, folder / "items.jsonl")


def write_rows(rows: Iterable[Mapping[str, Any]], path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)
    return path


def write_archive(images: Mapping[str, Path], path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, image in sorted(images.items()):
            entry = zipfile.ZipInfo(name, STAMP)
            entry.file_size = image.stat().st_size
            with image.open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)
    return path


def mapped(report: Mapping[str, Any]) -> dict[str, str]:
    """Return what each column becomes by the mapping in a job's report; empty if the server did not need one."""
    mapping = report.get("mapping", {})
    uses = [(name, mapping[name]) for name in ("id", "type", "subtype", "together") if name in mapping]
    for kind in ("text", "image"):
        uses += [(f"{kind} in the role {role}", places) for role, places in mapping.get(f"{kind}s", {}).items()]
    columns = {}
    for name in (str(one["name"]) for one in report.get("columns", ())):
        hole = re.compile(rf"\{{(.* - )?{re.escape(name)}( - .*|\[.*)?\}}")
        used = [use for use, places in uses if any(name == one or hole.search(one) for one in _texts(places))]
        columns[name] = ", ".join(used) or META
    return columns


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a part of a mapping."""
    if isinstance(value, str):
        yield value
    else:
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one)


def records(rows: Rows) -> Iterable[Mapping[str, Any]]:
    """Yield the rows of any kind of table, or of a file with one."""
    found: Any = _read(Path(rows)) if isinstance(rows, str | os.PathLike) else rows
    if hasattr(found, "cast_column") and hasattr(found, "features"):  # from `datasets`: keep files undecoded
        for name, feature in (found.features or {}).items():
            if type(feature).__name__ == "Image":
                found = found.cast_column(name, type(feature)(decode=False))
        return found  # type: ignore[no-any-return]
    found = found.collect() if hasattr(found, "collect") else found  # a polars LazyFrame
    if hasattr(found, "iter_rows"):  # polars
        return found.iter_rows(named=True)  # type: ignore[no-any-return]
    if hasattr(found, "to_batches"):  # Arrow
        return (row for batch in found.to_batches() for row in batch.to_pylist())
    if hasattr(found, "read_next_batch"):  # Arrow's stream
        return (row for batch in found for row in batch.to_pylist())
    return found.to_dict("records") if hasattr(found, "to_dict") else found  # type: ignore[no-any-return]


def _read(path: Path) -> Any:
    suffix = path.suffix.lower()
    if suffix not in (".parquet", ".csv", ".tsv", ".jsonl", ".json"):
        raise ValueError(f"{path.name} is not rows in .parquet, .csv, .tsv, .jsonl or .json. Give its `format`.")
    if suffix == ".parquet":
        import pyarrow.parquet  # type: ignore[import-untyped]

        return pyarrow.parquet.read_table(path)
    text = path.read_text(encoding="utf-8-sig")
    if suffix == ".json":
        return json.loads(text)
    if suffix == ".jsonl":
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    lines = csv.DictReader(io.StringIO(text), delimiter="\t" if suffix == ".tsv" else ",")
    return [{name: value or None for name, value in line.items()} for line in lines]


def _content(image: Any) -> bytes | None:
    """Return the content of bytes, a PIL image or a numpy array; the latter two as PNG."""
    if isinstance(image, bytes | bytearray | memoryview):
        return bytes(image)
    if hasattr(image, "__array_interface__") and not hasattr(image, "save"):
        from PIL import Image

        image = Image.fromarray(image)
    if not hasattr(image, "save"):
        return None
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()


def _entries(value: Any, name: str) -> Iterator[dict[str, Any]]:
    """Yield entries of the manifest's `captions` or `images`: with roles, or as members by role."""
    key = "text" if name == "captions" else "file"
    if isinstance(value, Mapping):
        for role, members in value.items():
            yield from (_entry(role, one, key) for one in _listed(members))
    else:
        yield from (dict(one) for one in value)


def _entry(role: str, member: Any, key: str) -> dict[str, Any]:
    """Return an entry; a dict has attributes, unless it is an image of `datasets`: its bytes or path."""
    whole = not isinstance(member, Mapping) or (key == "file" and member.keys() <= {"bytes", "path"})
    return {"role": role, **({key: member} if whole else member)}


def _listed(value: Any) -> list[Any]:
    return [one for one in value if one is not None] if isinstance(value, list | tuple) else [value]


def _plain(value: Any) -> Any:
    """Convert a cell: numpy's values to Python's, and a DataFrame's missing values to None."""
    convert: Callable[[], Any] | None = getattr(value, "tolist", None)
    if convert and len(getattr(value, "shape", ())) < 2:  # else it is a picture
        value = convert()
    absent = isinstance(value, float) and math.isnan(value)
    return None if absent or type(value).__name__ in ("NAType", "NaTType") else value
