"""The list of malformed inputs for every format: one way to write an item down in each, and what is wrong with it.

`CELLS` has a case for each row of the list and each format to which it applies; `REASONS` says of the others why not.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.formats.registry import FORMATS
from tests.benchmarks.bad_inputs.case import ImportFiles, item, picture, written
from tests.benchmarks.bad_inputs.published_list import ARCHIVES, CASES, IMAGES
from tests.benchmarks.bad_inputs.sources import sides, triplet, tsv, vl_row
from tests.benchmarks.bad_inputs.texts import NASTY, REMOTE, cells, crepe_row, text_of
from tests.builders import release_files
from tests.builders.aro_rows import relation
from tests.builders.parquet_files import IMAGE

ROWS = range(1, 44)
HOLDING = [name for name, format in FORMATS.items() if format.images]  # their images themselves
PARQUET = [name for name in HOLDING if name != "release"]  # whose rows are those of the parquet file
LOOKED_AT = ["jsonl", "aro", "bivlc-parquet", "release"]  # images of an archive, their crops, of a table, of a shard
TABLES = ["bivlc-candidates", "visla"]
ANY_COLUMNS = "own"  # of any type: a mapping, here a guess, says what they are
JSON = ["sugarcrepe", "sugarcrepe-compare", "hard-positives", "aro", "jsonl", "release"]
PLACED = ["sugarcrepe-compare", "visla", "hard-positives", "aro"]  # ids are made of the place in the file
LONG = "x" * 131_073


@dataclass(frozen=True)
class Row:
    """What an item says. `data`: of the image, where the format holds images itself; None names an image alone."""

    image: str = "1.jpg"
    data: bytes | None = b""
    caption: str = "A red cup."
    negative: str = "A blue cup."
    id: str = "1"


@dataclass(frozen=True)
class Cell:
    """`code` None: it must be accepted; `notes`: codes that the report must then have."""

    row: int
    format: str
    code: str | None
    build: Callable[[Path], ImportFiles]
    notes: tuple[str, ...] = ()


# One writer a format


def candidates(folder: Path, rows: list[Row]) -> Path:
    images = [dict.fromkeys(["filename", "hn_img_0", "hn_img_1"], row.image) for row in rows]
    made = [
        cells(**named, caption=row.caption, negative_caption=row.negative, index=row.id)
        for row, named in zip(rows, images, strict=True)
    ]
    return written(folder, "table.csv", encoded(text_of(*made)))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def crepe(row: Row, **more: str) -> dict:
    return crepe_row(filename=row.image, caption=row.caption, negative_caption=row.negative) | more


def object_of(rows: list[Row], **more: str) -> str:
    """Written by hand: a key may stand in it twice."""
    return "{" + ", ".join(f"{json.dumps(row.id)}: {json.dumps(crepe(row, **more))}" for row in rows) + "}"


def sugarcrepe(folder: Path, rows: list[Row]) -> Path:
    return written(folder, "swap_obj.json", object_of(rows))


def compare(folder: Path, rows: list[Row]) -> Path:
    second = object_of(rows, negative_caption="Another cup.")
    both = {"first/swap_obj.json": object_of(rows), "second/swap_obj.json": second}
    return sides(folder, "sugarcrepe-compare", both).path


def visla(folder: Path, rows: list[Row]) -> Path:
    made = [triplet(filename=row.image, caption=row.caption, negative_caption=row.negative) for row in rows]
    return written(folder, "Generic_VISLA.tsv", encoded(tsv(*made)))


def hard(folder: Path, rows: list[Row]) -> Path:
    name = "vl_checklist_relations.json"
    made = [vl_row(caption=row.caption, false_caption=row.negative, image_path=row.image) for row in rows]
    again = [{**row, "true_caption": "A cup that is red."} for row in made]
    return sides(folder, "hard-positives", {f"original/{name}": made, f"hard_positive/{name}": again}).path


def aro(folder: Path, rows: list[Row]) -> Path:
    made = [
        relation(0, (0, 0, 2, 2), image_path=row.image, true_caption=row.caption, false_caption=row.negative)
        for row in rows
    ]
    return written(folder, "visual_genome_relation.json", json.dumps(made))


def jsonl(folder: Path, rows: list[Row]) -> Path:
    made = []
    for row in rows:
        captions = [{"role": "positive", "text": row.caption}, {"role": "negative", "text": row.negative}]
        made.append(item(images=[row.image], captions=captions, id=row.id))
    return written(folder, "items.jsonl", "".join(json.dumps(one) + "\n" for one in made))


def parquet(format: str) -> Callable[[Path, list[Row]], Path]:
    def write(folder: Path, rows: list[Row]) -> Path:
        columns = {name: [value(part, row) for row in rows] for name, part in FORMATS[format].split.items()}
        types = {
            name: IMAGE if part.startswith("image:") else pa.string() for name, part in FORMATS[format].split.items()
        }
        made = pa.table({name: column(values, types[name]) for name, values in columns.items()})
        plain = {"compression": None, "use_dictionary": False, "write_statistics": False}
        pq.write_table(made, folder / "data.parquet", **plain)
        return folder / "data.parquet"

    return write


def value(part: str, row: Row) -> object:
    if part.startswith("image:"):
        data = picture() if row.data == b"" else row.data
        return {"bytes": data, "path": row.image}
    said = {"caption:positive": row.caption, "caption:negative": row.negative, "key": row.id}
    return said.get(part, '["a", "b"]' if part == "meta:origins" else f"Said of {part}.")


def column(values: list, kind: pa.DataType) -> pa.Array:
    """Text as its bytes: half a pair is nothing that Arrow would write itself."""
    if kind == IMAGE:
        return pa.array(values, kind)
    data = [None if text is None else encoded(text) for text in values]
    return pa.array(data, pa.binary()).view(pa.string())


WRITERS: dict[str, Callable[[Path, list[Row]], Path]] = {
    "bivlc-candidates": candidates, "sugarcrepe": sugarcrepe, "sugarcrepe-compare": compare, "visla": visla,
    "hard-positives": hard, "aro": aro, "jsonl": jsonl, **{name: parquet(name) for name in PARQUET},
    "release": release_files.of_rows,
}  # fmt: skip
WITHOUT = sorted({*FORMATS} - {*WRITERS})
assert not WITHOUT, f"Write an item down in {', '.join(WITHOUT)}: WRITERS needs a function for each format."
CAPTION = {"hard-positives": "true_caption", "aro": "true_caption", "jsonl": "captions", "aro-parquet": "true_caption"}
CAPTION |= {"release": "captions"}
SHARD = "data/test-00000-of-00001.parquet"


def input_of(folder: Path, format: str, *rows: Row, images: Path | None = None) -> ImportFiles:
    return ImportFiles(format, WRITERS[format](folder, list(rows)), images)


def rewritten(made: ImportFiles, change: Callable[[bytes], bytes]) -> ImportFiles:
    """Its files, a release's items, with other bytes."""
    files = [made.path / "items.jsonl"] if made.format == "release" else made.path.rglob("*")
    for path in [path for path in files if path.is_file()] or [made.path]:
        path.write_bytes(change(path.read_bytes()))
    return made


