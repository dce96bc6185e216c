"""Winnow's own manifest: JSON Lines with one item per line, which can represent everything in an item.

{"id": "7", "type": "swap", "subtype": "att",
 "captions": [{"role": "positive", "text": "A red cup."}, {"role": "negative", "text": "A blue cup."}],
 "images": [{"role": "positive", "file": "cups/7.jpg", "licence": "CC BY 4.0", "attribution": "A. Person"}],
 "meta": {"source": "mine"}, "truth": {"bivlc-choose": ["candidate-0"]}}
{"id": "8", "texts": {"prompt": "A red cup on a book."}, "images": {"picture": [{"file": "8.png", "model": "m"}]},
 "lists": {"question": ["Is there a cup?", {"text": "Is it red?", "parents": [1]}]}}

Captions and images are lists of objects with a role, or objects by role. A member's other fields are its attributes.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.formats import jsontext, limits, text
from benchmarks.formats.base import JSON_LINES, Format, ProblemLog, Shape
from benchmarks.formats.table import missing_column, nearest, spelled, too_many_rows
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin

Kind = type | tuple[type, ...]
Fields = Mapping[str, Kind]  # of an object: the kind of value of each field
PARTS = (list, dict)  # entries with their roles, or members by role
FIELDS: dict[str, Kind] = {
    "id": str,
    "type": str,
    "subtype": str,
    "captions": PARTS,
    "texts": dict,
    "lists": dict,
    "images": PARTS,
    "meta": dict,
    "truth": dict,
}
TEXTS = ("captions", "texts", "lists")  # all of these are captions of the item
CAPTION: dict[str, Kind] = {"role": str, "text": str}
IMAGE: dict[str, Kind] = {"role": str, "file": str, "licence": str, "attribution": str, "crop": list}
OPTIONAL = {"type", "subtype", "texts", "lists", "images", "meta", "truth", "licence", "attribution", "crop"}
SAME_WORD = 0.85  # similarity above which an attribute's name is a misspelt field: license
NOT_REQUIRED = " Or give “texts”, “lists” or images in roles of your own: captions are not required then."
OTHERWISE = "Put further information into “meta”."


def _into(field: str, role: str, key: str) -> str:
    return f'Write it as an entry of “{field}”: {{"role": "{role}", "{key}": …}}.'


INSTEAD = {  # names that nearby formats give to fields with another name here
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
WORDS: Mapping[Kind, str] = {
    bool: "true or false", str: "text, in quotes", list: "a list: […]", dict: "an object: {…}",
    PARTS: "a list: […], or an object of roles: {…}",
}  # fmt: skip


def read_items(path: Path, log: ProblemLog) -> Iterator[ItemRecord]:
    for value, origin in objects(path, log):
        if well_formed(value, origin, log):
            yield record_of(value, origin)


def objects(
    path: Path, log: ProblemLog, most: int | None = None, things: str = "items per import; split it"
) -> Iterator[tuple[dict[str, Any], Origin]]:
    """Yield the object on each valid line; problems with other lines go to the log. `things` names what is counted; at
    most `most` are allowed, by default the limit on items per import."""
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
        others = {"texts", "lists"} if value.keys() - FIELDS.keys() else {"texts", "lists", "images"}
        optional = OPTIONAL | ({"captions"} if others & value.keys() else set())  # otherwise it may be a misspelt field
        check_object(value, FIELDS, "", origin, log, optional, INSTEAD)
        check_lists(value, origin, log)
    return log.count == before


def check_lists(value: dict[str, Any], origin: Origin, log: ProblemLog) -> None:
    for name in (*TEXTS, "images"):
        fields = IMAGE if name == "images" else CAPTION
        for column, role, member in members(value, name):
            check_member(member, column, role, fields, origin, log)
    for role, texts in value["lists"].items() if isinstance(value.get("lists"), dict) else ():
        if not isinstance(texts, list):
            log.error("WRONG_VALUE", origin.file, origin.row, f"lists.{role[:20]}", f"Write this as {WORDS[list]}.")
    check_roles_once(value, origin, log)
    truth = value.get("truth")
    for protocol, options in truth.items() if isinstance(truth, dict) else ():
        if not (isinstance(options, list) and all(isinstance(option, str) for option in options)):
            column = f"truth.{protocol[:60]}"
            log.error("WRONG_VALUE", origin.file, origin.row, column, 'Write a list of texts: ["candidate-0"].')


def members(value: Mapping[str, Any], name: str) -> Iterator[tuple[str, str | None, Any]]:
    """Yield (column, role, member) of each caption or image in that field; role is None if the member has it."""
    parts = value.get(name)
    if isinstance(parts, list):
        yield from ((f"{name}[{place}]", None, entry) for place, entry in enumerate(parts))
    for role, found in parts.items() if isinstance(parts, dict) else ():
        column = f"{name}.{role[:20]}"
        if isinstance(found, list):
            yield from ((f"{column}[{place}]", role, member) for place, member in enumerate(found))
        elif name != "lists":
            yield column, role, found


def check_member(
    member: object, column: str, role: str | None, fields: Fields, origin: Origin, log: ProblemLog
) -> None:
    """Check a caption or an image. Its other fields are attributes, which are checked by `checks`."""
    content = "file" if "file" in fields else "text"
    if role is not None:
        if isinstance(member, str):
            return
        fields = {name: kind for name, kind in fields.items() if name != "role"}
    if not isinstance(member, dict):
        shape = "an object: {…}" if role is None else f'text, in quotes, or an object: {{"{content}": …}}'
        log.error("WRONG_VALUE", origin.file, origin.row, column, f"Write this as {shape}.")
        return
    whole = fields.keys() - OPTIONAL <= member.keys()
    named = {name: said for name, said in member.items() if not whole or not _is_attribute(name, said, member, fields)}
    check_entry(named, column, fields, OPTIONAL, origin, log, {"role": "Remove it: the role is already named."})


def _is_attribute(name: str, said: object, member: Mapping[str, Any], fields: Fields) -> bool:
    free = [field for field, kind in fields.items() if field not in member and isinstance(said, kind)]
    return name not in fields and name != "role" and not nearest(name, free, SAME_WORD)


def check_roles_once(value: Mapping[str, Any], origin: Origin, log: ProblemLog) -> None:
    """Check that a role's texts are all in one field; otherwise their order would be unknown."""
    first: dict[str, str] = {}
    for name in TEXTS:
        for role in dict.fromkeys(_role(role, member) for _, role, member in members(value, name)):
            if role and (other := first.setdefault(role, name)) != name:
                advice = f"“{other}” has this role too. Write all texts of a role in one field."
                log.error("WRONG_VALUE", origin.file, origin.row, f"{name}.{role[:20]}", advice)


