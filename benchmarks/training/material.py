"""Items to train on: from a benchmark, dealt 80/20 by item and image, or from a release with its splits."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.construction.splitting import Unit, assign
from benchmarks.models import Benchmark, Caption, ItemImage
from benchmarks.training.released import ReleasedSplit, releases
from workers.models.presets import CAPTION, IMAGE, LEAST, SECOND, Preset
from workers.models.refusals import CannotScore
from workers.models.training_task import Example

SHARES = {"train": 80, "validation": 20}  # BiVLC, §5.1 and §5.2
CHUNK = 500  # items
NAMED = 3  # items listed by name in a refusal


@dataclass(slots=True)
class TrainingItem:
    """An item's captions by role, in order, and the contents (SHA-256) of its images by role; `split` if it has one."""

    key: str
    kind: tuple[str, str]
    captions: dict[str, list[str]] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    every_image: frozenset[str] = frozenset()
    split: str = ""

    def lacks(self, preset: Preset) -> str:
        """Return the first thing that the preset needs and it lacks; empty if nothing."""
        there = {
            "positive caption": self.captions.get("positive"),
            "positive image": self.images.get("positive"),
            CAPTION: self.captions.get("negative"),
            IMAGE: self.images.get("negative"),
            SECOND: self.captions.get("second_positive"),
        }
        return next((what for what in ("positive caption", "positive image", *preset.needs) if not there[what]), "")

    def example(self, preset: Preset) -> Example:
        return Example(
            self.key,
            self.images["positive"],
            self.captions["positive"][0],
            tuple(self.captions.get("negative", ())) if preset.needs else (),
            self.images["negative"] if IMAGE in preset.needs else "",
            tuple(self.captions["second_positive"]) if SECOND in preset.needs else (),
        )


@dataclass(frozen=True, slots=True)
class Sides:
    """`lacking`: how many items lack something the preset needs, by what they lack."""

    train: list[Example]
    validation: list[Example]
    lacking: dict[str, int]


def of_benchmark(benchmark: Benchmark) -> Iterator[TrainingItem]:
    """Yield all items in order."""
    after = -1
    rows = benchmark.present.order_by("position").values_list("pk", "key", "type", "subtype", "position")
    while chunk := list(rows.filter(position__gt=after)[:CHUNK]):
        found = {pk: TrainingItem(key, (type, subtype)) for pk, key, type, subtype, _ in chunk}
        captions = Caption.objects.filter(item__in=list(found)).order_by("item", "role", "position")
        for pk, role, text in captions.values_list("item", "role", "text"):
            found[pk].captions.setdefault(role, []).append(text)
        images = ItemImage.objects.filter(item__in=list(found)).order_by("item", "role", "position")
        for pk, role, content in images.values_list("item", "role", "image__sha256"):
            found[pk].images.setdefault(role, content)
            found[pk].every_image |= {content}
        yield from found.values()
        after = chunk[-1][-1]


def of_release(release: ReleasedSplit) -> Iterator[TrainingItem]:
    """Yield its training and validation items, with the negative image that people chose."""
    for line in release.lines():
        if line["split"] not in SHARES:
            continue
        item = TrainingItem(line["id"], (line["type"], line["subtype"]), split=line["split"])
        for caption in line["captions"]:
            item.captions.setdefault(caption["role"], []).append(caption["text"])
        for image in line["images"]:
            role = image["key"].rpartition("-")[0]
            item.images.setdefault("negative" if image.get("chosen") else role, image["sha256"])
        item.every_image = frozenset(image["sha256"] for image in line["images"])
        yield item


def sides(benchmark: Benchmark, release: ReleasedSplit | None, preset: Preset, seed: int) -> Sides:
    """Return the items to train and to validate on. Raises CannotScore: TOO_FEW_ITEMS, IN_A_TEST_SPLIT."""
    usable, lacking = _usable(of_release(release) if release else of_benchmark(benchmark), preset)
    if len(usable) < LEAST:
        why = "".join(f", {count:,} lack a {what}" for what, count in lacking.items())
        advice = f"{preset.title} needs at least {LEAST} items with everything it trains on; there are {len(usable):,}"
        remedy = "Import more, or choose another preset."
        if IMAGE in lacking and not release:
            remedy = "Train on a release, which has the images that people chose, or choose another preset."
        raise CannotScore("TOO_FEW_ITEMS", f"{advice}{why}. {remedy}")
    _check_disjoint(benchmark, usable)
    if not release or "validation" not in release.splits:
        units = [Unit(one.key, one.kind, one.every_image) for one in usable]
        for item, split in zip(usable, _dealt(units, seed), strict=True):
            item.split = split
    dealt = {name: [one.example(preset) for one in usable if one.split == name] for name in SHARES}
    if not all(dealt.values()):
        advice = (
            "Items that share an image stay on one side, so one side would be empty. Import items with more images."
        )
        raise CannotScore("TOO_FEW_ITEMS", advice)
    return Sides(dealt["train"], dealt["validation"], lacking)


def _usable(items: Iterable[TrainingItem], preset: Preset) -> tuple[list[TrainingItem], dict[str, int]]:
    usable, lacking = [], Counter[str]()
    for item in items:
        if what := item.lacks(preset):
            lacking[what] += 1
        else:
            usable.append(item)
    return usable, dict(lacking)


def _dealt(units: list[Unit], seed: int) -> list[str]:
    splits = assign(units, SHARES, seed).splits
    return [splits[unit.key] for unit in units]


def _check_disjoint(benchmark: Benchmark, usable: list[TrainingItem]) -> None:
    """Check that no item, and no image of one, is in the test split of any release."""
    keys, images = {one.key: one.key for one in usable}, {image: one.key for one in usable for image in one.every_image}
    for release in releases():
        if "test" not in release.splits:
            continue
        shared: set[str] = set()
        for line in release.lines():
            if line["split"] == "test":
                shared |= _shared(line, keys if release.benchmark == benchmark.pk else {}, images)
        if shared:
            first = ", ".join(sorted(shared)[:NAMED])
            what = f"{len(shared):,} item{'s' * (len(shared) != 1)} ({first}{' …' * (len(shared) > NAMED)})"
            advice = f"{what} or their images are in the test split of {release.title}."
            raise CannotScore("IN_A_TEST_SPLIT", f"{advice} Train on a release’s training side, or on other items.")


def _shared(line: Mapping[str, Any], keys: Mapping[str, str], images: Mapping[str, str]) -> set[str]:
    found = {images[image["sha256"]] for image in line["images"] if image["sha256"] in images}
    return found | ({keys[line["id"]]} if line["id"] in keys else set())