# What may be wrong with it


def moved(format: str, name: str) -> Callable[[Path], ImportFiles]:
    """The images of a case that was made for the manifest, named by this format's rows, or inside its file."""

    def build(folder: Path) -> ImportFiles:
        (folder / "model").mkdir()
        model = CASES[name].build(folder / "model")
        lines = model.path.read_text().splitlines()
        names = [image["file"] for line in lines for image in json.loads(line)["images"]]
        rows = [
            Row(image=image, id=str(number), caption=f"A cup, {number}.", data=content(model.images, image, format))
            for number, image in enumerate(names)
        ]
        return input_of(folder, format, *rows, images=None if format in HOLDING else model.images)

    return build


def content(images: Path, name: str, format: str) -> bytes | None:
    return (images / name).read_bytes() if format in HOLDING else None


def says(format: str, *rows: Row) -> Callable[[Path], ImportFiles]:
    return lambda folder: input_of(folder, format, *rows)


def bytes_of(format: str, change: Callable[[bytes], bytes], row: Row = Row()) -> Callable[[Path], ImportFiles]:
    return lambda folder: rewritten(input_of(folder, format, row), change)


def caption_of(format: str) -> bytes:
    return CAPTION.get(format, "caption").encode()


NAMED = ["accent_in_both_forms", "accent_in_two_parts", "clash_0", "odd_but_safe_names"]
NAMED += ["image_that_is_not_there", "image_that_no_row_names"]
INSIDE = ["huge_png", "just_under_pillows_own_limit", "cut_off_jpeg", "png_with_html_behind", "svg", "animated_png"]
INSIDE += ["exif"]


def of_images(format: str) -> Iterator[Cell]:
    for name in [*(() if format in HOLDING else NAMED), *(INSIDE if format in LOOKED_AT else ())]:
        yield Cell(CASES[name].row, format, CASES[name].code, moved(format, name))
    if format in HOLDING:
        yield Cell(29, format, "MISSING_IMAGE", says(format, Row(), Row("gone.jpg", None, id="2")))


