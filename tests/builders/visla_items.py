"""Items of VISLA's shape: two sentences that say the same, one that does not, others beside them, an image."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from annotation.models import Study
from tests.builders import pictures, studies, text_items

CAT = {
    "positive": ["A cat is in the basket."],
    "second_positive": ["The basket holds a cat."],
    "negative": ["A cat is beside the basket."],
    "candidate": ["A cat is under the basket.", "In the basket there is a cat."],
}


def study(protocol: str, items: int | Iterable[dict[str, Sequence[str]]] = 1, **settings) -> Study:
    """Of so many cats in baskets, or of these captions."""
    benchmark = studies.benchmark(0)
    captions = [CAT] * items if isinstance(items, int) else [*items]
    text_items.several(benchmark, captions, type="replace", subtype="rel")
    return studies.study(benchmark=benchmark, protocol=protocol, **settings)


def real(folder: Path, protocol: str, most: int = 50) -> Study:
    """The released Generic VISLA rows whose COCO image is here. Other rows' negatives stand in as further ones, since
    the candidates that the authors saw are not released.
    """
    with (folder / "coco_val2017" / "rows.csv").open(encoding="utf-8", newline="") as rows:
        found = [row for row in csv.DictReader(rows) if row["set"] == "Generic_VISLA"]
    others = [row["negative_caption" if protocol == "visla-triplet" else "caption"] for row in found]
    items = [
        {
            "positive": [row["caption"]],
            "second_positive": [row["second_positive"]],
            "negative": [row["negative_caption"]],
            "candidate": [others[number - 1], others[number - 2]],
        }
        for number, row in enumerate(found[:most])
    ]
    files = [(folder / "coco_val2017" / "images" / row["file"]).read_bytes() for row in found[:most]]
    return pictures.paint(study(protocol, items, seed=1), files)
