"""How each kind of thing looks: a function each, drawing with a pen in the thing's own box. Pure."""

from collections.abc import Callable

from benchmarks.demo.pen import CREAM, DARK, NIGHT, WHITE, WOOD, Colour, Pen, dark, light, mix, star_points

SHINE = (255, 255, 255, 90)
SHADE = (40, 30, 70, 46)


def ball(pen: Pen, colour: Colour) -> None:
    pen.ellipse(0, 0, 1, 1, dark(colour, 0.25))
    pen.ellipse(0.0, 0.0, 0.95, 0.94, colour)
    pen.smooth([(0.06, 0.36), (0.5, 0.47), (0.92, 0.3), (0.945, 0.45), (0.5, 0.63), (0.02, 0.52)], light(colour, 0.75))
    pen.ellipse(0.18, 0.1, 0.46, 0.3, SHINE)


def balloon(pen: Pen, colour: Colour) -> None:
    pen.line([(0.5, 0.72), (0.46, 0.8), (0.54, 0.9), (0.49, 1.0)], (110, 110, 130), 0.03)
    pen.polygon([(0.5, 0.66), (0.4, 0.76), (0.6, 0.76)], dark(colour))
    pen.smooth([(0.5, 0), (0.94, 0.2), (0.9, 0.46), (0.5, 0.72), (0.1, 0.46), (0.06, 0.2)], colour)
    pen.smooth([(0.72, 0.08), (0.94, 0.24), (0.86, 0.48), (0.52, 0.71), (0.74, 0.48), (0.82, 0.26)], dark(colour, 0.14))
    pen.smooth([(0.26, 0.14), (0.42, 0.07), (0.36, 0.2), (0.2, 0.34)], SHINE)


def basket(pen: Pen, colour: Colour) -> None:
    """What is behind the things inside: the far rim."""
    pen.ellipse(0.02, 0.02, 0.98, 0.34, dark(colour, 0.5))


def basket_front(pen: Pen, colour: Colour) -> None:
    outline = [
        (0.01, 0.18), (0.25, 0.3), (0.5, 0.34), (0.75, 0.3), (0.99, 0.18), (0.9, 0.9), (0.8, 1.0), (0.2, 1.0),
        (0.1, 0.9),
    ]  # fmt: skip
    pen.smooth(outline, colour)
    for row in range(4):
        y = 0.44 + 0.15 * row
        for column in range(9):
            x = 0.13 + 0.085 * column + (0.042 if row % 2 else 0)
            if x < 0.84:
                pen.box(x, y, x + 0.06, y + 0.07, dark(colour, 0.2), 0.02)
    outline = [
        (0.01, 0.15), (0.25, 0.28), (0.5, 0.32), (0.75, 0.28), (0.99, 0.15), (0.98, 0.27), (0.75, 0.41),
        (0.5, 0.45), (0.25, 0.41), (0.02, 0.27),
    ]  # fmt: skip
    pen.smooth(outline, light(colour, 0.25))


def bird(pen: Pen, colour: Colour) -> None:
    pen.polygon([(0.3, 0.6), (0.0, 0.42), (0.03, 0.72), (0.26, 0.82)], dark(colour, 0.2))
    pen.smooth([(0.16, 0.66), (0.46, 0.4), (0.82, 0.26), (0.92, 0.5), (0.76, 0.82), (0.44, 0.96)], colour)
    pen.ellipse(0.62, 0.12, 0.93, 0.58, colour)
    pen.polygon([(0.9, 0.28), (1.0, 0.4), (0.9, 0.47)], (244, 160, 50))
    pen.smooth([(0.5, 0.86), (0.74, 0.6), (0.84, 0.66), (0.74, 0.84), (0.52, 0.94)], light(colour, 0.65))
    pen.polygon([(0.64, 0.58), (0.46, 0.56), (0.22, 0.0), (0.44, 0.1), (0.62, 0.34)], dark(colour, 0.3))
    pen.ellipse(0.77, 0.25, 0.84, 0.36, WHITE)
    pen.ellipse(0.79, 0.27, 0.84, 0.35, NIGHT)


