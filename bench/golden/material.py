"""Benchmarks made from the published material in ../shared/data: what `import_benchmark` is given.

Where a paper's images are not at hand, a plain picture stands in for each name.
"""

import csv
import json
import zipfile
from pathlib import Path
from random import Random

from PIL import Image

SHARED = Path("../shared/data")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _image(role: str, name: str, licence: str, attribution: str = "") -> dict[str, str]:
    return {"role": role, "file": name, "licence": licence, "attribution": attribution}


def _item(key: str, subset: str, positive: str, negative: str, images: list[dict], **more) -> dict:
    kind, _, subtype = subset.partition("_")
    captions = [{"role": "positive", "text": positive}, {"role": "negative", "text": negative}]
    return {"id": key, "type": kind, "subtype": subtype, "captions": captions, "images": images, **more}


def _bivlc(folder: Path) -> list[dict]:
    """12 items; where an item's candidates are not public, selected images of three others stand beside its own."""
    listed = _rows(folder / "images.csv")
    selected = [row for row in listed if row["role"] == "negative_image_selected"]
    positive = {row["bivlc_index"]: row for row in listed if row["role"] == "positive_image"}
    items = []
    for number, row in enumerate(selected):
        index, place = row["bivlc_index"], number % 4
        own = positive[index]
        others = [one for one in listed if (one["role"], one["bivlc_index"]) == ("negative_image_discarded", index)]
        others = others or [selected[(number + step) % len(selected)] for step in (1, 2, 3)]
        images = [_image("positive", own["file"], own["coco_licence"], own["flickr_url"])]
        candidates = [*others[:place], row, *others[place:]]
        images += [_image("candidate", one["file"], one["coco_licence"]) for one in candidates]
        truth = {"bivlc-choose": [f"candidate-{place}"]}
        captions = own["caption"], row["caption"]
        items.append(_item(f"bivlc-{index}", row["sugarcrepe_subset"], *captions, images, truth=truth))
    return items


def _coco(folder: Path) -> list[dict]:
    """72 items: an image with its first row of SugarCrepe; the next three images are its other candidates."""
    licences = {row["file"]: row for row in _rows(folder / "licences.csv")}
    first: dict[str, dict] = {}
    for row in _rows(folder / "rows.csv"):
        if row["set"] == "SugarCrepe":
            first.setdefault(row["file"], row)
    files = sorted(first)
    items = []
    for number, name in enumerate(files):
        row, candidates = first[name], [files[(number + step) % len(files)] for step in range(4)]
        used = [("positive", name), *(("candidate", one) for one in candidates)]
        images = [_image(role, one, licences[one]["licence"], licences[one]["flickr_url"]) for role, one in used]
        captions = row["caption"], row["negative_caption"]
        items.append(_item(f"coco-{Path(name).stem}", row["subset_or_row"], *captions, images))
    return items


def real(into: Path) -> list[str]:
    """84 items, with all 99 images, as jsonl."""
    items = _bivlc(SHARED / "bivlc") + _coco(SHARED / "coco_val2017")
    manifest, archive = into / "items.jsonl", into / "images.zip"
    manifest.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8")
    with zipfile.ZipFile(archive, "w") as packed:
        for name in sorted({image["file"] for item in items for image in item["images"]}):
            packed.write(SHARED / ("bivlc" if "_" in name else "coco_val2017") / "images" / name, name)
    return ["jsonl", str(manifest), "--images", str(archive)]


