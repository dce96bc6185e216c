"""Random draws that anyone can repeat: hashes instead of random numbers. Pure."""

import hashlib

SPAN = 1 << 62  # ranks are smaller, to fit in a PostgreSQL bigint


def random_rank(*parts: object) -> int:
    """Return a rank determined only by these parts."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 2