def boat(pen: Pen, colour: Colour) -> None:
    pen.box(0.5, 0.02, 0.53, 0.78, DARK)
    pen.smooth([(0.48, 0.02), (0.48, 0.36), (0.48, 0.66), (0.3, 0.665), (0.06, 0.66), (0.26, 0.4)], WHITE)
    pen.polygon([(0.55, 0.12), (0.92, 0.66), (0.55, 0.66)], (236, 238, 242))
    pen.polygon([(0.55, 0.4), (0.74, 0.4), (0.83, 0.53), (0.55, 0.53)], colour)
    outline = [
        (0.0, 0.72), (0.5, 0.745), (1.0, 0.72), (0.95, 0.83), (0.82, 0.98), (0.5, 1.0), (0.18, 0.98),
        (0.05, 0.83),
    ]  # fmt: skip
    pen.smooth(outline, colour)
    pen.polygon([(0.02, 0.77), (0.98, 0.77), (0.96, 0.82), (0.04, 0.82)], light(colour, 0.7))
    pen.polygon([(0.1, 0.91), (0.9, 0.91), (0.82, 1.0), (0.18, 1.0)], SHADE)


def house(pen: Pen, colour: Colour) -> None:
    roof = mix(colour, (70, 56, 72), 0.62)
    pen.box(0.7, 0.08, 0.81, 0.34, dark(roof, 0.2))
    pen.box(0.1, 0.36, 0.9, 1.0, colour)
    pen.polygon([(0.9, 0.42), (0.9, 1.0), (0.76, 1.0), (0.76, 0.42)], SHADE)
    pen.polygon([(0.1, 0.42), (0.9, 0.42), (0.9, 0.47), (0.1, 0.47)], SHADE)
    pen.polygon([(0.5, 0.0), (1.0, 0.42), (0.0, 0.42)], roof)
    pen.polygon([(0.5, 0.0), (0.56, 0.05), (0.14, 0.42), (0.0, 0.42)], light(roof, 0.16))
    for x in (0.19, 0.6):
        pen.box(x, 0.54, x + 0.2, 0.72, WHITE, 0.02)
        pen.box(x + 0.025, 0.56, x + 0.175, 0.7, (158, 208, 236))
        pen.polygon([(x + 0.09, 0.56), (x + 0.11, 0.56), (x + 0.11, 0.7), (x + 0.09, 0.7)], WHITE)
    pen.box(0.41, 0.68, 0.58, 1.0, DARK, 0.03)
    pen.ellipse(0.53, 0.83, 0.56, 0.86, (240, 210, 120))


def box(pen: Pen, colour: Colour) -> None:
    pen.polygon([(0.0, 0.26), (0.22, 0.0), (1.0, 0.0), (0.8, 0.26)], light(colour, 0.38))
    pen.polygon([(0.8, 0.26), (1.0, 0.0), (1.0, 0.76), (0.8, 1.0)], dark(colour, 0.34))
    pen.box(0.0, 0.26, 0.8, 1.0, colour, 0.015)
    pen.polygon([(0.33, 0.26), (0.47, 0.26), (0.47, 1.0), (0.33, 1.0)], light(colour, 0.3))
    pen.polygon([(0.33, 0.26), (0.47, 0.26), (0.68, 0.0), (0.55, 0.0)], light(colour, 0.62))


