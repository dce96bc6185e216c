"""The real material beside the project, as one jsonl manifest and one zip of images: 84 items that use all 99 images.

- 12 BiVLC items: their own captions and positive image. Item 6850 has its own four candidates; of the others only the
  selected candidate is public, so the selected images of three more items stand beside it (the truth is known).
- 72 COCO images with a SugarCrepe row each. Their candidates were never published: the positive image and those of
  three other rows stand in. They show the negative caption seldom, if ever, so no truth is stated.
"""

import csv
import json
import zipfile
from pathlib import Path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def entry(role: str, name: str, licence: str = "", attribution: str = "") -> dict[str, str]:
    return {"role": role, "file": name, "licence": licence, "attribution": attribution}


def line(key: str, subset: str, captions: tuple[str, str], images: list[dict], truth: dict) -> dict:
    kind, _, subtype = subset.partition("_")
    both = [{"role": role, "text": text} for role, text in zip(("positive", "negative"), captions, strict=True)]
    fields = {"id": key, "type": kind, "subtype": subtype, "captions": both, "images": images}
    return {**fields, "truth": truth} if truth else fields


def bivlc_items(folder: Path) -> list[dict]:
    listed = rows(folder / "images.csv")
    selected = [row for row in listed if row["role"] == "negative_image_selected"]
    positive = {row["bivlc_index"]: row for row in listed if row["role"] == "positive_image"}
    items = []
    for number, row in enumerate(selected):
        own = positive[row["bivlc_index"]]
        discarded = [
            r for r in listed if r["role"] == "negative_image_discarded" and r["bivlc_index"] == own["bivlc_index"]
        ]
        others = discarded or [selected[(number + step) % len(selected)] for step in (1, 2, 3)]
        place = number % 4
        candidates = [*others[:place], row, *others[place:]]
        images = [entry("positive", own["file"], own["coco_licence"], own["flickr_url"])]
        images += [entry("candidate", other["file"], other["coco_licence"]) for other in candidates]
        truth = {"bivlc-choose": [f"candidate-{place}"]}
        items.append(
            line(
                f"bivlc-{row['bivlc_index']}", row["sugarcrepe_subset"], (own["caption"], row["caption"]), images, truth
            )
        )
    return items


def coco_items(folder: Path) -> list[dict]:
    licences = {row["file"]: row for row in rows(folder / "licences.csv")}
    first = {}
    for row in rows(folder / "rows.csv"):
        if row["set"] == "SugarCrepe":
            first.setdefault(row["file"], row)
    files = sorted(first)
    items = []
    for number, name in enumerate(files):
        row = first[name]
        candidates = [files[(number + step) % len(files)] for step in range(4)]
        named = [("positive", name), *(("candidate", candidate) for candidate in candidates)]
        images = [entry(role, file, licences[file]["licence"], licences[file]["flickr_url"]) for role, file in named]
        captions = (row["caption"], row["negative_caption"])
        items.append(line(f"coco-{Path(name).stem}", row["subset_or_row"], captions, images, {}))
    return items


def material(shared_data: Path, into: Path, coco: int) -> tuple[Path, Path]:
    """The 12 items of BiVLC and the first `coco` (at most 72) of the others."""
    items = bivlc_items(shared_data / "bivlc") + coco_items(shared_data / "coco_val2017")[:coco]
    return packed(items, shared_data, into)


def packed(items: list[dict], shared_data: Path, into: Path) -> tuple[Path, Path]:
    """Writes `items.jsonl` and `images.zip` into a folder; returns both paths."""
    manifest = into / "items.jsonl"
    manifest.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8")
    archive = into / "images.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for name in sorted({image["file"] for item in items for image in item["images"]}):
            folder = "bivlc" if "_" in name else "coco_val2017"
            packed.write(shared_data / folder / "images" / name, name)
    return manifest, archive
