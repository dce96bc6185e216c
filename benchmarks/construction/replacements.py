"""Replacement hard positives (Hard Positive Truth §3.4, App. A.1): replace one relation or attribute by a synonym.

The hard negative shows which word: VL-CheckList replaced the same one, so the two captions differ in it. Only one whole
word is replaced; the article before it stays, as in the paper's own `a upright person`. The published files follow a
simpler rule; docs/reference/construction.md counts the differences.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from benchmarks.construction.batch import Dropped


@dataclass(frozen=True, slots=True)
class Replacement:
    """`words` are the spellings of the original, `by` is the replacement, `frequency` the paper's count.

    A row can have several spellings: `wearing` and `wears` are one row of Table 4, and its `riding on` also covers
    `riding`, as the row's own example shows (`person riding motorcycle`).
    """

    words: tuple[str, ...]
    by: str
    frequency: int
    group: str

    @property
    def name(self) -> str:
        return self.words[0]


def _replacements(subtype: str) -> tuple[Replacement, ...]:
    """Return the paper's Tables 4 to 6 (App. A.1), for relations or for attributes."""
    with Path(__file__).with_name("replacement_words.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Replacement(tuple(row["words"].split(", ")), row["replacement"], int(row["frequency"]), row["group"])
            for row in csv.DictReader(file)
            if row["subtype"] == subtype
        )


TABLES = {subtype: _replacements(subtype) for subtype in ("rel", "att")}
Found = tuple[re.Match[str], Replacement]
WORD = re.compile(r"\S+")
MARKS = ".,;:!?"


@dataclass(frozen=True, slots=True)
class HardPositive:
    text: str
    replacement: Replacement


def hard_positive(caption: str, negative: str, table: Sequence[Replacement]) -> HardPositive:
    """Replace the caption's only relation or attribute (Hard Positive Truth §3.4, Tables 4 to 6).

    Without a negative (an empty text) the caption must have exactly one word in the table. Raises Dropped if the word
    that the negative replaced is not in the table or cannot be identified.
    """
    found = matches(caption, table)
    if not found:
        raise Dropped("no word in the table")
    if negative:
        found = replaced_in(caption, negative, found)
    elif len(found) > 1:
        raise Dropped("several words in the table, and no negative to show which")
    match, row = found[0]
    return HardPositive(caption[: match.start()] + written(row.by, match[0]) + caption[match.end() :], row)


def replaced_in(caption: str, negative: str, found: list[Found]) -> list[Found]:
    """Return the words found at which the negative differs."""
    start, end = difference(caption, negative)
    if start == end:
        raise Dropped("the negative does not replace any word")
    there = [(match, row) for match, row in found if match.start() < end and match.end() > start]
    if not there:
        raise Dropped("the word that the negative replaces is not in the table")
    return there


def matches(caption: str, table: Sequence[Replacement]) -> list[Found]:
    """Find the table's words in the caption, from left to right; the longest if some overlap (`on top of`)."""
    rows = {word: row for row in table for word in row.words}
    longest_first = sorted(rows, key=lambda word: (-len(word), word))
    # Without `a`, letters such as ı and ſ would match letters of other words in the table.
    any_word = re.compile(rf"(?<![\w-])(?ai:{'|'.join(map(re.escape, longest_first))})(?![\w-])")
    return [(match, rows[match[0].lower()]) for match in any_word.finditer(caption)]


def difference(caption: str, negative: str) -> tuple[int, int]:
    """Return start and end of the part of the caption that differs from the negative.

    Common words at the beginning and end are removed. Start equals end if nothing is left, because the negative is the
    same or only adds words.
    """
    mine, theirs = ([match[0].strip(MARKS).lower() for match in WORD.finditer(text)] for text in (caption, negative))
    spans = [match.span() for match in WORD.finditer(caption)]
    first = alike(mine, theirs)
    last = alike(mine[first:][::-1], theirs[first:][::-1])
    differing = spans[first : len(spans) - last]
    return (differing[0][0], differing[-1][1]) if differing else (0, 0)


def alike(one: list[str], other: list[str]) -> int:
    """Count the common words at the beginning."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


def written(words: str, original: str) -> str:
    """Return the word, capitalised if the original is."""
    return words[0].upper() + words[1:] if original[0].isupper() and not original.isupper() else words
