"""A PNG's chunks: those that Pillow does not need, and whether checksums are right."""

import zlib

START = b"\x89PNG\r\n\x1a\n"
TEXTS = {b"tEXt", b"zTXt", b"iTXt"}  # texts, XMP and the like
MAX_PROFILE = 2**20  # bytes of a colour profile, the most that Pillow reads from a PNG


def lean(data: bytes, notes: list[str]) -> tuple[bytes, bool]:
    """Return the PNG without its texts and without an oversized colour profile, for which Pillow would refuse it, and
    whether every chunk's checksum is right: Pillow does not check those of the pixels.

    `notes` gets a sentence about a profile that was left out.
    """
    view, start, parts, taken = memoryview(data), len(START), [], 0  # `taken`: the start of what is not yet in `parts`
    is_whole = False
    while start + 12 <= len(data) and not is_whole:
        end = start + 8 + int.from_bytes(view[start : start + 4])
        kind = view[start + 4 : start + 8].tobytes()
        if zlib.crc32(view[start + 4 : end]) != int.from_bytes(view[end : end + 4]):
            break
        is_large = kind == b"iCCP" and _unpacks_beyond(view[start + 8 : end], MAX_PROFILE)
        if is_large:
            notes.append(f"colour profile not used: it has more than {MAX_PROFILE:,} bytes")
        if is_large or kind in TEXTS:
            parts.append(view[taken:start])
            taken = end + 4
        start, is_whole = end + 4, kind == b"IEND"
    return b"".join([*parts, view[taken:]]) if parts else data, is_whole


def _unpacks_beyond(chunk: memoryview, most: int) -> bool:
    """Return whether a profile (its name, a zero, the method and compressed data) unpacks to more bytes."""
    packed = chunk.tobytes().partition(b"\0")[2][1:]
    try:
        return len(zlib.decompressobj().decompress(packed, most + 1)) > most
    except zlib.error:
        return False  # Pillow leaves it out
