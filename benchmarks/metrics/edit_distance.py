"""How many characters to insert, delete or replace to turn one text into another (Levenshtein 1966). Pure.

`lexical.py` has the same by rapidfuzz, a hundred times as fast. Measures of models do without that library, since a
release's `score.py` is made of them and needs numpy only.
"""

from functools import lru_cache


@lru_cache(maxsize=2**15)  # pages ask for the same pairs again with every model
def distance(one: str, other: str) -> int:
    """By the bit-parallel algorithm of Hyyrö (2003): bit i of each number belongs to the i-th character of `one`.

    While it goes through the characters of `other`, `up` and `down` are the rows of the table of distances where the
    value is one more, or one less, than in the row above; `right` and `left` are those where it is one more, or one
    less, than in the column before. `found` is the value in the last row.
    """
    if not one:
        return len(other)
    places: dict[str, int] = {}
    for i, character in enumerate(one):
        places[character] = places.get(character, 0) | 1 << i
    rows, last = (1 << len(one)) - 1, 1 << (len(one) - 1)
    up, down, found = rows, 0, len(one)
    for character in other:
        same = places.get(character, 0)
        diagonal = (((same & up) + up) ^ up) | same | down  # rows whose value is that of one row up, one column before
        right = down | (rows & ~(diagonal | up))
        left = diagonal & up
        found += bool(right & last) - bool(left & last)
        right = right << 1 | 1  # in the row above the first one, each column adds a character
        up = (left << 1 | ~(diagonal | right)) & rows
        down = right & diagonal
    return found
