"""Bombs at a size for every day, under limits that are as much smaller. bench/bad_inputs.py has them in full."""

import zlib

from benchmarks.formats import limits as text_limits
from tests.benchmarks.bad_inputs.archives import MIB, Raw, member, zeros
from tests.benchmarks.bad_inputs.case import Cases, naming, picture, written
from tests.benchmarks.bad_inputs.images import one
from tests.benchmarks.bad_inputs.texts import PLAIN, crepe, table
from workers import limits

SCALED = Cases()
LIMITS = {
    "small_flat_bomb": {(limits, "FREE_BYTES"): MIB}, "small_tar_bomb": {(limits, "FREE_BYTES"): MIB},
    "many_entries": {(limits, "MAX_FILES"): 1000}, "many_lines": {(text_limits, "MAX_LINES"): 1000},
    "many_keys": {(text_limits, "MAX_JSON_BYTES"): 10**5}, "a_hundred_large_images": {(limits, "MAX_PIXELS"): 10**4},
    "many_rows": {(text_limits, "MAX_ROWS"): 1},
}  # fmt: skip
FULL = {
    "flat_bomb", "tar_gz_bomb", "a_million_entries", "five_gigabytes", "one_line_of_a_gigabyte", "a_million_keys",
    "many_bytes_in_blank_lines", "many_line_ends", "bomb_of_many_entries", "overlapping_bomb",
}  # fmt: skip


def scale(name: str, monkeypatch) -> None:
    """Set the limits under which the case of that name is as large as its row says."""
    for (module, limit), value in LIMITS.get(name, {}).items():
        monkeypatch.setattr(module, limit, value)


@SCALED.case(1, "ARCHIVE_TOO_LARGE")
def small_flat_bomb(folder):
    raw, size = Raw(), 16 * MIB
    data = zeros(size)
    raw.body += raw.local(b"a.jpg", size, len(data), 0) + data
    raw.list(b"a.jpg", size, len(data), 0, 0)
    return naming(folder, ["a.jpg"], raw.write(folder / "images.zip"))


@SCALED.case(1, "ARCHIVE_TOO_LARGE")
def small_tar_bomb(folder):
    header = member("zeros.bin")
    header.size = 16 * MIB
    packer = zlib.compressobj(9, wbits=31)
    data = packer.compress(header.tobuf()) + packer.compress(bytes(16 * MIB)) + packer.flush()
    return naming(folder, ["a.jpg"], written(folder, "images.tar.gz", data))


@SCALED.case(3, "TOO_MANY_FILES")
def many_entries(folder):
    raw = Raw()
    raw.body += raw.local(b"0000", 0, 0, 0)
    for number in range(1001):
        raw.list(b"%04d" % number, 0, 0, 0, 0)
    return naming(folder, ["0000"], raw.write(folder / "images.zip"))


@SCALED.case(12, "IMAGE_TOO_LARGE")
def a_hundred_large_images(folder):
    given = one(folder, b"")
    for number in range(100):
        written(folder, f"images/{number}.jpg", picture(number, size=(101, 100)))
    return naming(folder, [f"{number}.jpg" for number in range(100)], given.images)


SCALED.add(33, "TOO_MANY_ROWS", lambda folder: table(folder, PLAIN + "\n" * 1000), "many_lines")
SCALED.add(33, "TOO_MANY_ROWS", lambda folder: table(folder, PLAIN), "many_rows")
SCALED.add(33, "FILE_TOO_LARGE", lambda folder: crepe(folder, "{}" + " " * 200_000), "many_keys")
