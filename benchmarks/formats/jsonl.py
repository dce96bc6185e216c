"""Winnow's own manifest: JSON Lines with one item per line, which can represent everything in an item.

{"id": "7", "type": "swap", "subtype": "att",
 "captions": [{"role": "positive", "text": "A red cup."}, {"role": "negative", "text": "A blue cup."}],
 "images": [{"role": "positive", "file": "cups/7.jpg", "licence": "CC BY 4.0", "attribution": "A. Person"}],
 "meta": {"source": "mine"}, "truth": {"bivlc-choose": ["candidate-0"]}}
"""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.formats import jsontext, limits, text
from benchmarks.formats.base import JSON_LINES, Format, ProblemLog, Shape
from benchmarks.formats.table import missing_column, nearest, spelled, too_many_rows
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

Fields = Mapping[str, type]  # of an object: the kind of value that each has
FIELDS = {
    "id": str,
    "type": str,
    "subtype": str,
    "captions": list,
    "images": list,
    "meta": dict,
    "truth": dict,
}
CAPTION = {"role": str, "text": str}
IMAGE = {"role": str, "file": str, "licence": str, "attribution": str, "crop": list}
OPTIONAL = {"type", "subtype", "images", "meta", "truth", "licence", "attribution", "crop"}
OTHERWISE = "Put further information into “meta”."


def _into(field: str, role: str, key: str) -> str:
    return f'Write it as an entry of “{field}”: {{"role": "{role}", "{key}": …}}.'


INSTEAD = {  # names that nearby formats give to what has another place here
    **dict.fromkeys(("caption", "text", "sentence", "true_caption", "positive_caption", "positive"),
                    _into("captions", "positive", "text")),
    **dict.fromkeys(("negative_caption", "false_caption", "foil", "hard_negative", "negative"),
                    _into("captions", "negative", "text")),
    **dict.fromkeys(("second_positive", "hard_positive"), _into("captions", "second_positive", "text")),
    **dict.fromkeys(("image", "filename", "file", "file_name", "image_path", "image_file", "positive_image"),
                    _into("images", "positive", "file")),
    "negative_image": _into("images", "negative", "file"),
    **dict.fromkeys((f"hn_img_{number}" for number in range(9)), _into("images", "candidate", "file")),
}  # fmt: skip
WORDS = {bool: "true or false", str: "text, in quotes", list: "a list: […]", dict: "an object: {…}"}


