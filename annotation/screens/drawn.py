"""Points and boxes drawn over a picture: the material's own, and people's marks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.protocols import answers, marks, schema
from annotation.protocols.layout import layout_of
from annotation.protocols.marks import WHOLE, Mark
from annotation.protocols.schema import ProtocolFile

_TEXT, _POINT, _TONES = 0.035, 0.012, 4  # shares of the picture's long side; colours
FULL = (0.0, 0.0, 1.0, 1.0)
Tagged = tuple[str, int, Mark]  # the tag, the colour from 1, and the mark


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape in the picture's pixels, as in SVG, independent of language."""

    tag: str
    tone: int
    is_box: bool
    left: str
    top: str
    width: str
    height: str
    text_top: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """The shapes that `components/drawing.html` draws over a picture of this many pixels."""

    width: int
    height: int
    text: str
    point: str
    shapes: Sequence[Shape]

    @property
    def words(self) -> str:
        return ", ".join(one.tag for one in self.shapes)


def drawing(size: tuple[int, int], tagged: Iterable[Tagged], inside: Sequence[float] = FULL) -> Drawing | None:
    """Return the marks on a picture of that size, whose part `inside` is the image itself; None without marks."""
    width, height = size
    long = max(size)
    found = []
    for tag, tone, (at, _) in tagged:
        left, top, *corner = (
            (inside[place % 2] + inside[2 + place % 2] * one / WHOLE) * size[place % 2] for place, one in enumerate(at)
        )
        right, bottom = corner or (left, top)
        text_top = top + _TEXT * long if corner else top - 2 * _POINT * long
        numbers = (left, top, right - left, bottom - top, text_top)
        found.append(Shape(tag, (tone - 1) % _TONES + 1, bool(corner), *(f"{one:.1f}" for one in numbers)))
    return Drawing(width, height, f"{_TEXT * long:.1f}", f"{_POINT * long:.1f}", found) if found else None


def drawings(
    file: ProtocolFile, shows: Sequence[str], sizes: Mapping[str, tuple[int, int]], given: Iterable[tuple[str, str]]
) -> dict[str, Drawing]:
    """Return pictures' marks in stored answers, by identity. `given` are (tag, label): the person or the answer, each
    with a colour.
    """
    questions = [one for one in file.answers if isinstance(one, schema.Points | schema.Boxes)]
    if not questions:
        return {}
    blocks = layout_of(file, shows).blocks
    pictures = {block.picture: of[0] for block, of in blocks if isinstance(block, schema.Picture) and of}
    found: dict[str, list[Tagged]] = defaultdict(list)
    for tone, (tag, label) in enumerate(given, 1):
        parts = answers.parts_of(label, file)
        for one in questions:
            for mark in marks.read(one.kind, parts.get(one.name, ""), one.labels):
                words = [
                    tag,
                    one.name if len(questions) > 1 else "",
                    one.labels[mark.label].label if mark.label else "",
                ]
                found[pictures[one.of]].append((" ".join(filter(None, words)), tone, mark))
    return {identity: drawn for identity, of in found.items() if (drawn := drawing(sizes[identity], of))}
