"""From a scene to a picture: what lies behind, shadows, things, damage; then JPEG bytes. Pure but for Pillow."""

import io
from random import Random

from PIL import Image, ImageDraw, ImageFilter

from benchmarks.demo.pen import LARGE, PALETTE, SIDE, Colour, Pen, dark, light, mix
from benchmarks.demo.scenes import SETTINGS, Scene, Thing
from benchmarks.demo.shapes import DRAW, DRAW_FRONT

QUALITY = 88
SHADOW_SIDE = 128  # shadows are soft: drawn small and stretched

SKIES: dict[str, list[tuple[Colour, Colour]]] = {  # top, horizon
    "meadow": [((150, 206, 240), (226, 242, 250)), ((136, 196, 236), (252, 236, 214)),
               ((170, 216, 236), (240, 248, 244))],
    "snow": [((166, 180, 226), (250, 224, 226)), ((150, 190, 226), (234, 240, 250)),
             ((184, 178, 222), (252, 232, 214))],
    "sea": [((158, 212, 240), (236, 246, 250)), ((170, 208, 236), (254, 232, 210))],
    "room": [((238, 226, 208), (246, 236, 220)), ((214, 228, 226), (228, 238, 234)),
             ((232, 222, 234), (242, 234, 242))],
    "kitchen": [((224, 236, 238), (236, 244, 244)), ((248, 236, 216), (252, 244, 230)),
                ((226, 234, 218), (238, 242, 230))],
}  # fmt: skip


