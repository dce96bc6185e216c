"""Items with captions that a model truncates, as in a job's report and the output of `score.py --json`: those
`in_items`, and among these the ones without scores, because the model reads two of their captions `alike`. Pure.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

READ_ALIKE = "read_alike"  # marks items with captions identical to a model; in scores, their number
CUT = "cut"  # marks items with a caption longer than the model reads
NAMED = 10  # ids in a sentence
KEPT = 100  # ids in a report
WORDS = {
    "in_items": ("has", "have", "captions that are longer than the model reads, so their ends were cut off"),
    "alike": ("is", "are", "left out, because two of the captions are alike to the model"),
}


def counted(keys: Sequence[str]) -> dict[str, Any]:
    return {"count": len(keys), "keys": keys[:KEPT]}


def counted_by_type(keys: Sequence[str], kinds: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Count items, and each of their types and subtypes: `kinds` has every item's."""
    found = sorted(Counter(kinds).items())
    return {**counted(keys), "by_type": [{"type": type, "subtype": sub, "count": n} for (type, sub), n in found]}


def listed(keys: Sequence[str], count: int | None = None, most: int = NAMED) -> str:
    """List the first ids, at most `most`, and how many more there are of `count`."""
    shown = keys[:most]
    left = (len(keys) if count is None else count) - len(shown)
    return ", ".join(shown) + (f" and {left:,} more" if left else "")


def in_words(cut: Mapping[str, Any], named: bool = True) -> Iterator[str]:
    """Yield a sentence about each that occurs, with the first ids if the items are to be `named`."""
    for what, (one, several, said) in WORDS.items():
        if count := cut.get(what, {}).get("count"):
            items = f"item {one}" if count == 1 else f"items {several}"
            which = f": {listed(cut[what]['keys'], count)}" if named else ""
            yield f"{count:,} {items} {said}{which}."