def _role(role: str | None, member: object) -> str | None:
    own = member.get("role") if role is None and isinstance(member, dict) else role
    return own if isinstance(own, str) else None


def check_entries(
    entries: object, name: str, fields: Fields, optional: Collection[str], origin: Origin, log: ProblemLog
) -> None:
    """Check the objects of a list; `check_object` has logged other values."""
    for place, entry in enumerate(entries if isinstance(entries, list) else []):
        if isinstance(entry, dict):
            check_entry(entry, f"{name}[{place}]", fields, optional, origin, log)
        else:
            log.error("WRONG_VALUE", origin.file, origin.row, f"{name}[{place}]", "Write an object here: {…}.")


def check_entry(
    entry: dict[str, Any],
    column: str,
    fields: Fields,
    optional: Collection[str],
    origin: Origin,
    log: ProblemLog,
    instead: Mapping[str, str] = {},
) -> None:
    check_object(entry, fields, f"{column}.", origin, log, optional, instead)
    crop = entry.get("crop")
    if isinstance(crop, list) and not (len(crop) == 4 and all(type(number) is int for number in crop)):
        advice = "Write four whole numbers: [x, y, width, height]."
        log.error("WRONG_VALUE", origin.file, origin.row, f"{column}.crop", advice)


def check_object(
    value: dict[str, Any],
    fields: Fields,
    prefix: str,
    origin: Origin,
    log: ProblemLog,
    optional: Collection[str] = OPTIONAL,
    instead: Mapping[str, str] = {},
) -> None:
    """Check that required fields are present, all have the right type, and none is unknown. `instead`: where the values
    of names from other formats belong."""
    unknown = [name for name in value if name not in fields]
    for name, kind in fields.items():
        if name in value:
            if not isinstance(value[name], kind):
                log.error("WRONG_VALUE", origin.file, origin.row, prefix + name, f"Write this as {WORDS[kind]}.")
        elif name not in optional:
            alike = [other for other in unknown if isinstance(value[other], kind)]
            shape = f", {WORDS[list if kind == PARTS else kind]}" if kind in (list, dict, PARTS) else ""
            instead_of_it = NOT_REQUIRED if fields is FIELDS and name == "captions" else ""
            add = f"Add the field “{name}”{shape}.{instead_of_it}"
            missing_column(name, alike, origin.file, origin.row, log, add)
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
        captions=tuple(_caption(role, member) for name in TEXTS for _, role, member in members(value, name)),
        images=tuple(_image(role, member) for _, role, member in members(value, "images")),
        meta=value.get("meta", {}),
        truth=value.get("truth", {}),
        origin=origin,
    )


def _caption(role: str | None, member: Any) -> CaptionRecord:
    said = {"text": member} if isinstance(member, str) else member
    return CaptionRecord(said["role"] if role is None else role, said["text"], _attributes(said, CAPTION))


def _image(role: str | None, member: Any) -> ImageRecord:
    said = {"file": member} if isinstance(member, str) else member
    return ImageRecord(
        said["role"] if role is None else role,
        said["file"],
        said.get("licence", ""),
        said.get("attribution", ""),
        crop=tuple(said["crop"]) if "crop" in said else None,
        attributes=_attributes(said, IMAGE),
    )


def _attributes(member: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    return {name: said for name, said in member.items() if name not in fields}


def to_line(record: ItemRecord) -> str:
    """Return the record as one line, with its line end; reading it returns the record (except its origin)."""
    value = {
        "id": record.key,
        "type": record.type,
        "subtype": record.subtype,
        "captions": [{"role": caption.role, "text": caption.text, **caption.attributes} for caption in record.captions],
        "images": [image_object(image) for image in record.images],
        "meta": dict(record.meta),
        "truth": dict(record.truth),
    }
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def image_object(image: ImageRecord) -> dict[str, object]:
    optional = {"licence": image.licence, "attribution": image.attribution, "crop": image.crop and list(image.crop)}
    known = {"role": image.role, "file": image.name} | {name: value for name, value in optional.items() if value}
    return {**known, **image.attributes}


FORMAT = Format(
    name="jsonl",
    title="Winnow manifest (JSON Lines)",
    accepts="A .jsonl file with one item per line: its id, captions and image names. Give the images separately.",
    endings=(".jsonl", ".ndjson"),
    reader=read_items,
    candidates=True,
    shape=Shape(JSON_LINES, (("id", "captions"), ("id", "texts"), ("id", "lists"))),
    example="""{"id": "7", "type": "swap", "subtype": "att", \
"captions": [{"role": "positive", "text": "A red cup."}, {"role": "negative", "text": "A blue cup."}], \
"images": [{"role": "positive", "file": "cups/7.jpg"}]}
""",
)
