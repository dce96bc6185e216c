"""The number of characters to insert, delete or replace to turn one text into another (Levenshtein 1966). Pure.

`lexical.py` computes the same with rapidfuzz, a hundred times faster. Measures of models do not use that library,
because a release's `score.py` is made from them and needs only numpy.
"""

from functools import lru_cache


@lru_cache(maxsize=2**15)  # pages repeat the same pairs for every model
def distance(one: str, other: str) -> int:
    """Compute it by Hyyrö's bit-parallel algorithm (2003): bit i of each number belongs to the i-th character of `one`.

    While it goes through the characters of `other`, `up` and `down` are the rows of the distance table whose value is
    one more, or one less, than in the row above; `right` and `left` are those whose value is one more, or one less,
    than in the column before. `found` is the value in the last row.
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
        diagonal = (((same & up) + up) ^ up) | same | down  # value equals one row up, one column before
        right = down | (rows & ~(diagonal | up))
        left = diagonal & up
        found += bool(right & last) - bool(left & last)
        right = right << 1 | 1  # in the row above the first, each column adds a character
        up = (left << 1 | ~(diagonal | right)) & rows
        down = right & diagonal
    return found
