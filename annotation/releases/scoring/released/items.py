"""The items of one split of a release, and what a model compares in each of them."""

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from benchmarks.predictions.cut_captions import listed
from benchmarks.predictions.kinds import KINDS
from benchmarks.predictions.plan import CAPTION_ROLES, IMAGE_ROLES, Place, wanted_scores

PICK = "pick"  # the kind of evaluation that picks.py does


class Unusable(Exception):
    """The message says in a sentence what is wrong."""


def require_answers(lacking, asked, what):
    """Raises Unusable if there are names of what lacks answers, of so many that were asked."""
    if lacking:
        raise Unusable(
            f"{len(lacking):,} of {asked:,} {what} lack answers: {listed(lacking)}. A model that answers "
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


NO_CUT = (
    "The file defines no cut(text), so captions of which the model reads only the beginning are not known: items whose "
    "captions it reads alike are ties, which count as wrong."
)


class Cut(NamedTuple):
    """`places` with captions that are longer than the model reads, None if that is not known; `alike`: where two
    captions are the same in what it reads of them. In order.
    """

    places: list | None
    alike: list


def as_json(cut, id_of):
    """By the items' ids, of which `id_of` has each place's; None if nothing is known."""
    named = {"in_items": cut.places, "alike": cut.alike} if cut else {}
    ids = {what: list(dict.fromkeys(map(id_of, some))) for what, some in named.items() if some is not None}
    return {what: {"count": len(some), "keys": some} for what, some in ids.items()} if cut else None


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
