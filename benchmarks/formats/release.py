"""Import a release made by Winnow: items from its items.jsonl, images from its shards.

{"id": "7", "type": "swap", "subtype": "att", "split": "test",
 "captions": [{"role": "positive", "text": "A red cup."}, {"role": "negative", "text": "A blue cup."}],
 "images": [{"key": "positive-0", "chosen": false, "sha256": "5fe…", "source_name": "7.jpg", "licence": "CC BY 4.0"},
            {"key": "candidate-2", "chosen": true, "sha256": "c01…", "source_name": "7c.jpg"}],
 "meta": {"source": "mine"}}

All information about an item comes from its line, including how it was decided. In `<split>-00000-of-00001.parquet` and
the other shards an image is named by its SHA-256: `5fe….jpg`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.formats import jsonfiles, jsonl, jsontext, parquet, release_shards
from benchmarks.formats.base import JSON_LINES, Format, KindOf, ProblemLog, Shape
from benchmarks.formats.release_shards import ShardContents
from benchmarks.records import NAME, ROLES, CaptionRecord, ImageRecord, ItemRecord, Origin, is_own

ITEMS, MANIFEST = "items.jsonl", "manifest.json"
FIELDS: dict[str, jsonl.Kind] = {
    "id": str, "type": str, "subtype": str, "split": str, "captions": list, "images": list, "meta": dict,
}  # fmt: skip
NOT_TAKEN: dict[str, jsonl.Kind] = dict.fromkeys(("position", "stage", "negative_image", "decisions"), object)
MAY_ITEM: dict[str, jsonl.Kind] = {"texts": dict}
CAPTION: dict[str, jsonl.Kind] = {"role": str, "text": str}
OF_CAPTION: dict[str, jsonl.Kind] = {**dict.fromkeys(("imported", "changed_by", "made_of"), object), "attributes": dict}
IMAGE: dict[str, jsonl.Kind] = {"key": str, "chosen": bool, "sha256": str, "source_name": str}
MAY_IMAGE: dict[str, jsonl.Kind] = {"licence": str, "attribution": str, "crop": list, "attributes": dict}
OF_IMAGE: dict[str, jsonl.Kind] = dict.fromkeys(("round", "format", "width", "height"), object)
KEY = re.compile(r"(\w+)-(\d{1,6})")  # an image's role and position
POSITIVE, NEGATIVE = "positive-0", "negative_image"  # an image of an item, a column
CANNOT = (AttributeError, IndexError, KeyError, TypeError, ValueError)  # raised by writers for others' items


def read_items(path: Path, log: ProblemLog, split: str = "") -> Iterator[ItemRecord]:
    folder = folder_of(path)
    items = folder / ITEMS
    if not items.is_file():
        log.error("FILE_UNREADABLE", ITEMS, None, "", f"Give the release's {ITEMS} beside its shards.")
        return
    source_format(folder, log)
    shard_contents = release_shards.read_shards(folder, log)
    yield from Lines(shard_contents, log, split).read(items)


def folder_of(path: Path) -> Path:
    """Return the folder of a release, given as the folder or one of its files."""
    return path if path.is_dir() else path.parent


class Lines:
    """Reads items.jsonl. `split`: the only one to read; empty for all."""

    def __init__(self, shard_contents: ShardContents, log: ProblemLog, split: str):
        self.shards, self.log, self.split = shard_contents, log, split
        self.lines: Counter[str] = Counter()  # for each split
        self.absent = 0  # images that the release lists but does not contain

    def read(self, items: Path) -> Iterator[ItemRecord]:
        before = self.log.count
        for value, origin in jsonl.objects(items, self.log):
            if well_formed(value, origin, self.log):
                self.lines[value["split"]] += 1
                if self.split in ("", value["split"]):
                    yield self.record(value, origin)
        if self.log.count == before and self.shards.sound:
            self.compare(items.name)
        if self.split and self.split not in self.lines:
            there = ", ".join(sorted(self.lines)) or "none"
            advice = f"There is no split “{self.split[:80]}”. This release has {there[:200]}."
            self.log.error("UNKNOWN_SPLIT", items.name, None, "split", advice)
        if self.absent:
            advice = f"The release lists {self.absent:,} images without containing them, such as candidates not chosen."
            self.log.note("IMAGE_ABSENT", items.name, None, "images", f"{advice} The items are imported without them.")

    def compare(self, file: str) -> None:
        """Check that items.jsonl has a line for each row of the shards."""
        for split in sorted(self.lines | self.shards.rows):
            if self.lines[split] != self.shards.rows[split]:
                there = f"{self.shards.rows[split]:,} rows in the shards, {self.lines[split]:,} lines here"
                advice = f"The split “{split[:80]}” has {there}. Provide all files of one release."
                self.log.error("SIDES_DIFFER", file, None, "split", advice)

    def record(self, value: Mapping[str, Any], origin: Origin) -> ItemRecord:
        images = (self.image(*use, origin) for use in uses_of(value["images"]))
        return ItemRecord(
            key=value["id"],
            type=value["type"],
            subtype=value["subtype"],
            captions=(
                *(
                    CaptionRecord(caption["role"], caption["text"], caption.get("attributes", {}))
                    for caption in value["captions"]
                ),
                *(
                    CaptionRecord(role, text)
                    for role, texts in value.get("texts", {}).items()
                    for text in texts
                    if is_own(role)
                ),
            ),
            images=tuple(image for image in images if image),
            meta=value["meta"],
            origin=origin,
        )

    def image(self, image: Mapping[str, Any], role: str, origin: Origin) -> ImageRecord | None:
        """Return the image in that role; None if the data lack it, for example candidates in older releases."""
        if self.shards.sound and image["sha256"] not in self.shards.names:
            if not (image["chosen"] or image["key"] == POSITIVE or is_own(role)):
                self.absent += 1
                return None
            advice = f"No shard has the image {image['sha256'][:64]}. Provide all files of the release."
            self.log.error("MISSING_IMAGE", origin.file, origin.row, f"{role} image", advice)
        crop = tuple(image["crop"]) if "crop" in image else None
        facts = image["source_name"], image.get("licence", ""), image.get("attribution", "")
        file = self.shards.names.get(image["sha256"], "")
        return ImageRecord(role, *facts, crop=crop, file=file, attributes=image.get("attributes", {}))


def uses_of(images: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield (image, role): the chosen one is the first negative, and also keeps a user-defined role."""
    yield from ((image, "negative") for image in images if image["chosen"])
    for image in images:
        role = image["key"].rpartition("-")[0]
        if not image["chosen"] or is_own(role):
            yield image, role