def of_words(format: str) -> Iterator[Cell]:
    """Values that every format can hold."""
    plain = Row()
    same = None if FORMATS[format].keeps_same else "SAME_CAPTIONS"
    notes = () if same else ("SAME_CAPTIONS",)
    for row, code, changes in [
        (4, "UNSAFE_PATH", {"image": "a/../../x.jpg"}), (5, "UNSAFE_PATH", {"image": "/etc/passwd"}),
        (6, "UNSAFE_PATH", {"image": "C:\\x.jpg"}), (6, "UNSAFE_PATH", {"image": "a\\b.jpg"}),
        (21, "NUL_CHARACTER", {"caption": "A\0cup."}), (23, None, {"caption": "👩‍👩‍👧‍👦 and 𝔘𝔫𝔦 é̂."}),
        (23, "FIELD_TOO_LONG", {"caption": "e" + "\u0301" * 10_000}), (33, "FIELD_TOO_LONG", {"caption": LONG}),
        (18, None, {"caption": " ".join(NASTY)}),
        *((27, None, {"caption": formula}) for formula in ["=cmd|' /C calc'!A0", "-1"]),
        *((38, None, {"caption": text, "id": text}) for text in ["007", "null"]),
        *((39, _refused(format, address), {"image": address}) for address in REMOTE),
    ]:  # fmt: skip
        yield Cell(row, format, code, says(format, replace(plain, **changes)))
    hidden = replace(plain, caption="A \u202ecup\u202c\u200b.")
    yield Cell(24, format, None, says(format, hidden), ("INVISIBLE_CHARACTER",))
    yield Cell(30, format, same, says(format, replace(plain, negative=plain.caption)), notes)
    yield Cell(42, format, None, says(format, replace(plain, image="neg_1.jpg")))
    if format not in TABLES:
        yield Cell(22, format, "BAD_UNICODE", says(format, replace(plain, caption="A \ud83d cup.")))
    if format not in PLACED:
        code = "JSON_INVALID" if format == "sugarcrepe" else "DUPLICATE_ID"  # a key of an object stands once
        yield Cell(28, format, code, says(format, plain, replace(plain, caption="A cup.")))


def _refused(format: str, address: str) -> str:
    """Of an address, one's own file names the last part: the image is then only not among the given ones."""
    known = format == ANY_COLUMNS and address.lower().startswith("http")
    return "MISSING_IMAGE" if known else "REMOTE_NOT_ALLOWED"


def of_bytes(format: str) -> Iterator[Cell]:
    """What is wrong with the files, not with what they say."""
    spoilt = bytes_of(format, lambda data: data.replace(b"CAFE", b"caf\xe9"), Row(caption="A CAFE in Rome."))
    yield Cell(20, format, "ENCODING", spoilt)
    name = caption_of(format)
    wrong = name[:-2] + name[-1:] + name[-2:-1]  # as long as it was
    yield Cell(
        31,
        format,
        None if format == ANY_COLUMNS else "COLUMN_MISSING",
        bytes_of(format, lambda data: data.replace(name, wrong)),
    )
    yield Cell(31, format, "EMPTY_FILE", bytes_of(format, lambda data: b""))
    if format not in PARQUET:
        mark = bytes_of(format, lambda data: b"\xef\xbb\xbf" + data)
        yield Cell(19, format, None, mark)
        yield Cell(19, format, None, bytes_of(format, lambda data: data.decode().encode("utf-16")))
        yield Cell(19, format, "ENCODING", bytes_of(format, lambda data: data.decode().encode("utf-16-le")))
    if format in JSON:
        deep = b"[" * 100_000 + b"]" * 100_000
        yield Cell(34, format, "JSON_TOO_DEEP", bytes_of(format, lambda data: deep))
        yield Cell(34, format, "JSON_INVALID", bytes_of(format, lambda data: data[: len(data) // 2]))


def of_tables(format: str) -> Iterator[Cell]:
    for change, code in [
        (lambda data: data + b"\r\nx", "RAGGED_ROW"),
        (lambda data: data.replace(b"\t", b";").replace(b",", b";"), "WRONG_DELIMITER"),
    ]:
        yield Cell(32, format, code, bytes_of(format, change))


def of_parquet(format: str) -> Iterator[Cell]:
    name, schema = caption_of(format).decode(), None if format == ANY_COLUMNS else "SCHEMA"
    for row, made in [
        (36, lambda table: pa.array([1.5], pa.float64())),
        (36, lambda table: pa.array([["A cup."]])),
        (36, lambda table: pa.array(["A cup."]).dictionary_encode()),
        (36, lambda table: pa.array([0], pa.timestamp("us", tz="UTC"))),
        (37, lambda table: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16], pa.binary(16)))),
    ]:
        yield Cell(row, format, schema, exchanged(format, name, made))
    yield Cell(36, format, schema, exchanged(format, "id", lambda table: pa.array([1.0])))
    gap = None if format == ANY_COLUMNS else "INCOMPLETE_ROW"
    yield Cell(36, format, gap, exchanged(format, name, lambda table: pa.array([None], pa.string())))
    yield Cell(36, format, "WRONG_TYPE", bytes_of(format, lambda data: b"<html>" + data))
    yield Cell(36, format, "FILE_UNREADABLE", bytes_of(format, lambda data: data[:-9]))
    yield Cell(36, format, "FILE_UNREADABLE", bytes_of(format, lambda data: b"PARE" + data[4:]))


