"""ARO's image perturbations (§3.1, Table 4): rows, columns or patches of equal size are permuted. Pure."""

from random import Random

from PIL import Image

GRIDS = {"rows": (4, 1), "columns": (1, 4), "patches": (3, 3)}  # name of the shuffle → rows, columns


def permutation(name: str, key: str, seed: int) -> tuple[int, ...]:
    """Return which part of an image goes to each position, row by row; never the identity. `key` names the image: the
    same seed and key give the same order.
    """
    rows, columns = GRIDS[name]
    same, rng = tuple(range(rows * columns)), Random(f"{seed}/{name}/{key}")
    while (drawn := tuple(rng.sample(same, len(same)))) == same:
        pass
    return drawn


def shuffled(image: Image.Image, name: str, order: tuple[int, ...]) -> Image.Image:
    """Return the image with its parts in that order. To make parts equal, up to three pixels are cut off on the right
    and at the bottom. An image too small to divide is not changed.
    """
    rows, columns = GRIDS[name]
    width, height = image.width // columns, image.height // rows
    if not width or not height:
        return image
    made = Image.new(image.mode, (width * columns, height * rows))
    for place, part in enumerate(order):
        left, top = part % columns * width, part // columns * height
        made.paste(
            image.crop((left, top, left + width, top + height)), (place % columns * width, place // columns * height)
        )
    return made
