"""The places of a study or a benchmark, shown at the left of each of its pages."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """The `words` of its link and the `address` by name; `parts` are the links below it while it is open, to addresses
    or to sections of its own page.
    """

    key: str
    words: str
    address: str
    parts: tuple[tuple[str, str], ...] = ()


def links(
    places: Sequence[Place], url: Callable[[str], str], here: str, address: str, hidden: Collection[str],
    counts: Mapping[str, int], waits: Mapping[str, str],
) -> list[dict]:  # fmt: skip
    """Return links for components/_rail.html. `here`: the key of the open place, at the page with that `address`;
    `hidden`: the names of omitted addresses. `counts` and `waits` are by key."""
    return [
        {
            "words": place.words, "url": url(place.address), "here": place.key == here,
            "waits": waits.get(place.key, ""), "count": counts.get(place.key),
            "parts": [
                {"words": words, "url": url(name), "here": name == address}
                for words, name in place.parts if place.key == here and name not in hidden
            ],
        }
        for place in places if place.address not in hidden
    ]  # fmt: skip
