"""A pen for soft flat pictures: it draws large and in a thing's own box, the picture is made small at the end. Pure."""

import math
from collections.abc import Sequence

from PIL import Image, ImageDraw

SIDE = 512  # pixels of a finished picture
LARGE = 2 * SIDE  # drawn at twice the size: edges come out smooth

Colour = tuple[int, int, int]
Point = tuple[float, float]

PALETTE: dict[str, Colour] = {
    "red": (222, 62, 56),
    "orange": (244, 137, 37),
    "yellow": (250, 206, 56),
    "green": (58, 158, 88),
    "blue": (45, 108, 210),
    "purple": (132, 82, 190),
    "pink": (245, 140, 178),
}
WOOD, DARK, CREAM, WHITE, NIGHT = (176, 126, 82), (92, 66, 52), (250, 240, 222), (255, 255, 255), (58, 62, 84)


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """`share` of the other colour: 0 is the one, 1 the other."""
    return tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))


def light(colour: Colour, share: float = 0.3) -> Colour:
    return mix(colour, WHITE, share)


def dark(colour: Colour, share: float = 0.22) -> Colour:
    return mix(colour, (40, 30, 70), share)


class Pen:
    """Draws into a box, given as fractions of the picture, in which points run from 0 to 1."""

    def __init__(self, image: Image.Image, left=0.0, top=0.0, width=1.0, height=1.0, flipped=False):
        self.draw = ImageDraw.Draw(image, "RGBA")  # a fill with a fourth value is laid over what is there
        self.left, self.top, self.width, self.height = (LARGE * value for value in (left, top, width, height))
        self.flipped = flipped

    def at(self, point: Point) -> Point:
        x = 1 - point[0] if self.flipped else point[0]
        return self.left + x * self.width, self.top + point[1] * self.height

    def _corners(self, x0: float, y0: float, x1: float, y1: float) -> list[float]:
        (ax, ay), (bx, by) = self.at((x0, y0)), self.at((x1, y1))
        return [min(ax, bx), ay, max(ax, bx), by]

    def polygon(self, points: Sequence[Point], fill) -> None:
        self.draw.polygon([self.at(point) for point in points], fill)

    def smooth(self, points: Sequence[Point], fill) -> None:
        """A closed shape whose outline runs smoothly through all points."""
        self.draw.polygon([self.at(point) for point in rounded(points)], fill)

    def line(self, points: Sequence[Point], fill, width: float) -> None:
        """`width` is a share of the box's width."""
        thick = max(2, round(width * self.width))
        self.draw.line([self.at(point) for point in points], fill, thick, joint="curve")

    def ellipse(self, x0: float, y0: float, x1: float, y1: float, fill) -> None:
        self.draw.ellipse(self._corners(x0, y0, x1, y1), fill)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill, radius: float = 0.0) -> None:
        """`radius` of the corners is a share of the box's width."""
        self.draw.rounded_rectangle(self._corners(x0, y0, x1, y1), radius * self.width, fill)

    def slice(self, x0: float, y0: float, x1: float, y1: float, start: float, end: float, fill) -> None:
        """A part of an ellipse from `start` to `end` degrees, clockwise from three o'clock."""
        if self.flipped:
            start, end = 180 - end, 180 - start
        self.draw.pieslice(self._corners(x0, y0, x1, y1), start, end, fill)


def rounded(points: Sequence[Point], steps: int = 8) -> list[Point]:
    """A closed Catmull-Rom curve through the points, `steps` pieces between two of them."""
    count, curve = len(points), []
    for number in range(count):
        a, b, c, d = (points[(number + offset) % count] for offset in (-1, 0, 1, 2))
        for step in range(steps):
            t = step / steps
            curve.append(tuple(_between(a[i], b[i], c[i], d[i], t) for i in (0, 1)))
    return curve


def _between(a: float, b: float, c: float, d: float, t: float) -> float:
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))


def star_points(inner: float = 0.46, tips: int = 5) -> list[Point]:
    """Corners of a star that fills the unit box, the first tip on top."""
    points = []
    for number in range(2 * tips):
        radius = 0.5 if number % 2 == 0 else 0.5 * inner
        angle = math.pi * number / tips - math.pi / 2
        points.append((0.5 + radius * math.cos(angle), 0.53 + radius * 1.04 * math.sin(angle)))
    return points