def read_items(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    for value, origin in objects(path, log):
        if well_formed(value, origin, log):
            yield record_of(value, origin)


def objects(
    path: Path, log: ProblemLog, most: int | None = None, things: str = "items per import; split it"
) -> Iterator[tuple[dict[str, Any], Origin]]:
    """The object on each valid line; other lines go to the log. `things` names what is counted; at most `most` may
    come, by default as many as an import may have items."""
    count = 0
    with path.open("rb") as stream:
        for number, line in enumerate(text.lines(stream, path.name, log), 1):
            if not line.strip():
                continue
            count += 1
            if count > (most or limits.MAX_ROWS):
                too_many_rows(path.name, number, log, most, things)
            before = log.count
            value = jsontext.parse(line, path.name, number, log)
            if isinstance(value, dict):
                yield value, Origin(path.name, number)
            elif log.count == before:
                log.error("JSON_INVALID", path.name, number, "", "Each line must be one object: {…}.")
    if not count:
        log.error("NO_ROWS", path.name, None, "", "The file has only blank lines. Export it again.")


def well_formed(value: dict[str, Any], origin: Origin, log: ProblemLog) -> bool:
    before = log.count
    if jsontext.storable_throughout(value, origin.file, origin.row, "", log):
        check_object(value, FIELDS, "", origin, log, instead=INSTEAD)
        check_lists(value, origin, log)
    return log.count == before


def check_lists(value: dict[str, Any], origin: Origin, log: ProblemLog) -> None:
    for name, fields in (("captions", CAPTION), ("images", IMAGE)):
        check_entries(value.get(name), name, fields, OPTIONAL, origin, log)
    truth = value.get("truth")
    for protocol, options in truth.items() if isinstance(truth, dict) else ():
        if not (isinstance(options, list) and all(isinstance(option, str) for option in options)):
            column = f"truth.{protocol[:60]}"
            log.error("WRONG_VALUE", origin.file, origin.row, column, 'Write a list of texts: ["candidate-0"].')


def check_entries(
    entries: object, name: str, fields: Fields, optional: Collection[str], origin: Origin, log: ProblemLog
) -> None:
    """The objects of a list; `check_object` has logged other values."""
    for place, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            check_object(entry, fields, f"{name}[{place}].", origin, log, optional)
            crop = entry.get("crop")
            if isinstance(crop, list) and not (len(crop) == 4 and all(type(number) is int for number in crop)):
                advice, column = "Write four whole numbers: [x, y, width, height].", f"{name}[{place}].crop"
                log.error("WRONG_VALUE", origin.file, origin.row, column, advice)
        else:
            log.error("WRONG_VALUE", origin.file, origin.row, f"{name}[{place}]", "Write an object here: {…}.")


def check_object(
    value: dict[str, Any],
    fields: Fields,
    prefix: str,
    origin: Origin,
    log: ProblemLog,
    optional: Collection[str] = OPTIONAL,
    instead: Mapping[str, str] = {},
) -> None:
    """Check that required fields are present, all have the right type, and none is unknown. `instead`: for names
    that other formats use, where their value belongs."""
    unknown = [name for name in value if name not in fields]
    for name, kind in fields.items():
        if name in value:
            if not isinstance(value[name], kind):
                log.error("WRONG_VALUE", origin.file, origin.row, prefix + name, f"Write this as {WORDS[kind]}.")
        elif name not in optional:
            alike = [other for other in unknown if isinstance(value[other], kind)]
            shape = f", {WORDS[kind]}" if kind in (list, dict) else ""
            missing_column(name, alike, origin.file, origin.row, log, shape)
    for name in unknown:
        free = [field for field, kind in fields.items() if field not in value and isinstance(value[name], kind)]
        near = nearest(name, free)
        advice = f"Did you mean “{near}”?" if near else instead.get(spelled(name), OTHERWISE)
        log.error("UNKNOWN_FIELD", origin.file, origin.row, prefix + name[:80], advice)


def record_of(value: dict[str, Any], origin: Origin | None) -> ItemRecord:
    return ItemRecord(
        key=value["id"],
        type=value.get("type", ""),
        subtype=value.get("subtype", ""),
        captions=tuple(CaptionRecord(caption["role"], caption["text"]) for caption in value["captions"]),
        images=tuple(
            ImageRecord(
                image["role"],
                image["file"],
                image.get("licence", ""),
                image.get("attribution", ""),
                crop=tuple(image["crop"]) if "crop" in image else None,
            )
            for image in value.get("images", [])
        ),
        meta=value.get("meta", {}),
        truth=value.get("truth", {}),
        origin=origin,
    )


def to_line(record: ItemRecord) -> str:
    """The record as one line, with its line end; reading it returns the record (except its origin)."""
    value = {
        "id": record.key,
        "type": record.type,
        "subtype": record.subtype,
        "captions": [{"role": caption.role, "text": caption.text} for caption in record.captions],
        "images": [image_object(image) for image in record.images],
        "meta": dict(record.meta),
        "truth": dict(record.truth),
    }
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def image_object(image: ImageRecord) -> dict[str, object]:
    optional = {"licence": image.licence, "attribution": image.attribution, "crop": image.crop and list(image.crop)}
    return {"role": image.role, "file": image.name} | {name: value for name, value in optional.items() if value}


FORMAT = Format(
    name="jsonl",
    title="Winnow manifest (JSON Lines)",
    accepts="A .jsonl file with one item per line; docs/reference/formats.md shows every field.",
    endings=(".jsonl", ".ndjson"),
    reader=read_items,
    candidates=True,
    shape=Shape(JSON_LINES, (("id", "captions"),)),
    example="""{"id": "7", "type": "swap", "subtype": "att", \
"captions": [{"role": "positive", "text": "A red cup."}, {"role": "negative", "text": "A blue cup."}], \
"images": [{"role": "positive", "file": "cups/7.jpg"}]}
""",
)
