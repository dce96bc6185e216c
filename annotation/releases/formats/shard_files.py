"""What the files of a release in WebDataset are called, and the entries in its tars. Pure."""

from collections.abc import Mapping

FOLDER = "webdataset"
SHOWN, SAID = "image:positive", "caption:positive"
TYPE = f"{FOLDER}/dataset_type.txt", b"retrieval\n"


def shard_name(split: str, number: int) -> str:
    """As clip_benchmark counts them."""
    return f"{FOLDER}/{split}/{number}.tar"


def lists(shards: Mapping[str, int]) -> dict[str, bytes]:
    """What clip_benchmark reads beside so many tars of each split, by name."""
    return {f"{FOLDER}/{split}/nshards.txt": f"{count}\n".encode() for split, count in shards.items()} | dict([TYPE])


def image_entry(columns: Mapping[str, str], column: str, path: str) -> str:
    """The rest of an image's entry after the key."""
    ending = path.rpartition(".")[2]
    return ending if columns.get(column) == SHOWN else f"{column}.{ending}"


def caption_of(columns: Mapping[str, str], cells: Mapping[str, object]) -> str:
    """The positive caption in one line, since lines are taken for several captions; empty if there is none."""
    return next((" ".join(str(cells[name] or "").splitlines()) for name, part in columns.items() if part == SAID), "")
