"""The parts of the demo's pictures: a sprite for each kind of thing and a backdrop for each setting.

Shapes are drawn one over the other, each written as `form fill points`. Points are in hundredths of the sprite's or the
picture's box, from its top left corner.

- Forms: `oval` and `box` have two corners, a box also a radius; `dome` is the upper half of an oval; `poly` has
  corners; `curve` runs smoothly through its points; `line` ends with its width. Radius and width are hundredths of the
  sprite's width.
- Fills: `c` is the colour of the thing or of the ground; others are names below or CSS colours. `+30` mixes in 30 %
  white, `-30` as much shadow.
- `*3 20,0` at the end draws the shape three times, each 20 hundredths further to the right.
"""

from dataclasses import dataclass

Range = tuple[float, float]

FILLS = {
    "red": "#de3e38", "orange": "#f48925", "yellow": "#face38", "green": "#3a9e58", "blue": "#2d6cd2",
    "purple": "#8452be", "pink": "#f58cb2", "wood": "#b07e52", "bark": "#5c4234", "cream": "#faf0de",
    "night": "#3a3e54", "glass": "#b0d8f0", "string": "#6e6e82", "shine": "#ffffff5a", "shade": "#281e462e",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sprite:
    """`width` and `height` are shares of the picture's side; `front` covers what is in, or before, the thing."""

    width: float
    height: float
    shapes: str
    front: str = ""


SPRITES = {
    "ball": Sprite(0.19, 0.19, """oval c-25 0,0 100,100; oval c 0,0 95,94; oval shine 18,10 46,30
        curve c+75 6,36 50,47 92,30 94.5,45 50,63 2,52"""),
    "balloon": Sprite(0.16, 0.27, """line string 50,72 46,80 54,90 49,100 3; poly c-22 50,66 40,76 60,76
        curve c 50,0 94,20 90,46 50,72 10,46 6,20; curve shine 26,14 42,7 36,20 20,34
        curve c-14 72,8 94,24 86,48 52,71 74,48 82,26"""),
    "basket": Sprite(0.32, 0.22, "oval c-50 2,2 98,34", """
        curve c 1,18 25,30 50,34 75,30 99,18 90,90 80,100 20,100 10,90
        box c-20 13,44 19,51 2 *9 8.5,0; box c-20 17,59 23,66 2 *8 8.5,0
        box c-20 13,74 19,81 2 *9 8.5,0; box c-20 17,89 23,96 2 *8 8.5,0
        curve c+25 1,15 25,28 50,32 75,28 99,15 98,27 75,41 50,45 25,41 2,27"""),
    "bird": Sprite(0.21, 0.15, """poly c-20 30,60 0,42 3,72 26,82; curve c 16,66 46,40 82,26 92,50 76,82 44,96
        oval c 62,12 93,58; poly #f4a032 90,28 100,40 90,47; curve c+65 50,86 74,60 84,66 74,84 52,94
        poly c-30 64,58 46,56 22,0 44,10 62,34; oval white 77,25 84,36; oval night 79,27 84,35"""),
    "boat": Sprite(0.33, 0.31, """box bark 50,2 53,78; curve white 48,2 48,36 48,66 30,66.5 6,66 26,40
        poly #eceef2 55,12 92,66 55,66; poly c 55,40 74,40 83,53 55,53
        curve c 0,72 50,74.5 100,72 95,83 82,98 50,100 18,98 5,83
        poly c+70 2,77 98,77 96,82 4,82; poly shade 10,91 90,91 82,100 18,100""",
        "oval #96d8e296 -6,97 106,108; oval #ffffff78 4,98 70,102"),
    "box": Sprite(0.22, 0.20, """poly c+38 0,26 22,0 100,0 80,26; poly c-34 80,26 100,0 100,76 80,100
        box c 0,26 80,100 1; poly c+30 33,26 47,26 47,100 33,100; poly c+62 33,26 47,26 68,0 55,0"""),
    "car": Sprite(0.36, 0.19, """curve c 20,44 30,8 42,0 64,2 76,14 86,44 50,50; poly glass 29,40 35,14 50,12 50,40
        poly glass 55,12 67,14 77,40 55,40; box c 0,38 100,82 7; box c-24 0,66 100,82 4; oval #fff0b4 92,44 99,58
        oval #34343e 13,60 34,100 *2 53,0; oval #ced0d6 19,71.5 28,88.5 *2 53,0; box c-35 57,48 66,52 1"""),
    "clock": Sprite(0.19, 0.19, """oval c-16 0,0 100,100; oval c 0,0 97.5,97; oval cream 15,15 85,85
        oval c 47,19 53,25 *2 0,56; oval c 19,47 25,53 *2 56,0
        line night 50,50 50,28 4.5; line night 50,50 66,58 5.5; oval night 46,46 54,54"""),
    "cup": Sprite(0.21, 0.16, """oval c-12 60,20 100,76; oval cream 68,31 91,65
        curve c 2,8 40,12 78,8 77,50 68,90 58,100 22,100 12,90 3,50; oval c+40 2,0 78,20
        oval #704830 7,3.5 73,18.5; curve shine 13,30 20,30 24,70 19,76"""),
    "fish": Sprite(0.23, 0.14, """curve c-16 26,50 2,12 0,30 7,50 0,72 2,90; curve c-16 40,24 52,0 72,6 74,24
        curve c 18,50 42,17 72,13 94,36 100,52 92,68 70,90 42,84; curve c+60 40,80 66,72 95,62 72,89
        curve c+50 42,24 48,24 51,50 48,76 42,76 46,50 *2 13,0; oval white 80,32 89,47; oval night 83,35 88.5,45"""),
    "house": Sprite(0.33, 0.36, """box c-65 70,8 81,34; box c 10,36 90,100
        poly shade 90,42 90,100 76,100 76,42; box shade 10,42 90,47; poly c-57 50,0 100,42 0,42
        poly c-42 50,0 56,5 14,42 0,42; box white 19,54 39,72 2 *2 41,0; box glass 21.5,56 36.5,70 *2 41,0
        box white 28,56 30,70 *2 41,0; box bark 41,68 58,100 3; oval #f0d278 53,83 56,86"""),
    "kite": Sprite(0.19, 0.26, """line string 50,70 60,78 46,86 58,93 50,100 3
        poly c-20 47,75 65,81 65,75 47,81; poly c-20 41,84 59,90 59,84 41,90; poly c-20 46,91 64,97 64,91 46,97
        poly c 50,0 100,30 50,72 0,30; poly c+35 50,0 100,30 50,30; poly c-16 50,72 0,30 50,30"""),
    "lamp": Sprite(0.21, 0.31, """oval wood-40 20,91 80,100; box wood-25 46,46 54,95; oval #fff4be 36,42 64,58
        poly c 27,0 73,0 100,50 0,50; poly shade 64,0 73,0 100,50 78,50; poly shine 33,5 42,5 28,45 14,45
        box c+45 0,47 100,53 2"""),
    "star": Sprite(0.18, 0.18, """poly c 50,1 64,34 98,37 72,60 79,95 50,77 21,95 28,60 2,37 36,34
        poly c+24 50,53 50,1 64,34; poly c+24 50,53 98,37 72,60; poly c+24 50,53 79,95 50,77
        poly c+24 50,53 21,95 28,60; poly c+24 50,53 2,37 36,34; poly c-8 50,53 36,34 50,1"""),
    "table": Sprite(0.50, 0.29, """box c-30 9,18 16,100 1 *2 75,0; box c-18 6,16 94,28
        poly c+25 7,0 93,0 100,14 0,14; box c 0,14 100,20 1"""),
    "tent": Sprite(0.35, 0.27, """poly c-22 36,3 74,10 100,100 68,100; poly c 36,3 74,100 0,100
        poly bark 36,28 54,100 20,100; poly c+45 36,28 20,100 12,100; poly c+45 36,28 54,100 62,100
        poly bark 36,3 34,0 40,0"""),
    "tree": Sprite(0.28, 0.38, """poly #865e42 44,50 56,50 61,100 39,100; poly shade 52,60 56,60 61,100 54,100
        curve c-20 50,0 80,10 98,32 94,56 70,70 32,71 6,57 2,32 20,10
        curve c 46,0 74,8 90,30 84,52 60,62 28,64 4,52 3,30 20,9; oval c+20 20,18 40,32
        oval c+20 48,10 70,26; oval c+20 30,38 50,52; oval c+20 60,36 78,49"""),
    "umbrella": Sprite(0.31, 0.31, """line bark 50,0 50,88 51,93 54,97 58,98.5 62,97 65,93 66,88 3.5
        dome c 0,5 100,103; dome c+42 30,5 70,103; curve shade 98,51 92,30 76,13 55,7 69,17 80,32 84,51
        oval c-30 0,50 30,58 *2 70,0; oval c-30 30,50 70,58"""),
    "vase": Sprite(0.17, 0.27, """line #549a5c 50,50 30,14 3.5; line #549a5c 50,50 50,6 3.5
        line #549a5c 50,50 72,14 3.5; oval white 13,4.5 39,21 *2 48,0; oval white 37,0 63,16.5
        oval #f2c85a 21,10 31,16 *2 48,0; oval #f2c85a 45,5 55,11
        curve c 33,40 50,41 67,40 64,50 95,70 80,94 66,100 34,100 20,94 5,70 36,50; oval c-35 30,37 70,43
        curve c+55 8,68 50,74 92,68 91,77 50,83 9,77; curve shine 22,60 30,56 26,82 19,84"""),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scatter:
    """Shapes drawn `count` times, at places and in sizes that are random within the ranges."""

    shapes: str
    x: Range = (0, 0)
    y: Range = (0, 0)
    size: Range = (1, 1)
    count: int = 1


@dataclass(frozen=True, slots=True)
class Backdrop:
    """`skies` are colours at the top and at the horizon, `grounds` are colours of the ground: one of each is drawn."""

    skies: tuple[str, ...]
    grounds: tuple[str, ...]
    layers: tuple[Scatter, ...]


HILL = "-80,3 -50,-2 -20,3 8,0 30,-3 55,1 80,3 105,-2 130,1 160,-3 190,3 190,99 -80,99"
WIDE = (-0.8, 0.8)
CLOUDS = Scatter(
    "oval #fff7 0,3 22,8; oval #fff7 4,0 13,7; oval #fff7 9,1 18,7", (-0.1, 0.95), (0.03, 0.38), (0.6, 1.1), 3
)

BACKDROPS = {
    "meadow": Backdrop(
        ("#96cef0 #e2f2fa", "#88c4ec #fcecd6", "#aad8ec #f0f8f4"), ("#b0d896", "#bedc92", "#a8d4a4"), (
            CLOUDS, Scatter(f"curve c+30 {HILL}; curve #c4e0e866 {HILL}", WIDE, (0.58, 0.61)),
            Scatter(f"curve c+12 {HILL}", WIDE, (0.65, 0.67)), Scatter(f"curve c {HILL}", WIDE, (0.73, 0.75)),
            Scatter("line c-16 0,1.6 .6,0 .4; line c-16 .8,1.6 1.4,.4 .4", (0, 1), (0.78, 0.98), count=26))),
    "snow": Backdrop(
        ("#a6b4e2 #fae0e2", "#96bee2 #eaf0fa", "#b8b2de #fce8d6"), ("#f6f8fd",), (
            Scatter(f"curve #ced6ee {HILL}", WIDE, (0.56, 0.6)), Scatter(f"curve #e2e8f6 {HILL}", WIDE, (0.65, 0.67)),
            Scatter(f"curve c {HILL}", WIDE, (0.73, 0.75)),
            Scatter("oval #fffb 0,0 1,1", (0, 1), (0, 0.7), (0.3, 0.7), 46))),
    "sea": Backdrop(
        ("#9ed4f0 #ecf6fa", "#aad0ec #fee8d2"), ("#96d8de",), (
            CLOUDS,
            Scatter("box c 0,56 100,100; box #50aac822 0,57 100,140 *13 0,3.3; box #e2f6f6c8 0,55.6 100,56.4"),
            Scatter("box #ffffff46 0,0 9,.6 .3", (-0.05, 0.95), (0.6, 0.97), (0.5, 1.4), 12))),
    "room": Backdrop(
        ("#eee2d0 #f6ecdc", "#d6e4e2 #e4eeea", "#e8deea #f2eaf2"), ("#debe9c", "#ceb296", "#d6baa6"), (
            Scatter("""box #ffffff3c 0,0 5.6,68 *14 11.2,0; box c 0,70 150,100
                box c-14 0,76 150,76.4; box c-14 0,83 150,83.4; box c-14 0,91 150,91.4
                box c-10 11,70 11.3,76 *5 31,0; box c-10 25,76 25.3,83 *4 38,0; box c-10 4,83 4.3,91 *5 33,0
                box c-10 19,91 19.3,100 *4 36,0; box c+65 0,67.5 150,70.2""", (-0.4, 0)),)),
    "kitchen": Backdrop(
        ("#e0ecee #ecf4f4", "#f8ecd8 #fcf4e6", "#e2eada #eef2e6"), ("#cea47a", "#be9470", "#dab48a"), (
            Scatter("""box #fff6 0,0 .4,68 *7 16.7,0; box #fff6 0,0 117,.4 *5 0,14; box c 0,68 117,100
                box c+35 0,68 117,69""", (-0.16, 0)),
            Scatter("box c-10 0,0 25,.3", (-0.2, 0.9), (0.71, 0.99), (0.5, 1.5), 9))),
}  # fmt: skip
