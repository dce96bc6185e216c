"""Images whose parts change places."""

import numpy as np
import pytest
from PIL import Image

from benchmarks.construction.image_order import GRIDS, permutation, shuffled


def numbered(width: int, height: int) -> Image.Image:
    """Every pixel of another colour."""
    places = np.arange(width * height).reshape(height, width)
    return Image.fromarray(np.stack([places // 256, places % 256, places * 0], -1).astype(np.uint8))


def parts(image: Image.Image, name: str) -> list[bytes]:
    """Of an image that divides evenly, row by row."""
    rows, columns = GRIDS[name]
    pixels = np.asarray(image)
    return [part.tobytes() for row in np.split(pixels, rows) for part in np.split(row, columns, 1)]


@pytest.mark.parametrize("name", GRIDS)
def test_the_parts_are_the_same_in_the_order_that_was_drawn(name):
    image, order = numbered(24, 12), permutation(name, "key", 3)
    made = shuffled(image, name, order)
    assert made.size == image.size and made.mode == image.mode
    assert parts(made, name) == [parts(image, name)[part] for part in order]


def test_four_rows_by_hand():
    image = Image.fromarray(np.arange(8, dtype=np.uint8).reshape(4, 2))
    assert np.asarray(shuffled(image, "rows", (2, 0, 3, 1))).tolist() == [[4, 5], [0, 1], [6, 7], [2, 3]]
    assert np.asarray(shuffled(image.transpose(Image.Transpose.TRANSPOSE), "columns", (3, 2, 1, 0))).tolist() == [
        [6, 4, 2, 0],
        [7, 5, 3, 1],
    ]


@pytest.mark.parametrize(("name", "size"), [("rows", (7, 8)), ("columns", (4, 11)), ("patches", (6, 9))])
def test_parts_have_equal_size(name, size):
    made = shuffled(numbered(7, 11), name, permutation(name, "key", 0))
    assert made.size == size
    assert len(np.unique(np.asarray(made).reshape(-1, 3), axis=0)) == size[0] * size[1]


@pytest.mark.parametrize("name", GRIDS)
def test_an_order_changes_something_and_is_that_of_its_seed_and_key(name):
    same = tuple(range(GRIDS[name][0] * GRIDS[name][1]))
    drawn = {(seed, key): permutation(name, key, seed) for seed in range(50) for key in "abc"}
    assert all(sorted(one) == list(same) and one != same for one in drawn.values())
    assert len({*drawn.values()}) > 15
    assert permutation(name, "a", 7) == drawn[7, "a"]


@pytest.mark.parametrize(("name", "size"), [("rows", (9, 3)), ("columns", (3, 9)), ("patches", (2, 9))])
def test_an_image_too_small_to_be_divided_stays(name, size):
    image = numbered(*size)
    assert shuffled(image, name, permutation(name, "key", 0)) is image
