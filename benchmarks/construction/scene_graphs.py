"""Mine GQA's scene graphs for the pairs of VG-Relation and VG-Attribution (ARO App. A.1, steps 2 to 4). Pure.

A scene is a row with `image`, `width`, `height` and `objects`: id → {"name": "cat", "x": 5, "y": 0, "w": 90, "h": 70,
"attributes": ["black"], "relations": [{"name": "watching", "object": "12"}]}. Mining yields rows for the templates,
which drop pairs of one kind, equal attributes and symmetric relations (steps 3, 5 and 6).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, product
from typing import Any

from benchmarks.construction import rows
from benchmarks.formats.aro import BOX
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import Row

OBJECTS = "objects"  # the field that makes a row a scene
LEAST = 4  # minimum width and height of an object, as a divisor of the image's
Scene = Mapping[str, Any]
Mined = dict[str, Any]


def relations(scene: Scene) -> Iterator[Mined]:
    """Yield each relation between two large objects."""
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
    """Yield every two attributes of two large objects, leaving out attributes that both objects have."""
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
    """Number the rows: those mined from a scene, and any other row unchanged."""
    for row in given:
        if isinstance(row.values.get(OBJECTS, ""), str):  # a table's cell is not a scene
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
    """Return the objects large enough to recognise, by their ids."""
    width, height = scene["width"], scene["height"]
    objects = scene[OBJECTS].items()
    return {key: one for key, one in objects if LEAST * one["w"] >= width and LEAST * one["h"] >= height}


def _box(one: Mapping[str, Any], other: Mapping[str, Any], scene: Scene) -> Mined:
    """Return the smallest box around both, within the image."""
    left, top = (max(0, min(one[side], other[side])) for side in "xy")
    right = min(scene["width"], max(one["x"] + one["w"], other["x"] + other["w"]))
    bottom = min(scene["height"], max(one["y"] + one["h"], other["y"] + other["h"]))
    return dict(zip(BOX, (left, top, right - left, bottom - top), strict=True))