def ratings(into: Path) -> list[Path]:
    """The published tables of ratings with the columns item, annotator, label."""
    made = []
    for source in sorted((SHARED / "agreement").glob("*.csv")):
        lines = ["item,annotator,label"]
        for number, row in enumerate(_rows(source)):
            if "rater" in row:
                lines.append(f"{row['item']},{row['rater']},{row['rating']}")
            else:
                given = {name: label for name, label in row.items() if label and name != "Units"}
                lines += [f"{number},{name},{label}" for name, label in given.items()]
        (into / source.name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        made.append(into / source.name)
    return made


def _there() -> set[str]:
    return {path.name for path in (SHARED / "coco_val2017" / "images").iterdir()}


def _pictures(folder: Path, names) -> str:
    """A plain picture of a colour of its own for each name."""
    for number, name in enumerate(dict.fromkeys(names)):
        path = folder / "pictures" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        colour = (number * 37 % 256, number * 91 % 256, number * 151 % 256)
        Image.new("RGB", (320, 240), colour).save(path, "JPEG")
    return str(folder / "pictures")


def _table(name: str, into: Path, keep) -> Path:
    """The header and the rows of a VISLA file that `keep` lets through, given the row's cells."""
    head, *lines = (SHARED / "visla" / name).read_bytes().split(b"\r\n")
    (into / name).write_bytes(b"\r\n".join([head, *keep(lines)]))
    return into / name


def visla_generic(into: Path) -> list[str]:
    """The rows whose images are at hand."""
    there = _there()
    keep = lambda lines: [line for line in lines if line.split(b"\t")[0].decode() in there]  # noqa: E731
    images = SHARED / "coco_val2017" / "images"
    return ["visla", str(_table("Generic_VISLA.tsv", into, keep)), "--images", str(images.resolve())]


def visla_spatial(into: Path) -> list[str]:
    """The first 40 rows, incomplete ones left out."""
    table = _table("Spatial_VISLA.tsv", into, lambda lines: lines[:40])
    names = [line.split(b"\t")[0].decode() for line in table.read_bytes().split(b"\r\n")[1:]]
    return ["visla", str(table), "--images", _pictures(into, names), "--skip-incomplete"]


def hard_positives(into: Path) -> list[str]:
    """The first 25 rows of both sets."""
    names = []
    for side in ("original", "hard_positive"):
        (into / side).mkdir()
        for source in sorted((SHARED / "hard_positives" / side).iterdir()):
            rows = json.loads(source.read_text(encoding="utf-8"))[:25]
            (into / side / source.name).write_text(json.dumps(rows))
            names += [row["image_path"] for row in rows]
    second = str(into / "hard_positive")
    return ["hard-positives", str(into / "original"), "--second", second, "--images", _pictures(into, names)]


def sugarcrepe(into: Path) -> list[str]:
    """Eight rows of each subset whose images are at hand."""
    there = _there()
    (into / "sugarcrepe").mkdir()
    for source in sorted((SHARED / "sugarcrepe").glob("*.json")):
        rows = json.loads(source.read_text(encoding="utf-8"))
        few = dict([(key, row) for key, row in rows.items() if row["filename"] in there][:8])
        (into / "sugarcrepe" / source.name).write_text(json.dumps(few, indent=4))
    images = SHARED / "coco_val2017" / "images"
    return ["sugarcrepe", str(into / "sugarcrepe"), "--images", str(images.resolve()), "--format-captions"]


def sugarcrepe_compare(into: Path) -> list[str]:
    """Six rows of each subset; the second origin's negatives are the caption with its words in another order."""
    for side in ("first", "second"):
        (into / side).mkdir()
    for source in sorted((SHARED / "sugarcrepe").glob("*.json")):
        rows = dict(list(json.loads(source.read_text(encoding="utf-8")).items())[:6])
        others = {key: row | {"negative_caption": _shuffled(row["caption"])} for key, row in rows.items()}
        (into / "first" / source.name).write_text(json.dumps(rows, indent=4))
        (into / "second" / source.name).write_text(json.dumps(others, indent=4))
    return ["sugarcrepe-compare", str(into / "first"), "--second", str(into / "second"), "--text-only"]


def _shuffled(caption: str) -> str:
    words = caption.rstrip(".").split()
    Random(caption).shuffle(words)
    return " ".join(words) + "."
