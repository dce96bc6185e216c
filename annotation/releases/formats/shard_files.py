"""Names of a release's WebDataset files, and of the entries in its tars. Pure."""

from collections.abc import Mapping

FOLDER = "webdataset"
SHOWN, SAID = "image:positive", "caption:positive"
TYPE = f"{FOLDER}/dataset_type.txt", b"retrieval\n"


def shard_name(split: str, number: int) -> str:
    """Return the shard's name, numbered as clip_benchmark expects."""
    return f"{FOLDER}/{split}/{number}.tar"


def lists(shards: Mapping[str, int]) -> dict[str, bytes]:
    """Return the other files that clip_benchmark reads for a split with this many tars, by name."""
    return {f"{FOLDER}/{split}/nshards.txt": f"{count}\n".encode() for split, count in shards.items()} | dict([TYPE])


def image_entry(columns: Mapping[str, str], column: str, path: str) -> str:
    """Return the part of an image entry's name after the key."""
    ending = path.rpartition(".")[2]
    return ending if columns.get(column) == SHOWN else f"{column}.{ending}"


def caption_of(columns: Mapping[str, str], cells: Mapping[str, object]) -> str:
    """Return the positive caption on one line, since lines count as several captions; empty if there is none."""
    return next((" ".join(str(cells[name] or "").splitlines()) for name, part in columns.items() if part == SAID), "")
