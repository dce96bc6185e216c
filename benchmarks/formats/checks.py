"""The checks of every record, whatever its format, and notes for the owner. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TypeVar

from benchmarks.formats import limits, suspect_text
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.writing import named_images
from benchmarks.records import NAME, Attributes, CaptionRecord, ImageRecord, ItemRecord, Origin, is_own
from workers.archives import names as archives_names

REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|(?:data|file|https?|ftp|javascript|blob|mailto):|//|\\\\", re.IGNORECASE)
REVEALING = re.compile(
    r"(?:^|[^a-z])(?:pos|positive|neg|negative|hn|true|false|correct|wrong|gold|real|fake|original|orig|generated|gen)"
    r"(?:[^a-z]|$)",
    re.IGNORECASE,
)
INVISIBLE = re.compile("[\u200b\u200c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")  # not U+200D: it joins emoji
NAMING = f"lower-case letters, digits and _, beginning with a letter, at most {limits.MAX_ROLE} characters"
TAKEN = {"role", "text", "file", "licence", "attribution", "crop"}  # a part's fields other than attributes
NO_LINKS = "Winnow does not fetch images. Put the file into the images folder or archive and give its name there."
Say = Callable[[str, str, str], None]  # code, column, advice
Part = TypeVar("Part", CaptionRecord, ImageRecord)


def check_records(records: Iterable[ItemRecord], log: ProblemLog, keeps_same: bool = False) -> list[ItemRecord]:
    """Return all records in order, with problems in the log. Import nothing if `log.count` is above 0.

    Several files of one batch are checked together: chain their records. `keeps_same`: see Format.
    """
    checked: list[ItemRecord] = []
    keys: dict[str, Origin] = {}
    contents: dict[bytes, Origin] = {}
    revealing: dict[str, list[tuple[Origin, str]]] = {}
    for record in records:
        origin = record.origin or Origin("", len(checked) + 1)
        empty = next((caption.role for caption in record.captions if not caption.text.strip()), None)
        if log.skip_incomplete and empty is not None:
            log.gap("VALUE_MISSING", origin.file, origin.row, f"{empty[:20]} caption", "The item lacks this caption.")
            continue
        _check_record(record, _at(log.error, origin), _at(log.note, origin))
        _check_captions_differ(record, origin, log, keeps_same)
        first = keys.setdefault(record.key, origin)
        if first is not origin:
            advice = f"Row {first.row} of {first.file} also has the id “{record.key[:80]}”. Use different ids."
            log.error("DUPLICATE_ID", origin.file, origin.row, "id", advice)
        _note_same_content(record, origin, contents, log)
        for image in record.images:
            if REVEALING.search(image.name):
                revealing.setdefault(image.role, []).append((origin, image.name))
        checked.append(record)
    for role, found in revealing.items():  # names never leave the server, but the owner should know
        origin, name = found[0]
        advice = f"{len(found):,} names like “{name[:80]}” may reveal the answer. Annotators never see file names."
        log.note("REVEALING_NAME", origin.file, origin.row, f"{role} image", advice)
    if log.left_out and not checked:
        log.error("NO_ROWS", "", None, "", "No row is complete, so nothing can be imported. Complete the rows.")
    return checked


def _at(say: Callable[[str, str, int | None, str, str], None], origin: Origin) -> Say:
    return lambda code, column, advice: say(code, origin.file, origin.row, column, advice)


def _check_record(record: ItemRecord, error: Say, note: Say) -> None:
    """Check one record by itself."""
    _check_length("id", record.key, limits.MAX_KEY, error)
    if not record.key.strip():
        error("VALUE_MISSING", "id", "Give the item an id.")
    _check_length("type", record.type, limits.MAX_TYPE, error)
    _check_length("subtype", record.subtype, limits.MAX_TYPE, error)
    _check_captions(record, error, note)
    _note_alike(record, note)
    _check_images(record, error, note)


def _check_length(column: str, value: str, most: int, error: Say) -> None:
    if len(value) > most:
        error("FIELD_TOO_LONG", column, f"Use at most {most:,} characters.")


def _check_role(role: str, column: str, error: Say) -> None:
    if not NAME.fullmatch(role):
        error("WRONG_VALUE", column, f"Write the role in {NAMING}.")


def _check_attributes(attributes: Attributes, column: str, error: Say) -> None:
    if len(attributes) > limits.MAX_ATTRIBUTES:
        error("TOO_MANY_PARTS", column, f"Use at most {limits.MAX_ATTRIBUTES} attributes.")
    for name, value in attributes.items():
        place = f"{column}, {name[:20]}"
        if not NAME.fullmatch(name):
            error("WRONG_VALUE", place, f"Write the attribute's name in {NAMING}.")
        elif name in TAKEN:
            error("WRONG_VALUE", place, "Give the attribute another name: this one is reserved.")
        values: Sequence[object] = value if isinstance(value, list) else [value]
        if not all(isinstance(one, str | int | float) for one in values):
            error("WRONG_VALUE", place, "Write a text, a number, true or false, or a list of these, or leave it out.")
        elif len(values) > limits.MAX_VALUES:
            error("TOO_MANY_PARTS", place, f"Use at most {limits.MAX_VALUES} values in the list.")
        elif any(isinstance(one, str) and len(one) > limits.MAX_ATTRIBUTE for one in values):
            error("FIELD_TOO_LONG", place, f"Use at most {limits.MAX_ATTRIBUTE} characters.")


def _check_captions(record: ItemRecord, error: Say, note: Say) -> None:
    if not record.captions and not any(is_own(image.role) for image in record.images):
        error(
            "VALUE_MISSING",
            "captions",
            "Give the item at least one caption or other text, or an image in a role of your own.",
        )
    if len(record.captions) > limits.MAX_CAPTIONS:
        error("TOO_MANY_PARTS", "captions", f"An item can have at most {limits.MAX_CAPTIONS} captions and texts.")
    for caption, column in _with_columns(record.captions, "caption"):
        text = caption.text
        _check_role(caption.role, column, error)
        _check_attributes(caption.attributes, column, error)
        if not text.strip():
            error("VALUE_MISSING", column, "Write the caption, or remove the row.")
        if len(text) > limits.MAX_CAPTION or len(text.encode("utf-8", "replace")) > limits.MAX_CAPTION_BYTES:
            most = f"{limits.MAX_CAPTION:,} characters and {limits.MAX_CAPTION_BYTES:,} bytes"
            error("FIELD_TOO_LONG", column, f"Use at most {most}.")
        _note_invisible(text, column, note)
        _note_suspect(text, column, note)


def _with_columns(parts: Sequence[Part], kind: str) -> Iterator[tuple[Part, str]]:
    """Yield each with its name for messages: `negative caption`; in user-defined roles also `question caption 3`."""
    places: Counter[str] = Counter()
    for part in parts:
        places[part.role] += 1
        place = f" {places[part.role]}" if is_own(part.role) and places[part.role] > 1 else ""
        yield part, f"{part.role[:20]} {kind}{place}"


def _note_invisible(text: str, column: str, note: Say) -> None:
    if found := INVISIBLE.search(text):
        advice = f"Has the invisible character U+{ord(found.group()):04X}; kept unchanged, and isolated on the screen."
        note("INVISIBLE_CHARACTER", column, advice)


def _note_suspect(text: str, column: str, note: Say) -> None:
    if damaged := suspect_text.damaged(text):
        part, sound = damaged
        lost = f"“{part}” is probably “{sound}”, read in an encoding other than UTF-8"
        if part == suspect_text.LOST:
            lost = "U+FFFD stands for a character that was lost before the import"
        note("DAMAGED_TEXT", column, f"{lost}; kept unchanged. Correct it in the source.")
    elif mixed := suspect_text.mixed_word(text):
        word, scripts = mixed
        advice = f"“{word[:40]}” has {' and '.join(scripts)} letters, which may look the same; kept unchanged."
        note("MIXED_SCRIPTS", column, advice)


def _note_alike(record: ItemRecord, note: Say) -> None:
    """Note captions that differ only in ways readers cannot see."""
    seen: dict[str, CaptionRecord] = {}
    for caption, column in _with_columns(record.captions, "caption"):
        first = seen.setdefault(suspect_text.skeleton(caption.text), caption)
        if first.text != caption.text:
            differ = "they differ only in spaces, quotes, dashes, the form of accents or letters drawn alike"
            advice = f"Looks like the {first.role[:20]} caption: {differ}. Kept unchanged."
            note("ALIKE_CAPTIONS", column, advice)


def _check_captions_differ(record: ItemRecord, origin: Origin, log: ProblemLog, keeps_same: bool) -> None:
    """Report a negative caption equal to a positive one, which makes an item that nobody can answer."""
    right = {caption.text for caption in record.captions if caption.role in ("positive", "second_positive")}
    if not any(caption.role == "negative" and caption.text in right for caption in record.captions):
        return
    if keeps_same:
        advice = "Same text as a positive caption; kept as in the source."
        log.note("SAME_CAPTIONS", origin.file, origin.row, "negative caption", advice)
    else:
        advice = "Write a different negative caption, or remove the row."
        log.error("SAME_CAPTIONS", origin.file, origin.row, "negative caption", advice)


def _check_images(record: ItemRecord, error: Say, note: Say) -> None:
    if len(record.images) > limits.MAX_IMAGES:
        error("TOO_MANY_PARTS", "images", f"An item can have at most {limits.MAX_IMAGES} images.")
    seen = set()
    for image, column in _with_columns(record.images, "image"):
        _check_role(image.role, column, error)
        _check_attributes(image.attributes, column, error)
        _check_name(image.name, column, error)
        _check_length(column, image.licence, limits.MAX_LICENCE, error)
        _check_length(column, image.attribution, limits.MAX_ATTRIBUTION, error)
        _note_invisible(image.name, column, note)
        if image.crop and (min(image.crop[:2]) < 0 or min(image.crop[2:]) < 1):  # its size is checked on reading
            advice = "Use a crop that starts at 0 or above, with a width and height of at least 1 pixel."
            error("CROP_OUTSIDE", column, advice)
        if image.part in seen:
            note("SAME_IMAGE", column, "The item also uses this image in another place.")
        seen.add(image.part)


def _check_name(name: str, column: str, error: Say) -> None:
    """Check that the cell is a plain relative name."""
    if not name.strip():
        error("VALUE_MISSING", column, "Give the image's file name, or remove the row.")
    elif len(name) > limits.MAX_NAME or len(name.encode("utf-8", "replace")) > limits.MAX_NAME_BYTES:
        error("FIELD_TOO_LONG", column, f"Use a name of at most {limits.MAX_NAME} characters.")
    elif REMOTE.match(name.strip()):
        error("REMOTE_NOT_ALLOWED", column, NO_LINKS)
    elif advice := archives_names.unsafe(name):
        error("UNSAFE_PATH", column, advice)


def _note_same_content(record: ItemRecord, origin: Origin, contents: dict[bytes, Origin], log: ProblemLog) -> None:
    parts: list[tuple[str, object]] = [(caption.role, caption.text) for caption in record.captions]
    parts += [*named_images(record), *sorted(record.attributes().items())]
    digest = sha256(repr(parts).encode("utf-8", "replace")).digest()
    first = contents.setdefault(digest, origin)
    if first is not origin:
        advice = f"Same captions and images as row {first.row} of {first.file}; kept as a separate item."
        log.note("SAME_ITEM", origin.file, origin.row, "", advice)
