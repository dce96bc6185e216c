"""Kept items as a form gets them, and forms written: rows of literals with small pictures."""

import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from PIL import Image as Drawing

from annotation.exports.files import IMAGE, files_below, split_schema
from annotation.releases.export_reader import Row
from annotation.releases.formats.base import Layout
from annotation.releases.formats.registry import FORMS
from annotation.releases.plan import SPLIT_NAMES
from tests.builders.pictures import draw

COLUMNS = {
    "image": "image:positive",
    "caption": "caption:positive",
    "negative_caption": "caption:negative",
    "negative_image": "image:negative",
    "type": "type",
    "subtype": "subtype",
    "id": "key",
    "words": "meta:words",
    "hard": "meta:hard",
}
KINDS = {"words": pa.int64(), "hard": pa.bool_()}
SCHEMA = split_schema(
    [(name, IMAGE if part.startswith("image:") else KINDS.get(name, pa.string())) for name, part in COLUMNS.items()]
)


def picture(number: int, ending: str = "jpg") -> dict:
    """An embedded image."""
    data = draw(number, 200, 190)
    if ending == "png":
        file = io.BytesIO()
        Drawing.open(io.BytesIO(data)).save(file, "PNG")
        data = file.getvalue()
    return {"bytes": data, "path": f"{hashlib.sha256(data).hexdigest()}.{ending}"}


def row(place: int, split: str = "test", **cells: object) -> Row:
    """Columns that are not given are those of an ordinary item, its images its own."""
    usual = {"caption": f"A cup on desk {place}.", "negative_caption": f"A desk on cup {place}.", "type": "swap"}
    usual |= {"subtype": "obj", "id": f"item-{place}", "words": place, "hard": place % 2 == 0}
    usual |= {"image": picture(2 * place), "negative_image": picture(2 * place + 1, "png")} | cells
    found = {name: usual[name] for name in COLUMNS}
    captions = [{"role": role, "text": found[name]} for role, name in _roles("caption") if found[name] is not None]
    images = [_image(role, found[name], place) for role, name in _roles("image") if found[name]]
    line = {"id": found["id"], "type": found["type"], "subtype": found["subtype"], "meta": {"words": place}}
    return Row(place, split, found, {**line, "captions": captions, "images": images})


def _roles(kind: str) -> list[tuple[str, str]]:
    return [(part.partition(":")[2], name) for name, part in COLUMNS.items() if part.startswith(f"{kind}:")]


def _image(role: str, image: Mapping, place: int) -> dict:
    told = {"licence": "CC0-1.0", "attribution": "", "round": 1, "width": 200, "height": 190}
    name = f"{place:012}.jpg"
    return {"key": f"{role}-0", "sha256": image["path"].partition(".")[0], "source_name": name, **told}


def layout(folder: Path, rows: Iterable[Row], **settings: object) -> Layout:
    """Of the splits that the rows have."""
    folder = folder / "release"
    folder.mkdir(parents=True, exist_ok=True)
    splits = tuple(name for name in SPLIT_NAMES if name in {one.split for one in rows})
    usual = {"schema": SCHEMA, "columns": COLUMNS, "splits": splits, "shard_bytes": 10**8, "source_format": ""}
    return Layout(folder, **usual | settings)


def written(form: str, folder: Path, rows: Sequence[Row], **settings: object) -> dict[str, int]:
    """The rows of each file that has some."""
    writer = FORMS[form].writer(layout(folder, rows, **settings))
    for one in rows:
        writer.add(one)
    return writer.close()


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "release" / name).read_bytes() for name in files_below(folder / "release")}
