"""The sizes in a release, counted only from its items.jsonl. Pure, a line at a time.

Verification uses it, too; tests/independent/counts.py counts a second time.

A retrieval question (BiVLC, Table 1) is one image with a positive and a negative caption to tell apart, or one caption
with two images: an item with two of each makes four.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from benchmarks.records import is_own

SIDES, POSITIVE = ("positive", "negative"), "positive-0"


def lengths(counted: Counter[int]) -> dict:
    """Summarise how many texts have each length."""
    mean = sum(length * texts for length, texts in counted.items()) / counted.total()
    return {"mean": mean, "min": min(counted), "max": max(counted)}


class Cell:
    """Counts over some of the items."""

    def __init__(self) -> None:
        self.items, self.to_text, self.to_image = 0, 0, 0
        self.images: set[bytes] = set()  # hashes
        self.words: dict[str, Counter[int]] = defaultdict(Counter)  # captions by length, by role
        self.characters: dict[str, Counter[int]] = defaultdict(Counter)

    def add(self, line: Mapping) -> None:
        used = shown(line)
        known = sum(not is_own(_role(image)) for image in used)
        to_text, to_image = questions({caption["role"] for caption in line["captions"]}, known)
        self.items += 1
        self.to_text += to_text
        self.to_image += to_image
        self.images.update(bytes.fromhex(image["sha256"]) for image in used)
        for caption in line["captions"]:
            self.words[caption["role"]][len(caption["text"].split())] += 1
            self.characters[caption["role"]][len(caption["text"])] += 1

    def include(self, other: "Cell") -> None:
        self.items += other.items
        self.to_text += other.to_text
        self.to_image += other.to_image
        self.images |= other.images
        for mine, theirs in ((self.words, other.words), (self.characters, other.characters)):
            for role, counted in theirs.items():
                mine[role].update(counted)

    def as_json(self) -> dict:
        """Return the counts; images are counted once for each content."""
        captions = {
            role: {"captions": words.total(), "words": lengths(words), "characters": lengths(self.characters[role])}
            for role, words in sorted(self.words.items())
        }
        return {
            "items": self.items,
            "images": len(self.images),
            "captions": sum(words.total() for words in self.words.values()),
            "image_to_text": self.to_text,
            "text_to_image": self.to_image,
            "questions": self.to_text + self.to_image,
            "captions_by_role": captions,
        }


def shown(line: Mapping) -> list[Mapping]:
    """Return the images of a line of items.jsonl that are counted: the positive one, the negative one (if any), and all
    in user-defined roles. Candidates that nobody chose are in the data, but not in any question.
    """
    return [image for image in line["images"] if image["chosen"] or image["key"] == POSITIVE or is_own(_role(image))]


def _role(image: Mapping) -> str:
    return image["key"].rpartition("-")[0]


def questions(roles: set[str], images: int) -> tuple[int, int]:
    """Return image-to-text and text-to-image questions for an item with captions in these roles and `images` images."""
    captions = len(roles.intersection(SIDES))
    return (images if captions == 2 else 0), (captions if images == 2 else 0)


def compute(items: Iterable[Mapping]) -> dict:
    """Count lines of items.jsonl: the `whole`, `splits` by name, `types`, and `rows` for each split, type and subtype,
    in order.
    """
    whole = Cell()
    splits: dict[str, Cell] = defaultdict(Cell)
    types: dict[tuple[str, str], Cell] = defaultdict(Cell)
    rows: dict[tuple[str, str, str], Cell] = defaultdict(Cell)
    for line in items:
        rows[line["split"], line["type"], line["subtype"]].add(line)
    for (split, *kind), counted in rows.items():
        for cell in (whole, splits[split], types[kind[0], kind[1]]):
            cell.include(counted)
    return {
        "whole": whole.as_json(),
        "splits": {name: cell.as_json() for name, cell in sorted(splits.items())},
        "types": [_named(("type", "subtype"), kind, types[kind]) for kind in sorted(types)],
        "rows": [_named(("split", "type", "subtype"), key, rows[key]) for key in sorted(rows)],
    }


def _named(names: tuple[str, ...], values: tuple[str, ...], cell: Cell) -> dict:
    return {**dict(zip(names, values, strict=True)), **cell.as_json()}
