"""Small releases: items.jsonl and shards, as a release has them. Numbers 10 apart have pictures of their own."""

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.formats.base import SPLIT
from tests.benchmarks.bad_inputs.case import picture
from tests.builders.parquet_files import stored, table


def embedded(data: bytes | None) -> dict | None:
    return data and {"bytes": data, "path": f"{sha256(data).hexdigest()}.jpg"}


def image(key: str, data: bytes, name: str, **more) -> dict:
    told = {"round": 1, "format": "JPEG", "width": 24, "height": 16, "licence": "CC BY 4.0", "attribution": "A. Person"}
    return {"key": key, "chosen": False, "sha256": sha256(data).hexdigest(), "source_name": name, **told, **more}


def line(number: int, **fields) -> dict:
    """An item whose candidate 1 was chosen, of two."""
    captions = [
        {"role": "positive", "text": f"A red cup, {number}."},
        {
            "role": "negative",
            "text": f"A blue cup, {number}.",
            "imported": "A cup.",
            "changed_by": "a",
            "made_of": None,
        },
    ]
    images = [
        image("candidate-0", picture(number + 200), f"{number}-0.jpg"),
        image("candidate-1", picture(number + 100), f"{number}-1.jpg", chosen=True, licence="MIT"),
        image("positive-0", picture(number), f"{number}.jpg"),
    ]
    decided = {"stage": "a", "negative_image": "candidate-1", "decisions": [{"stage": "a", "votes": {}}]}
    own = {"id": f"item-{number}", "position": number, "type": "swap", "subtype": "att", "split": "test"}
    return {**own, **decided, "captions": captions, "images": images, "meta": {"from": "here"}, **fields}


def row(number: int, **fields) -> dict:
    images = {"image": embedded(picture(number)), "negative_image": embedded(picture(number + 100))}
    texts = {"caption": f"A red cup, {number}.", "negative_caption": f"A blue cup, {number}."}
    made = {**images, **texts, "type": "swap", "subtype": "att", "id": f"item-{number}", **fields}
    return {name: made[name] for name in SPLIT}


def write_lines(folder: Path, lines: Sequence[dict]) -> Path:
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines)
    (folder / "items.jsonl").write_text(text, encoding="utf-8")
    return folder


def release(folder: Path, lines: Sequence[dict], rows: Sequence[dict], flat: bool = False) -> Path:
    """Of one shard."""
    folder.mkdir(exist_ok=True)
    stored(folder if flat else folder / "data", table(list(rows)), "test-00000-of-00001.parquet")
    return write_lines(folder, lines)


def whole(folder: Path, *numbers: int, **how) -> Path:
    return release(folder, [line(number) for number in numbers], [row(number) for number in numbers], **how)


def of_rows(folder: Path, rows: Sequence) -> Path:
    """Rows of the list of malformed inputs (bad_inputs.matrix.Row); UTF-8 cannot hold half a surrogate pair."""
    lines, cells = [], []
    for one in rows:
        data = picture() if one.data == b"" else one.data
        captions = [{"role": "positive", "text": one.caption}, {"role": "negative", "text": one.negative}]
        lines.append(line(1, id=one.id, captions=captions, images=[image("positive-0", data or b"gone", one.image)]))
        cells.append(row(1, image=embedded(data), negative_image=None))
    release(folder, [], cells)
    (folder / "items.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    return folder


def exchange(path: Path, kind: pa.DataType, value: object) -> None:
    """The captions of a shard become values of another kind."""
    table = pq.ParquetFile(path).read()
    plain = pa.array([value], pa.binary(16) if kind == pa.uuid() else kind)
    other = pa.ExtensionArray.from_storage(kind, plain) if kind == pa.uuid() else plain
    pq.write_table(table.set_column(table.schema.get_field_index("caption"), "caption", other), path)
