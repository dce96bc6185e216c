"""What happens to files on their way: bytes change, the end is lost."""

import random


def damaged(data: bytes, rng: random.Random, first: int = 0) -> bytes:
    """The file cut off somewhere (one time in ten), or with one to eight bytes changed, of those from `first` on:
    single bits, or to bytes that mean much to readers of formats."""
    if rng.random() < 0.1:
        return data[: rng.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        place = rng.randrange(first, len(data))
        value = rng.choice((0, 0x7F, 0x80, 0xFF, ord("0"), ord("9"), rng.randrange(256)))
        changed[place] = changed[place] ^ 1 << rng.randrange(8) if rng.random() < 0.5 else value
    return bytes(changed)
