"""The numbers of statistics.json, counted from items.jsonl by code that is not its writer (documents/statistics.py)."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from annotation.releases.verification.place import Place

SIDES = {"positive", "negative"}
Part = tuple[str, ...]  # "whole", or "splits", "types" or "rows" with the names of one of them


class _Counts:
    """By part: `numbers` by name, the hashes of `images`, and how often captions of a role have each length."""

    def __init__(self) -> None:
        self.numbers: dict[Part, Counter] = defaultdict(Counter)
        self.images: dict[Part, set[bytes]] = defaultdict(set)
        self.lengths: dict[Part, dict[str, tuple[Counter, Counter]]] = defaultdict(dict)

    def add(self, line: Mapping) -> None:
        shown = [image["sha256"] for image in line["images"] if image["key"] in ("positive-0", line["negative_image"])]
        sides = len(SIDES & {caption["role"] for caption in line["captions"]})
        numbers = {
            "items": 1,
            "captions": len(line["captions"]),
            "image_to_text": len(shown) if sides == 2 else 0,
            "text_to_image": sides if len(shown) == 2 else 0,
        }
        for part in _parts(line):
            self.numbers[part].update(numbers)
            self.images[part].update(map(bytes.fromhex, shown))
            for caption in line["captions"]:
                words, characters = self.lengths[part].setdefault(caption["role"], (Counter(), Counter()))
                words[len(caption["text"].split())] += 1
                characters[len(caption["text"])] += 1

    def of(self, part: Part) -> dict:
        numbers = self.numbers[part]
        by_role = {
            role: {"captions": words.total(), "words": _lengths(words), "characters": _lengths(characters)}
            for role, (words, characters) in self.lengths[part].items()
        }
        return {
            **{name: numbers[name] for name in ("items", "captions", "image_to_text", "text_to_image")},
            "images": len(self.images[part]),
            "questions": numbers["image_to_text"] + numbers["text_to_image"],
            "captions_by_role": by_role,
        }


def count(place: Place) -> dict:
    """All of statistics.json. A line of items.jsonl is read at a time."""
    found = _Counts()
    for line in place.lines("items.jsonl"):
        found.add(line)
    parts = sorted(found.numbers)
    kinds, rows = ("type", "subtype"), ("split", "type", "subtype")
    return {
        "whole": found.of(("whole",)),
        "splits": {part[1]: found.of(part) for part in parts if part[0] == "splits"},
        "types": [dict(zip(kinds, part[1:], strict=True)) | found.of(part) for part in parts if part[0] == "types"],
        "rows": [dict(zip(rows, part[1:], strict=True)) | found.of(part) for part in parts if part[0] == "rows"],
    }


def _parts(line: Mapping) -> Iterator[Part]:
    split, kind = line["split"], (line["type"], line["subtype"])
    yield from (("whole",), ("splits", split), ("types", *kind), ("rows", split, *kind))


def _lengths(found: Counter) -> dict:
    """`found` has how many captions have each length."""
    return {"mean": sum(n * many for n, many in found.items()) / found.total(), "min": min(found), "max": max(found)}