def car(pen: Pen, colour: Colour) -> None:
    pen.smooth([(0.2, 0.44), (0.3, 0.08), (0.42, 0.0), (0.64, 0.02), (0.76, 0.14), (0.86, 0.44), (0.5, 0.5)], colour)
    pen.polygon([(0.29, 0.4), (0.35, 0.14), (0.5, 0.12), (0.5, 0.4)], (196, 228, 244))
    pen.polygon([(0.55, 0.12), (0.67, 0.14), (0.77, 0.4), (0.55, 0.4)], (196, 228, 244))
    pen.box(0.0, 0.38, 1.0, 0.82, colour, 0.07)
    pen.box(0.0, 0.66, 1.0, 0.82, dark(colour, 0.24), 0.04)
    pen.ellipse(0.92, 0.44, 0.99, 0.58, (255, 240, 180))
    for x in (0.13, 0.66):
        pen.ellipse(x, 0.6, x + 0.21, 1.0, (52, 52, 62))
        pen.ellipse(x + 0.06, 0.715, x + 0.15, 0.885, (206, 208, 214))
    pen.box(0.57, 0.48, 0.66, 0.52, dark(colour, 0.35), 0.01)


def clock(pen: Pen, colour: Colour) -> None:
    pen.ellipse(0, 0, 1, 1, dark(colour, 0.16))
    pen.ellipse(0.0, 0.0, 0.975, 0.97, colour)
    pen.ellipse(0.15, 0.15, 0.85, 0.85, CREAM)
    for x, y in ((0.5, 0.22), (0.78, 0.5), (0.5, 0.78), (0.22, 0.5)):
        pen.ellipse(x - 0.03, y - 0.03, x + 0.03, y + 0.03, colour)
    pen.line([(0.5, 0.5), (0.5, 0.28)], NIGHT, 0.045)
    pen.line([(0.5, 0.5), (0.66, 0.58)], NIGHT, 0.055)
    pen.ellipse(0.46, 0.46, 0.54, 0.54, NIGHT)


def cup(pen: Pen, colour: Colour) -> None:
    pen.ellipse(0.6, 0.2, 1.0, 0.76, dark(colour, 0.12))
    pen.ellipse(0.68, 0.31, 0.91, 0.65, CREAM)
    outline = [
        (0.02, 0.08), (0.4, 0.12), (0.78, 0.08), (0.77, 0.5), (0.68, 0.9), (0.58, 1.0), (0.22, 1.0),
        (0.12, 0.9), (0.03, 0.5),
    ]  # fmt: skip
    pen.smooth(outline, colour)
    pen.ellipse(0.02, 0.0, 0.78, 0.2, light(colour, 0.4))
    pen.ellipse(0.07, 0.035, 0.73, 0.185, (112, 72, 48))
    pen.smooth([(0.13, 0.3), (0.2, 0.3), (0.24, 0.7), (0.19, 0.76)], SHINE)


def fish(pen: Pen, colour: Colour) -> None:
    pen.smooth([(0.26, 0.5), (0.02, 0.12), (0.0, 0.3), (0.07, 0.5), (0.0, 0.72), (0.02, 0.9)], dark(colour, 0.16))
    pen.smooth([(0.4, 0.24), (0.52, 0.0), (0.72, 0.06), (0.74, 0.24)], dark(colour, 0.16))
    outline = [
        (0.18, 0.5), (0.42, 0.17), (0.72, 0.13), (0.94, 0.36), (1.0, 0.52), (0.92, 0.68), (0.7, 0.9),
        (0.42, 0.84),
    ]  # fmt: skip
    pen.smooth(outline, colour)
    pen.smooth([(0.4, 0.8), (0.66, 0.72), (0.95, 0.62), (0.72, 0.89)], light(colour, 0.6))
    for x in (0.42, 0.55):
        outline = [
        (x, 0.24), (x + 0.06, 0.24), (x + 0.09, 0.5), (x + 0.06, 0.76), (x, 0.76), (x + 0.04, 0.5),
    ]  # fmt: skip
    pen.smooth(outline, light(colour, 0.5))
    pen.ellipse(0.8, 0.32, 0.89, 0.47, WHITE)
    pen.ellipse(0.83, 0.35, 0.885, 0.45, NIGHT)


