"""The numbers of statistics.json, counted a second time from items.jsonl."""

from collections.abc import Iterable
from itertools import groupby

SIDES = {"positive", "negative"}
ROLES = SIDES | {"second_positive", "candidate"}  # others are the user's own


def statistics(lines: list[dict]) -> dict:
    def by(*names: str) -> list[tuple[tuple, list[dict]]]:
        def key(line: dict) -> tuple:
            return tuple(line[name] for name in names)

        return [(found, list(group)) for found, group in groupby(sorted(lines, key=key), key=key)]

    def rows(*names: str) -> list[dict]:
        return [dict(zip(names, found, strict=True)) | numbers(group) for found, group in by(*names)]

    splits = {split: numbers(group) for (split,), group in by("split")}
    return {
        "whole": numbers(lines),
        "splits": splits,
        "types": rows("type", "subtype"),
        "rows": rows("split", "type", "subtype"),
    }


def numbers(lines: list[dict]) -> dict:
    captions = [caption for line in lines for caption in line["captions"]]
    counted = {"items": len(lines), "captions": len(captions), "image_to_text": 0, "text_to_image": 0}
    images: set[str] = set()
    for line in lines:
        shown = [image for image in line["images"] if image["key"] in ("positive-0", line["negative_image"])]
        own = [image for image in line["images"] if image["key"].rpartition("-")[0] not in ROLES]
        sides = len(SIDES & {caption["role"] for caption in line["captions"]})
        counted["image_to_text"] += len(shown) if sides == 2 else 0
        counted["text_to_image"] += sides if len(shown) == 2 else 0
        images |= {image["sha256"] for image in shown + own}
    by_role = {
        role: {
            "captions": len(texts := [caption["text"] for caption in captions if caption["role"] == role]),
            "words": lengths(len(text.split()) for text in texts),
            "characters": lengths(map(len, texts)),
        }
        for role in {caption["role"] for caption in captions}
    }
    questions = counted["image_to_text"] + counted["text_to_image"]
    return counted | {"images": len(images), "questions": questions, "captions_by_role": by_role}


def lengths(found: Iterable[int]) -> dict:
    all_of_them = sorted(found)
    mean = sum(all_of_them) / len(all_of_them)
    return {"mean": mean, "min": all_of_them[0], "max": all_of_them[-1]}