def exchanged(format: str, name: str, make: Callable[[pa.Table], pa.Array]) -> Callable[[Path], ImportFiles]:
    def build(folder: Path) -> ImportFiles:
        made = input_of(folder, format, Row())
        table = pq.read_table(made.path)
        place = table.schema.get_field_index(name)
        pq.write_table(table.set_column(place, name, make(table)), made.path)
        return made

    return build


def of_release(format: str) -> Iterator[Cell]:
    """Rows of JSON Lines, and of the shard beside them."""
    for code, change in [
        (None, lambda data: b"\n \n" + data.rstrip()),
        ("JSON_INVALID", lambda data: data.replace(b"}\n", b",}\n")),
        ("UNKNOWN_FIELD", lambda data: data.replace(b'"meta"', b'"metal"')),
    ]:
        yield Cell(35, format, code, bytes_of(format, change))
    for row, kind, value in [
        (36, pa.float64(), 1.5),
        (36, pa.list_(pa.string()), ["A cup."]),
        (36, pa.timestamp("us", tz="UTC"), 0),
        (37, pa.uuid(), b"0" * 16),
    ]:
        yield Cell(
            row,
            format,
            "SCHEMA",
            of_shard(lambda path, kind=kind, value=value: release_files.exchange(path, kind, value)),
        )
    for code, change in [
        ("WRONG_TYPE", lambda data: b"<html>" + data),
        ("FILE_UNREADABLE", lambda data: data[:-9]),
        ("FILE_UNREADABLE", lambda data: b"PARE" + data[4:]),
        ("EMPTY_FILE", lambda data: b""),
    ]:
        yield Cell(36, format, code, of_shard(lambda path, change=change: path.write_bytes(change(path.read_bytes()))))


def of_shard(change: Callable[[Path], object]) -> Callable[[Path], ImportFiles]:
    def build(folder: Path) -> ImportFiles:
        made = input_of(folder, "release", Row())
        change(made.path / SHARD)
        return made

    return build


def cells_of(format: str) -> Iterator[Cell]:
    yield from of_images(format)
    yield from of_words(format)
    yield from of_bytes(format)
    if format in TABLES:
        yield from of_tables(format)
    if format in PARQUET:
        yield from of_parquet(format)
    if format == "release":
        yield from of_release(format)


CELLS: dict[str, Cell] = {}
for name in WRITERS:
    for number, cell in enumerate(cells_of(name)):
        CELLS[f"{cell.row}-{name}-{number}"] = cell

EVERY = set(WRITERS)
NO_ARCHIVE = "Its images are inside the file: there is no archive and no folder of names."
ANY_ARCHIVE = "What opens an archive does not know the format: Winnow's manifest has the row."
ANY_IMAGE = "What looks at an image does not know the format: one of LOOKED_AT has the row."
REASONS: dict[tuple[int, str], str] = {
    **{(row, name): NO_ARCHIVE for row in (1, 2, 3, 7, 8, 9, 10, 25, 26) for name in HOLDING},
    **{(row, name): ANY_ARCHIVE for row in (1, 2, 7, 8, 9, 10) for name in EVERY - {*HOLDING, "jsonl"}},
    **{(row, name): ANY_IMAGE for row in range(11, 18) for name in EVERY - {*LOOKED_AT}},
    **{(19, name): "A parquet file is not a text file: its texts are UTF-8 (row 20)." for name in PARQUET},
    **{(22, name): "UTF-8 of a table cannot hold half a pair: ENCODING (row 20)." for name in TABLES},
    **{(28, name): "Ids are made of the places of rows: none can be twice." for name in PLACED},
    **{(32, name): "It has no delimiters, quotes or line ends of its own." for name in EVERY - {*TABLES}},
    **{(34, name): "It holds no JSON that a file's owner writes." for name in EVERY - {*JSON}},
    **{(35, name): "It does not have an item a line." for name in EVERY - {"jsonl", "release"}},
    **{(row, name): "It is not parquet." for row in (36, 37) for name in EVERY - {*HOLDING}},
}
ELSEWHERE = {3, 40, 41, 43}  # rows that every format has in a test of its own
assert {case.row for case in (ARCHIVES | IMAGES).values()} >= {*range(1, 18)}