def kite(pen: Pen, colour: Colour) -> None:
    pen.line([(0.5, 0.7), (0.6, 0.78), (0.46, 0.86), (0.58, 0.93), (0.5, 1.0)], (110, 110, 130), 0.03)
    for x, y in ((0.56, 0.78), (0.5, 0.87), (0.55, 0.94)):
        pen.polygon([(x - 0.09, y - 0.03), (x, y), (x - 0.09, y + 0.03)], dark(colour, 0.2))
        pen.polygon([(x + 0.09, y - 0.03), (x, y), (x + 0.09, y + 0.03)], dark(colour, 0.2))
    pen.polygon([(0.5, 0.0), (1.0, 0.3), (0.5, 0.72), (0.0, 0.3)], colour)
    pen.polygon([(0.5, 0.0), (1.0, 0.3), (0.5, 0.3)], light(colour, 0.35))
    pen.polygon([(0.5, 0.72), (0.0, 0.3), (0.5, 0.3)], dark(colour, 0.16))


def lamp(pen: Pen, colour: Colour) -> None:
    pen.ellipse(0.2, 0.91, 0.8, 1.0, dark(WOOD, 0.4))
    pen.box(0.46, 0.46, 0.54, 0.95, dark(WOOD, 0.25))
    pen.ellipse(0.36, 0.42, 0.64, 0.58, (255, 244, 190))
    pen.polygon([(0.27, 0.0), (0.73, 0.0), (1.0, 0.5), (0.0, 0.5)], colour)
    pen.polygon([(0.64, 0.0), (0.73, 0.0), (1.0, 0.5), (0.78, 0.5)], SHADE)
    pen.polygon([(0.33, 0.05), (0.42, 0.05), (0.28, 0.45), (0.14, 0.45)], SHINE)
    pen.box(0.0, 0.47, 1.0, 0.53, light(colour, 0.45), 0.02)


def star(pen: Pen, colour: Colour) -> None:
    points = star_points()
    pen.polygon(points, colour)
    for tip in range(0, 10, 2):
        pen.polygon([(0.5, 0.53), points[tip], points[(tip + 1) % 10]], light(colour, 0.24))
    pen.polygon([(0.5, 0.53), points[9], points[0]], dark(colour, 0.08))


def table(pen: Pen, colour: Colour) -> None:
    for x in (0.09, 0.84):
        pen.box(x, 0.18, x + 0.07, 1.0, dark(colour, 0.3), 0.01)
    pen.box(0.06, 0.16, 0.94, 0.28, dark(colour, 0.18))
    pen.polygon([(0.07, 0.0), (0.93, 0.0), (1.0, 0.14), (0.0, 0.14)], light(colour, 0.25))
    pen.box(0.0, 0.14, 1.0, 0.2, colour, 0.01)


def tent(pen: Pen, colour: Colour) -> None:
    pen.polygon([(0.36, 0.03), (0.74, 0.1), (1.0, 1.0), (0.68, 1.0)], dark(colour, 0.22))
    pen.polygon([(0.36, 0.03), (0.74, 1.0), (0.0, 1.0)], colour)
    pen.polygon([(0.36, 0.28), (0.54, 1.0), (0.2, 1.0)], DARK)
    pen.polygon([(0.36, 0.28), (0.2, 1.0), (0.12, 1.0)], light(colour, 0.45))
    pen.polygon([(0.36, 0.28), (0.54, 1.0), (0.62, 1.0)], light(colour, 0.45))
    pen.polygon([(0.36, 0.03), (0.34, 0.0), (0.4, 0.0)], DARK)