def well_formed(value: dict[str, Any], origin: Origin, log: ProblemLog) -> bool:
    before = log.count
    if not jsontext.storable_throughout(value, origin.file, origin.row, "", log):
        return False
    jsonl.check_object(value, FIELDS | NOT_TAKEN | MAY_ITEM, "", origin, log, NOT_TAKEN | MAY_ITEM)
    jsonl.check_entries(value.get("captions"), "captions", CAPTION | OF_CAPTION, OF_CAPTION, origin, log)
    of_image = MAY_IMAGE | OF_IMAGE
    jsonl.check_entries(value.get("images"), "images", IMAGE | of_image, of_image, origin, log)
    if log.count == before:
        check_images(value["images"], origin, log)
        check_texts(value.get("texts", {}), origin, log)
    return log.count == before


def check_images(images: Sequence[Mapping[str, Any]], origin: Origin, log: ProblemLog) -> None:
    """Check that each has a known role and a distinct position, and that at most one is chosen."""
    for place, image in enumerate(images):
        found, column = KEY.fullmatch(image["key"]), f"images[{place}].key"
        if found is None or not NAME.fullmatch(found[1]):
            advice = f"Write a role and a place: positive-0. Roles are {', '.join(ROLES)}, or names of your own."
            log.error("WRONG_VALUE", origin.file, origin.row, column, advice)
        elif image["key"] in [earlier["key"] for earlier in images[:place]]:
            log.error("WRONG_VALUE", origin.file, origin.row, column, "Another image of the item has this place.")
    chosen = [place for place, image in enumerate(images) if image["chosen"]]
    if chosen[1:] or any(images[place]["key"] == POSITIVE for place in chosen):
        advice = "At most one image may be chosen, and it must not be the positive one."
        log.error("WRONG_VALUE", origin.file, origin.row, "images", advice)


def check_texts(texts: Mapping[str, Any], origin: Origin, log: ProblemLog) -> None:
    """Check that there are lists of texts by role."""
    for role, found in texts.items():
        if not NAME.fullmatch(role) or not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            log.error("WRONG_VALUE", origin.file, origin.row, f"texts.{role[:20]}", "Write a list of texts by role.")


def source_format(folder: Path, log: ProblemLog) -> tuple[str, str]:
    """Return the manifest's source format, empty if there is none or it cannot be written, and the kind of evaluation,
    empty if the manifest has none.
    """
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return "", ""
    value = jsonfiles.value(jsonfiles.content(manifest), MANIFEST, log)
    name: object = value.get("source_format", "") if isinstance(value, dict) else None
    if isinstance(value, dict) and isinstance(name, str):
        evaluation = value.get("evaluation")
        return name, str(evaluation.get("kind", "")) if isinstance(evaluation, dict) else ""
    if value is not None:
        log.error("WRONG_VALUE", MANIFEST, None, "source_format", "Give the release's own manifest, or none.")
    return "", ""


def first_format(path: Path, records: Sequence[ItemRecord], kind_of: KindOf) -> str:
    """Return the format of the items' first import, which determines a further release's columns and measures.

    The one in the manifest, if these items can be written in it; otherwise one of the release's kind of evaluation, if
    it names one, and with these columns.
    """
    folder = folder_of(path)
    (source, kind), columns = source_format(folder, ProblemLog()), release_shards.columns(folder)
    for one in parquet.WRITTEN:
        if one.name == source and {*one.split} in (columns, columns - {NEGATIVE}) and can_write(one, records):
            return one.name
    captions = {caption.role for one in records for caption in one.captions}
    images = {image.role for one in records for image in one.images}

    def likeness(one: Format) -> tuple[bool, ...]:
        of_kind = bool(kind) and kind_of(one.name, captions, images) == kind
        return of_kind, {*one.split} == columns, {*one.split, NEGATIVE} == columns

    return max([FORMAT, *parquet.FORMATS], key=likeness).name  # the first of equals


def can_write(format: Format, records: Sequence[ItemRecord]) -> bool:
    """Return whether the items have everything that the format's files contain."""
    if format.writer is None:
        return False
    try:
        return all(name for name, _ in format.writer(records))
    except CANNOT:
        return False


FORMAT = Format(
    name="release",
    title="Release of Winnow",
    accepts=f"Its {ITEMS}, its {MANIFEST} and the .parquet files of its data folder. These contain the images.",
    endings=(".jsonl", ".parquet", ".json"),
    reader=read_items,
    several=True,
    images=lambda path: release_shards.images(folder_of(path)),
    keeps_same=True,
    first_format=first_format,
    splits=True,
    shape=Shape(JSON_LINES, (("id", "captions", "images", "split"),), (MANIFEST,)),
    example=f"""{MANIFEST}
{ITEMS}
data/test-00000-of-00001.parquet
""",
)
