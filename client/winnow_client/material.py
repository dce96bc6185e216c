"""Rows of a table, with paths of images, as items of Winnow's manifest and an archive of the images."""

import json
import math
import os
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

MANIFEST = ("id", "type", "subtype", "captions", "texts", "lists", "images", "meta", "truth")
COLUMN = re.compile(r"(?:(?P<role>[a-z][a-z0-9_]*)_)?(?P<kind>caption|image)(?:_\d+)?")
STAMP = (1980, 1, 1, 0, 0, 0)  # the same images make the same archive
MOST_SHOWN = 5


class Material:
    """`items` as in the manifest, and `images`: files by their names in it."""

    def __init__(self, rows: Any, folder: str | os.PathLike[str] = "."):
        """Raises FileNotFoundError if an image is missing, ValueError if there are no rows."""
        self.items = [_item(row, place) for place, row in enumerate(_records(rows), start=1)]
        if not self.items:
            raise ValueError("There are no rows.")
        self.images: dict[str, Path] = {}
        self._name_images(Path(folder).absolute())

    def _name_images(self, folder: Path) -> None:
        """Replace paths by names below the folder that all images share: the server learns of no other folder."""
        rows = enumerate(self.items, start=1)
        used = [(row, image) for row, item in rows for image in item.get("images", ()) if "file" in image]
        paths = [Path(os.path.normpath(folder / str(image["file"]))) for _, image in used]
        missing = [f"row {row}: {path}" for (row, _), path in zip(used, paths, strict=True) if not path.is_file()]
        if missing:
            more = f" … and {len(missing) - MOST_SHOWN:,} more" if len(missing) > MOST_SHOWN else ""
            raise FileNotFoundError(f"There are no such images: {'; '.join(missing[:MOST_SHOWN])}{more}")
        base = os.path.commonpath([path.parent for path in paths]) if paths else ""
        for (_, image), path in zip(used, paths, strict=True):
            image["file"] = path.relative_to(base).as_posix()
            self.images[image["file"]] = path

    def write_items(self, folder: Path) -> Path:
        lines = (json.dumps(item, ensure_ascii=False, default=str) + "\n" for item in self.items)
        path = folder / "items.jsonl"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        return path

    def write_images(self, folder: Path) -> Path:
        path = folder / "images.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name, image in sorted(self.images.items()):
                entry = zipfile.ZipInfo(name, STAMP)
                entry.file_size = image.stat().st_size
                with image.open("rb") as source, archive.open(entry, "w") as target:
                    shutil.copyfileobj(source, target)
        return path


def _records(rows: Any) -> Iterable[Mapping[str, Any]]:
    found: Iterable[Mapping[str, Any]] = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    return found


def _item(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Columns are named as in a release: `caption`, `negative_caption`, `candidate_image_2` … What the manifest names
    keeps its meaning, and any other column goes into `meta`."""
    item: dict[str, Any] = {"id": str(place)}
    parts: dict[str, list[dict[str, Any]]] = {"caption": [], "image": []}
    meta: dict[str, Any] = {}
    for name, value in ((str(name), _plain(value)) for name, value in row.items()):
        column = COLUMN.fullmatch(name)
        if value is None:
            continue
        if name in ("captions", "images"):
            parts[name[:-1]] += _entries(value, name)
        elif column:
            key = "text" if column["kind"] == "caption" else "file"
            parts[column["kind"]] += (_entry(column["role"] or "positive", one, key) for one in _listed(value))
        elif name in MANIFEST:
            item[name] = str(value) if name == "id" else value
        else:
            meta[name] = value
    if meta:
        item["meta"] = {**item.get("meta", {}), **meta}
    return item | {f"{kind}s": members for kind, members in parts.items() if members}


def _entries(value: Any, name: str) -> Iterator[dict[str, Any]]:
    """Of the manifest's `captions` or `images`: entries with roles, or members by role."""
    key = "text" if name == "captions" else "file"
    if isinstance(value, Mapping):
        for role, members in value.items():
            yield from (_entry(role, one, key) for one in _listed(members))
    else:
        yield from (dict(one) for one in value)


def _entry(role: str, member: Any, key: str) -> dict[str, Any]:
    return {"role": role, **(member if isinstance(member, Mapping) else {key: _text(member)})}


def _text(member: Any) -> Any:
    return os.fspath(member) if isinstance(member, os.PathLike) else member


def _listed(value: Any) -> list[Any]:
    return [one for one in value if one is not None] if isinstance(value, list | tuple) else [value]


def _plain(value: Any) -> Any:
    """Of a cell: numpy's values as Python's, and None for whatever stands for nothing in a DataFrame."""
    value = value.tolist() if hasattr(value, "tolist") else value
    absent = isinstance(value, float) and math.isnan(value)
    return None if absent or type(value).__name__ in ("NAType", "NaTType") else value
