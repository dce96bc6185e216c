"""Scores from vectors, for many items at once. Pure apart from numpy."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from benchmarks.predictions.plan import WantedScore

Vectors = Mapping[str, np.ndarray]  # by content


@dataclass
class Scores:
    """`columns`: by score name, the items and their scores, equally long. `choices`: items, questions and the options
    that a detector chooses. `lacking`: parts that items lack. `cut`: the items with captions too long for the model;
    `alike`: the items without scores, because the model reads two of their captions as identical.
    """

    columns: dict[str, list[tuple[np.ndarray, np.ndarray]]] = field(default_factory=lambda: defaultdict(list))
    choices: list[tuple[int, str, str]] = field(default_factory=list)
    lacking: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    cut: list[str] = field(default_factory=list)
    alike: list[str] = field(default_factory=list)

    def predictions(self) -> Iterator[tuple[int, str, float | None, str | None]]:
        """Yield item, question, score and choice, one of which is None."""
        yield from ((*row, None) for row in self.rows())
        yield from ((item, question, None, choice) for item, question, choice in self.choices)

    def rows(self) -> Iterator[tuple[int, str, float]]:
        """Yield item, score name and score."""
        for name, parts in self.columns.items():
            for items, scores in parts:
                yield from ((item, name, score) for item, score in zip(items.tolist(), scores.tolist(), strict=True))

    @property
    def count(self) -> int:
        return sum(len(items) for parts in self.columns.values() for items, _ in parts) + len(self.choices)


@dataclass(frozen=True)
class Asker:
    """The scores a model can compute: captions with images (`images`), captions with captions (`texts`), or just a
    caption (`alone`, a language model: the same for every image). `pair`: the content of a caption and an image, for a
    model that scores them together; without it their vectors are compared."""

    images: bool
    texts: bool
    alone: bool
    pair: Callable[[str, str], str] | None = None

    def contents(self, score: WantedScore, captions: Mapping, images: Mapping) -> tuple[str, ...] | None:
        """Return the contents to compare; None if this model cannot score them. Raises KeyError for an empty place."""
        if self.alone:
            return None if score.text else (captions[score.one],)
        if score.text:
            return (captions[score.one], captions[score.other]) if self.texts else None
        if not self.images:
            return None
        both = captions[score.one], images[score.other]
        return (self.pair(*both),) if self.pair else both


def compare(
    scores: Scores, chunk: list, wanted: Callable[[Mapping], list[WantedScore]], asker: Asker,
    look_up: Callable[[set[str]], Vectors], cuts: Callable[[set[str]], Mapping[str, str]] = lambda contents: {},
) -> None:  # fmt: skip
    """Add a model's scores of some items (`runs.material.Material`). `cuts`: `Embedding.cut` for contents whose
    captions the model truncates.
    """
    asked: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    of_item: dict[int, set[str]] = defaultdict(set)
    for one in chunk:
        empty = set()
        for score in wanted(one.captions):
            try:
                contents = asker.contents(score, one.captions, one.images)
            except KeyError:
                empty.add(name_of_gap(score, one.captions))
            else:
                if contents:
                    asked[score.name].append((one.item, contents))
                    of_item[one.item].update(contents)
        for what in sorted(empty):
            scores.lacking[what].append(one.key)
    needed = set().union(*of_item.values())
    found, cut = look_up(needed), cuts(needed)
    alike = set()
    for one in chunk:
        own = of_item[one.item]
        if own & cut.keys():
            scores.cut.append(one.key)
            if _read_alike(own, cut, found):
                scores.alike.append(one.key)
                alike.add(one.item)
    for name, rows in asked.items():
        if rows := [row for row in rows if row[0] not in alike]:
            scores.columns[name].append(products(rows, found))


def _read_alike(contents: set[str], cut: Mapping[str, str], found: Vectors) -> bool:
    """Return whether a model that truncates some of these contents cannot distinguish two of them: it reads the same
    part of both, or the part it reads of one is the entire other caption.
    """
    same = Counter(cut[content] for content in contents if content in cut)
    whole = [found[content] for content in contents if content not in cut and len(found[content]) > 1]
    vectors = [found[content] for content in contents & cut.keys()]
    return max(same.values()) > 1 or any(np.array_equal(one, other) for one in vectors for other in whole)


def name_of_gap(score: WantedScore, captions: Mapping) -> str:
    """Name a gap: `negative image`, `second positive caption`."""
    for place in (score.one, *((score.other,) if score.text else ())):
        if place not in captions:
            return f"{place[0].replace('_', ' ')} caption"
    return f"{score.other[0]} image"


def products(rows: list[tuple[int, tuple[str, ...]]], found: Vectors) -> tuple[np.ndarray, np.ndarray]:
    """Return items, and their two vectors' dot products (float32), or a single one-dimensional vector's value."""
    items = np.array([item for item, _ in rows], dtype=np.int64)
    first, *second = (
        np.stack([found[content] for content in side]) for side in zip(*(c for _, c in rows), strict=True)
    )
    return items, np.einsum("ij,ij->i", first, second[0]) if second else first[:, 0].copy()
