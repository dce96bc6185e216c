"""Small parquet files as the `datasets` library writes them."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.benchmarks.bad_inputs.case import picture

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def embedded(number: int = 1, **values) -> dict:
    return {"bytes": picture(number), "path": f"{number}.jpg", **values}


def bivlc_row(number: int = 1, **values) -> dict:
    """A row of BiVLC's release. With numbers below 100 no two rows share a picture."""
    texts = {"caption": f"A red cup, {number}.", "negative_caption": f"A blue cup, {number}."}
    images = {"image": embedded(number), "negative_image": embedded(number + 100, path=f"{number}-n.jpg")}
    return {**images, **texts, "type": "swap", "subtype": "att", **values}


def kinds(rows: list[dict], **types: pa.DataType) -> pa.Schema:
    """The schema of these rows: images where there are dictionaries, text elsewhere, and what `types` say."""
    own = {name: IMAGE if "image" in name else pa.string() for name in rows[0]}
    return pa.schema(list({**own, **types}.items()))


def table(rows: list[dict], **types: pa.DataType) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=kinds(rows, **types))


def stored(folder: Path, made: pa.Table, name: str = "data.parquet", **options) -> Path:
    folder.mkdir(exist_ok=True)
    pq.write_table(made, folder / name, **options)
    return folder / name


def bivlc(folder: Path, *rows: dict, **types: pa.DataType) -> Path:
    return stored(folder, table(list(rows), **types))
