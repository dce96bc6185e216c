"""Studies of the protocols that ask about sentences, with or without a picture: an item's captions given as words."""

import json
from collections.abc import Sequence
from pathlib import Path

from annotation.models import Annotator
from benchmarks.models import Benchmark, Caption
from tests import make, pictures

RANKED = ("A dog on a red sofa.", "A hound on a red sofa.", "A dog under a red sofa.")
COMPARED = ("A man rides a horse.", "A horse rides a man.", "A man not rides a horse.")


def of(roles: Sequence[str], rows: Sequence[Sequence[str]], candidates: int = 0) -> Benchmark:
    """A benchmark with an item for each row, whose words have these roles."""
    made = make.benchmark(len(rows), candidates=candidates)
    Caption.objects.filter(item__benchmark=made).delete()
    for item, row in zip(made.items.order_by("position"), rows, strict=True):
        for place, (role, text) in enumerate(zip(roles, row, strict=True)):
            Caption.objects.create(item=item, role=role, position=roles[:place].count(role), text=text)
    return made


def ranking(items: int = 3, rows: Sequence[Sequence[str]] = (), shape=(640, 427), **settings) -> Annotator:
    """Somebody who may rank these rows: the caption, its hard positive, its hard negative."""
    benchmark = of(("positive", "second_positive", "negative"), rows or [RANKED] * items)
    study = make.study(benchmark=benchmark, protocol="hard-positive-rank", **settings)
    return make.annotator(pictures.paint(study, [pictures.draw(n, *shape) for n in range(len(rows) or items)]))


def comparing(items: int = 3, rows: Sequence[Sequence[str]] = (), **settings) -> Annotator:
    """Somebody who may compare the last two of each row."""
    benchmark = of(("positive", "negative", "negative"), rows or [COMPARED] * items)
    study = make.study(benchmark=benchmark, protocol="sugarcrepe-compare", **settings)
    return make.annotator(pictures.paint(study))


def hard_positives(real: Path, count: int) -> list[tuple[str, str, str]]:
    """The first rows of the released file on relations: the caption, its hard positive, its hard negative."""
    sides = [
        json.loads((real / "data/hard_positives" / side / "vl_checklist_relations.json").read_text())[:count]
        for side in ("original", "hard_positive")
    ]
    return [
        (one["true_caption"], other["true_caption"], one["false_caption"]) for one, other in zip(*sides, strict=True)
    ]