def jpeg(scene: Scene) -> bytes:
    file = io.BytesIO()
    paint(scene).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def paint(scene: Scene) -> Image.Image:
    """The scene as an RGB picture of 512 x 512."""
    rng = Random(scene.seed)
    image = _sky(scene.setting, rng)
    BEHIND[scene.setting](Pen(image), rng)
    _shadows(image, scene)
    for thing in scene.things:
        _draw(image, thing, DRAW)
    for thing in scene.things:
        if thing.kind in DRAW_FRONT:
            _draw(image, thing, DRAW_FRONT)
        if thing.kind == "boat":
            _waves(Pen(image, thing.left, thing.bottom - 0.03, thing.width, 0.05))
    image = image.reduce(LARGE // SIDE)
    if scene.hidden:
        _damage(image, scene, rng)
    return image


def _draw(image: Image.Image, thing: Thing, how) -> None:
    pen = Pen(image, thing.left, thing.top, thing.width, thing.height, thing.flipped)
    how[thing.kind](pen, PALETTE[thing.colour])


def _sky(setting: str, rng: Random) -> Image.Image:
    top, low = rng.choice(SKIES[setting])
    column = Image.new("RGB", (1, 32))
    column.putdata([mix(top, low, row / 24 if row < 24 else 1) for row in range(32)])
    column = column.resize((1, LARGE), Image.Resampling.BILINEAR)
    return column.resize((LARGE, LARGE), Image.Resampling.NEAREST)


def _shadows(image: Image.Image, scene: Scene) -> None:
    """A soft ellipse on the ground beneath whatever stands; things in the air or in water throw none."""
    mask = Image.new("L", (SHADOW_SIDE, SHADOW_SIDE))
    draw = ImageDraw.Draw(mask)
    setting = SETTINGS[scene.setting]
    for thing in scene.things:
        layer = setting.layers[setting.layer(thing.kind)]
        if not layer.floats and scene.setting != "sea" and thing.bottom > layer.levels[0] - 0.03:
            where = (thing.left - 0.02, thing.bottom - 0.032, thing.right + 0.035, thing.bottom + 0.026)
            draw.ellipse([value * SHADOW_SIDE for value in where], 92)
    mask = mask.filter(ImageFilter.GaussianBlur(1.4))
    if box := mask.getbbox():
        factor = LARGE // SHADOW_SIDE
        left, top, right, bottom = (factor * value for value in box)
        soft = mask.crop(box).resize((right - left, bottom - top), Image.Resampling.BILINEAR)
        image.paste((48, 40, 72), (left, top, right, bottom), soft)


def _damage(image: Image.Image, scene: Scene, rng: Random) -> None:
    """What a broken picture hides: a part that is grey (cut), or smeared to stripes of noise."""
    left, top, right, bottom = (round(SIDE * value) for value in scene.hidden)
    if scene.damage == "cut":
        image.paste((128, 128, 128), (left, top, right, bottom))
        return
    columns, rows = 10, max(2, (bottom - top) // 7)
    noise = Image.frombytes("RGB", (columns, rows), rng.randbytes(3 * columns * rows))
    behind = image.crop((left, top, right, bottom)).resize((1, 1)).resize(noise.size)
    smear = Image.blend(noise, behind, 0.35).resize((right - left, bottom - top), Image.Resampling.BICUBIC)
    image.paste(smear, (left, top))


# What lies behind the things, a function for each setting


def _hill(pen: Pen, rng: Random, level: float, swing: float, fill) -> None:
    tops = [(x / 4, level + rng.uniform(-swing, swing)) for x in range(-1, 6)]
    pen.smooth([*tops, (1.6, 1.3), (-0.6, 1.3)], fill)


def _clouds(pen: Pen, rng: Random, count: int, lowest: float) -> None:
    for _ in range(count):
        x, y, size = rng.uniform(-0.1, 0.95), rng.uniform(0.03, lowest), rng.uniform(0.6, 1.1)
        for dx, dy, width, height in ((0, 0.03, 0.22, 0.05), (0.04, 0, 0.09, 0.07), (0.09, 0.012, 0.09, 0.06)):
            left, top = x + dx * size, y + dy * size
            pen.ellipse(left, top, left + width * size, top + height * size, (255, 255, 255, 105))


def _meadow(pen: Pen, rng: Random) -> None:
    _clouds(pen, rng, 3, 0.4)
    green = rng.choice([(176, 216, 150), (190, 220, 146), (168, 212, 164)])
    _hill(pen, rng, 0.6, 0.035, mix(green, (196, 224, 232), 0.45))
    _hill(pen, rng, 0.66, 0.025, light(green, 0.12))
    _hill(pen, rng, 0.74, 0.012, green)
    for _ in range(26):
        x, y = rng.random(), rng.uniform(0.78, 0.98)
        pen.line([(x, y), (x + 0.006, y - 0.016)], dark(green, 0.16), 0.004)
        pen.line([(x + 0.008, y), (x + 0.014, y - 0.012)], dark(green, 0.16), 0.004)


def _snow(pen: Pen, rng: Random) -> None:
    _hill(pen, rng, 0.58, 0.04, (206, 214, 238))
    _hill(pen, rng, 0.66, 0.03, (226, 232, 246))
    _hill(pen, rng, 0.74, 0.012, (246, 248, 253))
    for _ in range(46):
        x, y, size = rng.random(), rng.uniform(0, 0.7), rng.uniform(0.003, 0.007)
        pen.ellipse(x, y, x + size, y + size, (255, 255, 255, 190))


def _sea(pen: Pen, rng: Random) -> None:
    _clouds(pen, rng, 3, 0.36)
    shallow, deep = (150, 216, 222), (92, 178, 200)
    for row in range(14):
        pen.box(0, 0.56 + row / 14 * 0.44, 1, 0.56 + (row + 1.1) / 14 * 0.44, mix(shallow, deep, row / 13))
    pen.polygon([(0, 0.556), (1, 0.556), (1, 0.564), (0, 0.564)], (226, 246, 246, 200))
    for _ in range(12):
        x, y, width = rng.uniform(-0.05, 0.95), rng.uniform(0.6, 0.97), rng.uniform(0.05, 0.13)
        pen.box(x, y, x + width, y + 0.006, (255, 255, 255, 70), 0.003)


def _waves(pen: Pen) -> None:
    """Water in front of a boat's hull."""
    pen.ellipse(-0.06, 0.42, 1.06, 1.1, (150, 216, 222, 150))
    pen.ellipse(0.04, 0.5, 0.7, 0.72, (255, 255, 255, 120))


def _room(pen: Pen, rng: Random) -> None:
    for number in range(0, 18, 2):  # wallpaper
        pen.box(number / 18, 0, (number + 1) / 18, 0.68, (255, 255, 255, 60))
    floor = rng.choice([(222, 190, 156), (206, 178, 150), (214, 186, 166)])
    pen.box(0, 0.7, 1, 1, floor)
    for y in (0.76, 0.83, 0.91):
        pen.box(0, y, 1, y + 0.004, dark(floor, 0.14))
        for _ in range(3):
            x = rng.random()
            pen.box(x, y - 0.07, x + 0.003, y, dark(floor, 0.1))
    pen.box(0, 0.675, 1, 0.702, light(floor, 0.65))


def _kitchen(pen: Pen, rng: Random) -> None:
    for number in range(6):
        pen.box(number / 6, 0, number / 6 + 0.004, 0.68, (255, 255, 255, 90))
        pen.box(0, number * 0.14, 1, number * 0.14 + 0.004, (255, 255, 255, 90))
    wood = rng.choice([(206, 164, 122), (190, 148, 112), (218, 180, 138)])
    pen.box(0, 0.68, 1, 1, wood)
    pen.box(0, 0.68, 1, 0.69, light(wood, 0.35))
    for _ in range(9):
        x, y = rng.uniform(-0.2, 0.9), rng.uniform(0.71, 0.99)
        pen.box(x, y, x + rng.uniform(0.1, 0.4), y + 0.003, dark(wood, 0.1))


BEHIND = {"meadow": _meadow, "snow": _snow, "sea": _sea, "room": _room, "kitchen": _kitchen}
