"""Draws that anyone can repeat: hashes instead of random numbers. Pure."""

import hashlib

SPAN = 1 << 62  # ranks are below, so that a bigint of PostgreSQL holds them


def random_rank(*parts: object) -> int:
    """Return a rank determined only by the parts."""
    text = "/".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 2
