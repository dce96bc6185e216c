"""Draws a scene: its backdrop, shadows, things and damage, from the tables in `shapes`."""

import io
import re
from functools import cache
from random import Random

from PIL import Image, ImageColor, ImageDraw, ImageOps

from benchmarks.demo.claims import layer_of
from benchmarks.demo.scenes import Scene, Thing
from benchmarks.demo.shapes import BACKDROPS, FILLS, SPRITES

SIDE = 512  # pixels of a finished picture
LARGE = 2 * SIDE  # drawn at twice the size and reduced, so that edges are smooth
WHITE, SHADOW = (255, 255, 255), (40, 30, 70)
GRADIENT = Image.linear_gradient("L").crop((0, 0, 1, 256))
SOFT = Image.radial_gradient("L").point(lambda distance: max(0, min(92, 362 - 2 * distance)))

Pens = dict[int, ImageDraw.ImageDraw]
Point = tuple[float, float]
Box = tuple[float, float, float, float]  # left, top, width and height as shares of the picture's side


def jpeg(scene: Scene) -> bytes:
    file = io.BytesIO()
    paint(scene).save(file, "JPEG", quality=88)
    return file.getvalue()


def paint(scene: Scene) -> Image.Image:
    """The scene as an RGB picture of 512 x 512 pixels."""
    rng = Random(scene.seed)
    backdrop = BACKDROPS[scene.setting]
    zenith, horizon = rng.choice(backdrop.skies).split()
    sky = ImageOps.colorize(GRADIENT, zenith, horizon, whitepoint=191).resize((1, LARGE))
    image = sky.resize((LARGE, LARGE), Image.Resampling.NEAREST)
    pens = {3: ImageDraw.Draw(image), 4: ImageDraw.Draw(image, "RGBA")}  # by whether a fill has an alpha value
    ground = rng.choice(backdrop.grounds)
    for layer in backdrop.layers:
        for _ in range(layer.count):
            size = rng.uniform(*layer.size)
            _draw(pens, layer.shapes, (rng.uniform(*layer.x), rng.uniform(*layer.y), size, size), ground)
    for thing in scene.things:
        _draw_shadow(image, scene.setting, thing)
    for front in (False, True):
        for thing in scene.things:
            sprite, box = SPRITES[thing.kind], (thing.left, thing.top, thing.width, thing.height)
            _draw(pens, sprite.front if front else sprite.shapes, box, FILLS[thing.colour], thing.flipped)
    image = image.reduce(LARGE // SIDE)
    if scene.hidden:
        left, top, right, bottom = (round(SIDE * value) for value in scene.hidden)
        image.paste(_damage(image.crop((left, top, right, bottom)), scene.damage, rng), (left, top))
    return image


def _draw(pens: Pens, shapes: str, box: Box, colour: str, flipped: bool = False) -> None:
    left, top, width, height = (LARGE * value for value in box)
    for form, fill, points, extra in _parsed(shapes):
        ink = _ink(fill, colour)
        pen = pens[len(ink)]
        at = [(left + (1 - x if flipped else x) * width, top + y * height) for x, y in points]
        (x0, y0), (x1, y1) = at[:2]
        corners = (min(x0, x1), y0, max(x0, x1), y1)
        match form:
            case "poly":
                pen.polygon(at, ink)
            case "line":
                pen.line(at, ink, max(2, round(extra * width)), joint="curve")
            case "oval":
                pen.ellipse(corners, ink)
            case "dome":
                pen.pieslice(corners, 180, 360, ink)
            case "box":
                pen.rounded_rectangle(corners, extra * width, ink)
            case _:
                raise ValueError(f"unknown form: {form}")


@cache
def _parsed(shapes: str) -> list[tuple[str, str, list[Point], float]]:
    """Form, fill, points, and radius or width of each shape, as shares of the box. Curves become polygons."""
    found = []
    for shape in filter(None, (part.strip() for part in shapes.replace("\n", ";").split(";"))):
        once, _, repeat = shape.partition(" *")
        form, fill, *numbers = once.replace(",", " ").split()
        values = [float(number) / 100 for number in numbers]
        extra = values.pop() if len(values) % 2 else 0.0
        points = list(zip(values[::2], values[1::2], strict=True))
        if form == "curve":
            form, points = "poly", _smooth(points)
        count, dx, dy = (float(number) / 100 for number in (repeat or "1 0,0").replace(",", " ").split())
        for n in range(round(100 * count)):
            found.append((form, fill, [(x + n * dx, y + n * dy) for x, y in points], extra))
    return found


def _smooth(points: list[Point], steps: int = 8) -> list[Point]:
    """A closed uniform Catmull-Rom curve through the points, `steps` pieces between two of them."""
    curve = []
    for n, b in enumerate(points):
        a, c, d = points[n - 1], points[(n + 1) % len(points)], points[(n + 2) % len(points)]
        for t in (step / steps for step in range(steps)):
            weights = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2)
            x, y = (sum(w * p[axis] for w, p in zip(weights, (a, b, c, d), strict=True)) / 2 for axis in (0, 1))
            curve.append((x, y))
    return curve


@cache
def _ink(fill: str, colour: str) -> tuple[int, ...]:
    """RGB or RGBA of a fill as the table writes it, where `c` is the colour."""
    name, sign, share = (*re.split("([+-])", fill), "+", "0")[:3]
    other = WHITE if sign == "+" else SHADOW
    rgba = ImageColor.getrgb(colour if name == "c" else FILLS.get(name, name))
    mixed = (round(a + (b - a) * int(share) / 100) for a, b in zip(rgba, other, strict=False))
    return (*mixed, *rgba[3:])


def _draw_shadow(image: Image.Image, setting: str, thing: Thing) -> None:
    """A soft ellipse beneath what stands on the ground."""
    layer = layer_of(setting, thing.kind)
    if not layer.floats and thing.kind != "boat" and thing.bottom > layer.levels[0] - 0.03:
        shares = (thing.left - 0.03, thing.bottom - 0.04, thing.right + 0.045, thing.bottom + 0.034)
        left, top, right, bottom = (round(LARGE * share) for share in shares)
        image.paste((48, 40, 72), (left, top), SOFT.resize((right - left, bottom - top)))


def _damage(image: Image.Image, damage: str, rng: Random) -> Image.Image:
    """The replacement for a damaged part: grey if it is cut, noise if it is smeared."""
    if damage == "cut":
        return Image.new("RGB", image.size, (128, 128, 128))
    noise = Image.new("RGB", (10, max(2, image.height // 7)))
    noise.frombytes(rng.randbytes(3 * noise.width * noise.height))
    mean = image.resize((1, 1)).resize(noise.size)
    return Image.blend(noise, mean, 0.35).resize(image.size, Image.Resampling.BICUBIC)