def tree(pen: Pen, colour: Colour) -> None:
    pen.polygon([(0.44, 0.5), (0.56, 0.5), (0.61, 1.0), (0.39, 1.0)], (134, 94, 66))
    pen.polygon([(0.52, 0.6), (0.56, 0.6), (0.61, 1.0), (0.54, 1.0)], SHADE)
    outline = [
        (0.5, 0.0), (0.8, 0.1), (0.98, 0.32), (0.94, 0.56), (0.7, 0.7), (0.32, 0.71), (0.06, 0.57),
        (0.02, 0.32), (0.2, 0.1),
    ]  # fmt: skip
    pen.smooth(outline, dark(colour, 0.2))
    outline = [
        (0.46, 0.0), (0.74, 0.08), (0.9, 0.3), (0.84, 0.52), (0.6, 0.62), (0.28, 0.64), (0.04, 0.52),
        (0.03, 0.3), (0.2, 0.09),
    ]  # fmt: skip
    pen.smooth(outline, colour)
    for x, y, size in ((0.2, 0.18, 0.2), (0.48, 0.1, 0.22), (0.3, 0.38, 0.2), (0.6, 0.36, 0.18)):
        pen.ellipse(x, y, x + size, y + size * 0.72, light(colour, 0.2))


def umbrella(pen: Pen, colour: Colour) -> None:
    pen.box(0.48, 0.1, 0.52, 0.88, DARK)
    pen.slice(0.48, 0.76, 0.68, 1.0, 0, 180, DARK)
    pen.slice(0.52, 0.79, 0.64, 0.96, 0, 180, light(DARK, 0.6))
    pen.box(0.485, 0.0, 0.515, 0.1, DARK)
    pen.slice(0.0, 0.05, 1.0, 1.03, 180, 360, colour)
    pen.slice(0.3, 0.05, 0.7, 1.03, 180, 360, light(colour, 0.42))
    pen.slice(0.0, 0.05, 1.0, 1.03, 318, 360, SHADE)
    for x in (0.0, 0.3, 0.7):
        width = 0.4 if x == 0.3 else 0.3
        pen.ellipse(x, 0.5, x + width, 0.58, dark(colour, 0.3))


def vase(pen: Pen, colour: Colour) -> None:
    for x, y in ((0.3, 0.14), (0.5, 0.06), (0.72, 0.14)):
        pen.line([(0.5, 0.5), (x, y)], (84, 150, 92), 0.035)
    for x, y in ((0.26, 0.12), (0.5, 0.075), (0.74, 0.12)):
        pen.ellipse(x - 0.13, y - 0.075, x + 0.13, y + 0.09, WHITE)
        pen.ellipse(x - 0.05, y - 0.022, x + 0.05, y + 0.038, (242, 200, 90))
    outline = [
        (0.33, 0.4), (0.5, 0.41), (0.67, 0.4), (0.64, 0.5), (0.95, 0.7), (0.8, 0.94), (0.66, 1.0),
        (0.34, 1.0), (0.2, 0.94), (0.05, 0.7), (0.36, 0.5),
    ]  # fmt: skip
    pen.smooth(outline, colour)
    pen.ellipse(0.3, 0.37, 0.7, 0.43, dark(colour, 0.35))
    pen.smooth([(0.08, 0.68), (0.5, 0.74), (0.92, 0.68), (0.91, 0.77), (0.5, 0.83), (0.09, 0.77)], light(colour, 0.55))
    pen.smooth([(0.22, 0.6), (0.3, 0.56), (0.26, 0.82), (0.19, 0.84)], SHINE)


DRAW: dict[str, Callable[[Pen, Colour], None]] = {
    "ball": ball, "balloon": balloon, "basket": basket, "bird": bird, "boat": boat, "box": box, "car": car,
    "clock": clock, "cup": cup, "fish": fish, "house": house, "kite": kite, "lamp": lamp, "star": star, "table": table,
    "tent": tent, "tree": tree, "umbrella": umbrella, "vase": vase,
}  # fmt: skip
DRAW_FRONT: dict[str, Callable[[Pen, Colour], None]] = {"basket": basket_front}
