"""Screens on which sentences are ranked or compared, with somebody in front of them."""

from collections.abc import Mapping, Sequence

from annotation.models import Annotator
from tests.builders import pictures, studies, text_items

Words = Mapping[str, Sequence[str]]  # role → captions of an item
RANKED = {
    "positive": ["A dog on a red sofa."],
    "second_positive": ["A hound on a red sofa."],
    "negative": ["A dog under a red sofa."],
}
COMPARED = {"positive": ["A man rides a horse."], "negative": ["A horse rides a man.", "A man not rides a horse."]}


def ranking(items: int | Sequence[Words] = 3, **settings) -> Annotator:
    """Somebody who may rank the captions of so many items, or of these."""
    return _somebody("hard-positive-rank", [RANKED] * items if isinstance(items, int) else items, settings)


def comparing(items: int | Sequence[Words] = 3, **settings) -> Annotator:
    """Likewise, to compare two negatives."""
    return _somebody("sugarcrepe-compare", [COMPARED] * items if isinstance(items, int) else items, settings)


def _somebody(protocol: str, items: Sequence[Words], settings: dict) -> Annotator:
    benchmark = studies.benchmark(0)
    text_items.several(benchmark, items, type="replace", subtype="rel")
    study = studies.study(benchmark=benchmark, protocol=protocol, **settings)
    drawn = (pictures.draw(number % len(pictures.COLOURS), 640, 427) for number in range(len(items)))
    return studies.annotator(pictures.paint(study, drawn))
