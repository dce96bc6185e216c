"""Match answers with a benchmark's items by id or by captions, and report unmatched ones. Pure.

Comparison ignores capitals, white space and the final full stop, in which BiVLC's released files differ from
SugarCrepe's. If several items have the same captions, the image's name decides, then identical spelling. If that fails,
the answers are taken in the file's order if there are as many as items, and remain unmatched otherwise.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.predictions.base import Reference
from benchmarks.predictions.collecting import ItemAnswers
from benchmarks.records import ItemRecord

Texts = tuple[tuple[str, str], ...]  # (role, text in the form compared)
Spelling = Callable[[str], str]  # `exact` or `spelt`
LISTED = 100  # unmatched answers kept; all are counted
LONGEST = 400  # characters shown of each; an id may be as long as a line
NO_ID = "no item has this id"
OTHER = "the item with this id has different captions"
NO_CAPTIONS = "no item has these captions"
NO_IMAGE = "no item with these captions has this image"
SEVERAL = "several items have these captions"
TAKEN = "there is already an answer for this item"


@dataclass(slots=True)
class Matching:
    """`matched`: answers with their item's type and subtype. `unmatched`: the others, with reasons."""

    items: int
    matched: list[ItemAnswers] = field(default_factory=list)
    unmatched: list[tuple[ItemAnswers, str]] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)  # ids of items

    def as_json(self) -> dict[str, Any]:
        """Return counts, and the first unmatched answers; JSON-able."""
        return {
            "items": self.items,
            "matched": len(self.matched),
            "by_id": sum(bool(about.item.key) for about in self.matched),
            "by_captions": sum(not about.item.key for about in self.matched),
            "unmatched": len(self.unmatched),
            "unmatched_first": [
                {
                    "file": about.origin.file,
                    "row": about.origin.row,
                    "item": str(about.item)[:LONGEST],
                    "reason": reason,
                }
                for about, reason in self.unmatched[:LISTED]
            ],
            "unanswered": len(self.unanswered),
            "unanswered_first": self.unanswered[:LISTED],
        }


def match(answers: Sequence[ItemAnswers], items: Sequence[ItemRecord]) -> Matching:
    """Give each answer its item if exactly one matches. An item is answered only once."""
    found = Matching(len(items))
    finder = Finder(items, answers)
    taken: set[str] = set()
    for about in answers:
        item, reason = finder.find(about.item)
        if item is not None and item.key in taken:
            item, reason = None, TAKEN
        if item is None:
            found.unmatched.append((about, reason))
            continue
        taken.add(item.key)
        about.record, about.type, about.subtype = item, item.type, item.subtype
        found.matched.append(about)
    found.unanswered = [item.key for item in items if item.key not in taken]
    return found


class Finder:
    """Looks up items by reference."""

    def __init__(self, items: Sequence[ItemRecord], answers: Iterable[ItemAnswers]):
        self.items = items
        self.by_key = {item.key: item for item in items}
        # By roles and spelling: the items with these texts. By name: the answers with it, in the file's order.
        self.indexes: dict[tuple[object, ...], dict[Texts, list[ItemRecord]]] = {}
        self.named: dict[tuple[object, ...], dict[Reference, int]] = defaultdict(dict)
        for item in (about.item for about in answers if not about.item.key):
            for spelling in (exact, spelt):
                alike = self.named[name_of(item, spelling)]
                alike.setdefault(item, len(alike))

    def find(self, item: Reference) -> tuple[ItemRecord | None, str]:
        """Return the item, or None and the reason."""
        if not item.key:
            return self.with_captions(item)
        found = self.by_key.get(item.key)
        if found is None:
            return None, NO_ID
        roles = tuple(role for role, _ in item.captions)
        return (found, "") if texts_of(item) in [*captions(found, roles)] else (None, OTHER)

    def with_captions(self, item: Reference) -> tuple[ItemRecord | None, str]:
        """Return items with identical captions if there are as many as such answers; otherwise with similar ones."""
        found, same = self.alike(item, exact), self.named[name_of(item, exact)]
        if len(found) != len(same):
            found, same = self.alike(item, spelt), self.named[name_of(item, spelt)]
        if not found:
            return None, NO_IMAGE if self.alike(replace(item, image=""), spelt) else NO_CAPTIONS
        if len(found) > 1 and len(same) != len(found):
            return None, SEVERAL
        return found[same[item] if len(found) > 1 else 0], ""

    def alike(self, item: Reference, spelling: Spelling) -> list[ItemRecord]:
        """Return items with its captions, and its image if it names one, in the benchmark's order."""
        roles = tuple(role for role, _ in item.captions)
        found = self.index(roles, spelling).get(texts_of(item, spelling), [])
        return [one for one in found if may_have(one, item.image)] if item.image else found

    def index(self, roles: tuple[str, ...], spelling: Spelling) -> dict[Texts, list[ItemRecord]]:
        """Return an index of items by their captions with these roles, built on first use."""
        if (roles, spelling) not in self.indexes:
            made: dict[Texts, list[ItemRecord]] = defaultdict(list)
            for item in self.items:
                for texts in captions(item, roles, spelling):
                    made[texts].append(item)
            self.indexes[roles, spelling] = made
        return self.indexes[roles, spelling]


def may_have(item: ItemRecord, image: str) -> bool:
    """Return whether `image` may be the item's positive image; true if the item has none (imported as text only)."""
    names = {one.name for one in item.images_as("positive")}
    return image in names or not names


def exact(text: str) -> str:
    return text


def spelt(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split()).rstrip(".").rstrip()


def captions(item: ItemRecord, roles: Sequence[str], spelling: Spelling = spelt) -> Iterator[Texts]:
    """Yield the item's first caption of each role, normalised; nothing if it lacks one."""
    first = {caption.role: caption.text for caption in reversed(item.captions)}
    if {*roles} <= {*first}:
        yield tuple((role, spelling(first[role])) for role in roles)


def texts_of(item: Reference, spelling: Spelling = spelt) -> Texts:
    return tuple((role, spelling(text)) for role, text in item.captions)


def name_of(item: Reference, spelling: Spelling) -> tuple[object, ...]:
    return spelling, texts_of(item, spelling), item.image
