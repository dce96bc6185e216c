"""What the files say of images against each other: one content has one form and size, and its licences are all told."""

from collections.abc import Mapping

from annotation.exports.files import EXTENSIONS
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report
from annotation.releases.verification.spec import IMAGE, fits

ITEMS, DROPPED, IMAGES = "items.jsonl", "dropped.jsonl", "images.jsonl"
SIZE = ("format", "width", "height")
SAID = ("source_name", "licence", "attribution")
Found = dict[str, tuple]


def check_images(place: Place, report: Report, seen: Mapping[str, set[str]]) -> None:
    """`seen` has the names of each image in the data, by its hash."""
    sizes: Found = {}
    said: dict[str, tuple[dict, ...]] = {}  # of each image in the data what items say of it, in the order of coming
    for name in (ITEMS, DROPPED):
        with report.reading(name):
            for line in place.lines(name):
                for image in line["images"]:
                    _check_image(report, name, line["id"], image, sizes)
                    if name == ITEMS and image["sha256"] in seen:
                        for values, key in zip(said.setdefault(image["sha256"], ({}, {}, {})), SAID, strict=True):
                            values.setdefault(image[key])
    with report.reading(IMAGES):
        _check_listed(place, report, seen, sizes, said)


def _check_image(report: Report, name: str, item: str, image: Mapping, sizes: Found) -> None:
    report.count("images of items by their keys")
    wrong = [key for key, kind in IMAGE.items() if key not in image or not fits(image[key], kind)]
    wrong += sorted({*image} - {*IMAGE, "crop"})
    if wrong or not _is_hash(image["sha256"]) or image["format"] not in EXTENSIONS:
        report.problem(name, f"item {item!r}: an image has {', '.join(wrong) or 'a hash or format'} that cannot be")
        return
    size = tuple(image[key] for key in SIZE)
    if sizes.setdefault(image["sha256"], size) != size:
        report.problem(name, f"item {item!r}: image {image['sha256']} is {size}, elsewhere {sizes[image['sha256']]}")


def _is_hash(text: str) -> bool:
    return len(text) == 64 and not text.strip("0123456789abcdef")


def _check_listed(place: Place, report: Report, seen: Mapping, sizes: Found, said: Mapping) -> None:
    listed = []
    for line in place.lines(IMAGES):
        content = line["sha256"]
        listed.append(content)
        report.count("lines of images.jsonl")
        if content not in seen:
            report.problem(IMAGES, f"image {content} is in no parquet file")
            continue
        if line["file_names"] != sorted(seen[content]):
            report.problem(IMAGES, f"image {content} is called {line['file_names']!r:.80}, in the data it is not")
        size = tuple(line[key] for key in SIZE)
        if sizes.get(content, size) != size:
            report.problem(IMAGES, f"image {content} is said to be {size}, {ITEMS} says another")
        if any(not one.endswith(f".{EXTENSIONS.get(line['format'])}") for one in line["file_names"]):
            report.problem(IMAGES, f"image {content} is said to be {line['format']}, its names say another")
        for key, values in zip(SAID, said.get(content, ()), strict=False):
            if line[key] != "; ".join(filter(None, values)):
                report.problem(IMAGES, f"image {content} has the {key} {line[key]!r:.60}, {ITEMS} says another")
    if listed != sorted(set(listed)):
        report.problem(IMAGES, "its lines are not in the order of hashes, each once")
    for content in sorted(set(seen) - set(listed)):
        report.problem(IMAGES, f"image {content} of the data is missing")
