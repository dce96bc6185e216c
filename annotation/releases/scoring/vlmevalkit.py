"""A table of a split's questions for VLMEvalKit, with the columns of its benchmarks with options. Pure.

Each question has two rows, with its options in both orders. An image is in `image` as base64, several are a list; an
image that an earlier row had is given by that row's `index`. Questions without an image are left out.
"""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from annotation.releases.schema import SETTINGS
from annotation.releases.scoring.released import prompts
from annotation.releases.scoring.released.images import open_images
from annotation.releases.scoring.released.items import Release
from benchmarks.formats.csv_text import row
from benchmarks.predictions.choices import LETTERS

FOLDER = "vlmevalkit"


def table_name(split: str) -> str:
    return f"{FOLDER}/{split}.tsv"


def rows(folder: Path, split: str) -> Iterator[bytes]:
    """Yield the rows of a split's table, from the other files in the folder of the release."""
    release = Release(folder, split, SETTINGS)
    asked = [(one, step) for one in prompts.asked(release) if one.shown(1).roles for step in (1, -1)]
    letters = LETTERS[: max((len(one.options) for one, _ in asked), default=2)]
    names = ["index", "image", "image_path", "question", *letters, "answer", "category", "l2-category", "split"]
    yield _line([*names, "id", "asked"])
    read = open_images(release) if asked else None
    rows_with: dict[tuple[str, ...], int] = {}
    for index, (one, step) in enumerate(asked):
        shown, item = one.shown(step), release.items[one.place]
        images = tuple(one.images[role] for role in shown.roles)
        first = rows_with.setdefault(images, index)
        coded = [b64encode(read(sha256)).decode() for sha256 in images] if read and first == index else []
        types = [part for part in (item["type"], item["subtype"]) if part] or ["all"]
        yield _line([
            index,
            _one_or_list(coded) if coded else first,
            _one_or_list([f"{sha256}.png" for sha256 in images]),
            "\n".join(shown.question),
            *(shown.options[place] if place < len(shown.options) else None for place in range(len(letters))),
            LETTERS[one.options[::step].index(one.right)],
            " ".join(types), types[0], split, item["id"], one.question,
        ])  # fmt: skip


def _one_or_list(values: list[str]) -> str:
    return values[0] if len(values) == 1 else repr(values)


def _line(cells: list[object]) -> bytes:
    return row(cells, safe=False, separator="\t").encode()
