"""Mine GQA's scene graphs for the pairs of VG-Relation and VG-Attribution (ARO App. A.1, steps 2 to 4). Pure.

A scene is a row with `image`, `width`, `height` and `objects`: id → {"name": "cat", "x": 5, "y": 0, "w": 90, "h": 70,
"attributes": ["black"], "relations": [{"name": "watching", "object": "12"}]}. What is mined of it are rows as the
templates take them; those drop pairs of one kind, equal attributes and symmetric relations (steps 3, 5 and 6).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Any

from benchmarks.construction import rows
from benchmarks.formats.aro import BOX
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import Row

OBJECTS = "objects"  # the field that makes a row a scene
LEAST = 4  # an object's width and height are at least the image's divided by this
Scene = Mapping[str, Any]
Mined = dict[str, Any]


def relations(scene: Scene) -> Iterator[Mined]:
    """Each relation between two large objects."""
    large = _large(scene)
    for key, one in large.items():
        for relation in one.get("relations", ()):
            if other := large.get(relation["object"]):
                name = relation["name"]
                yield {
                    "id": f"{scene['image']}-{key}-{name}-{relation['object']}", "subject": one["name"],
                    "relation": name, "object": other["name"], **_box(one, other, scene),
                }  # fmt: skip


def attributions(scene: Scene) -> Iterator[Mined]:
    """Each two attributes of two large objects. What both objects are tells them apart in neither caption."""
    for (key, one), (other_key, other) in combinations(_large(scene).items(), 2):
        first, second = (dict.fromkeys(of.get("attributes", ())) for of in (one, other))
        both = first.keys() & second.keys()
        for attribute, more in product([a for a in first if a not in both], [a for a in second if a not in both]):
            yield {
                "id": f"{scene['image']}-{key}-{attribute}-{other_key}-{more}", "attribute1": attribute,
                "object1": one["name"], "attribute2": more, "object2": other["name"], **_box(one, other, scene),
            }  # fmt: skip


def mined(
    given: Iterable[Row], file: str, log: ProblemLog, mine: Callable[[Scene], Iterator[Mined]]
) -> Iterator[tuple[int, Row]]:
    """Numbered rows: of a scene those that are mined from it, any other as it is."""
    for row in given:
        if isinstance(row.values.get(OBJECTS, ""), str):  # a table's cell is no scene
            yield row.number, row
        elif image := rows.words(row, "image", file, log):
            try:
                found = list(mine({**row.values, "image": image}))
            except (AttributeError, KeyError, TypeError):
                advice = "Give width, height and objects with name, x, y, w, h, attributes and relations, as GQA does."
                log.error("WRONG_VALUE", file, row.number, OBJECTS, advice)
                continue
            yield from ((row.number, Row(row.number, one | {"image": image})) for one in found)


def _large(scene: Scene) -> dict[str, Any]:
    """The objects that can be recognised, by their ids."""
    width, height = scene["width"], scene["height"]
    objects = scene[OBJECTS].items()
    return {key: one for key, one in objects if LEAST * one["w"] >= width and LEAST * one["h"] >= height}


def _box(one: Mapping[str, Any], other: Mapping[str, Any], scene: Scene) -> Mined:
    """The smallest box around both, within the image."""
    left, top = (max(0, min(one[side], other[side])) for side in "xy")
    right = min(scene["width"], max(one["x"] + one["w"], other["x"] + other["w"]))
    bottom = min(scene["height"], max(one["y"] + one["h"], other["y"] + other["h"]))
    return dict(zip(BOX, (left, top, right - left, bottom - top), strict=True))
