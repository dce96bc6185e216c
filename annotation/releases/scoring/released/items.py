"""The items of one split of a release, and what a model compares in each of them."""

import json
from collections import Counter
from pathlib import Path

from benchmarks.predictions.kinds import KINDS
from benchmarks.predictions.plan import CAPTION_ROLES, IMAGE_ROLES, Place, wanted_scores

LISTED = 10
PICK = "pick"  # the kind of evaluation that picks.py does


class Unusable(Exception):
    """The message says in a sentence what is wrong."""


def require_answers(lacking, asked, what):
    """Raises Unusable if there are names of what lacks answers, of so many that were asked."""
    if lacking:
        raise Unusable(
            f"{len(lacking):,} of {asked:,} {what} lack answers: {', '.join(lacking[:LISTED])}. A model that answers "
            f"only the easy {what} would look better than it is. Answer all, or give --skip-incomplete."
        )


class Release:
    """The items of one split, and the kind of their evaluation. `settings`: the file that has the release's."""

    def __init__(self, folder, split="", settings="manifest.json"):
        self.folder = Path(folder)
        try:
            manifest = json.loads((self.folder / settings).read_text(encoding="utf-8"))
            with (self.folder / "items.jsonl").open(encoding="utf-8") as lines:
                items = [*map(json.loads, lines)]
        except (OSError, ValueError, RecursionError):
            named = f"{settings} and items.jsonl"
            raise Unusable(f"{self.folder} has no readable {named}. Name the folder of a release.") from None
        self.evaluation = manifest.get("evaluation")
        if not self.evaluation:
            raise Unusable("No measure fits the items of this release.")
        self.kind = KINDS.get(self.evaluation["kind"])  # None of picks
        splits = list(manifest["splits"])
        self.split = split or ("test" if "test" in splits else splits[-1])
        if self.split not in splits:
            raise Unusable(f"There is no split {self.split}. Choose from {', '.join(splits)}.")
        self.columns = {part: column for column, part in manifest["columns"].items()}
        self.items = [item for item in items if item["split"] == self.split]


def cut_captions(cut, named, release, groups):
    """Of captions that the model does not read whole, as `compute_scores` found them, or None: `cut` has their number,
    and the items with some; `read_alike` is how many places are left out. Each of the groups gets the latter too.
    `named`: the item's id by place.
    """
    types = {item["id"]: (item["type"], item["subtype"]) for item in release.items}
    alike = sorted(named[place] for place in cut.alike) if cut else []
    for group in groups:
        about = [types[id] for id in alike]
        group["read_alike"] = sum(group["type"] == one and group["subtype"] in (None, other) for one, other in about)
    names = {"items": sorted({named[place] for place in cut.places}), "read_alike": alike} if cut else {}
    return {"read_alike": len(alike), "cut": cut and {"captions": cut.captions, **names}}


def captions_of(item) -> dict[Place, str]:
    """The captions that scores compare, by role and position."""
    found: dict[Place, str] = {}
    count: Counter[str] = Counter()
    for caption in item["captions"]:
        if caption["role"] in CAPTION_ROLES:
            found[caption["role"], count[caption["role"]]] = caption["text"]
            count[caption["role"]] += 1
    return found


def images_of(item) -> dict[Place, str]:
    """The SHA-256 of the positive and the chosen negative image, by role and position."""
    keys = {"positive": "positive-0", "negative": item["negative_image"] or "negative-0"}
    hashes = {image["key"]: image["sha256"] for image in item["images"]}
    return {(role, 0): hashes[keys[role]] for role in IMAGE_ROLES if keys[role] in hashes}


def wanted_of(release, item) -> dict[str, tuple[str, str, str]]:
    """Name of a score → what it compares: ("image", caption, SHA-256) or ("text", caption, caption)."""
    captions, images, found = captions_of(item), images_of(item), {}
    for score in wanted_scores(release.kind.name, captions):
        others = captions if score.text else images
        if score.one in captions and score.other in others:
            found[score.name] = "text" if score.text else "image", captions[score.one], others[score.other]
    return found
