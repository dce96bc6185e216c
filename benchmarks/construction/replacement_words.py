"""The words replaced in Hard Positive Truth, with their frequencies, from its Tables 4 to 6 (App. A.1).

14 relations and 24 attributes. A row can have several spellings: `wearing` and `wears` are one row of Table 4, and its
`riding on` also covers `riding`, as the row's own example shows (`person riding motorcycle`).
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replacement:
    """`words` are the spellings of the original, `by` is the replacement, `frequency` the table's figure."""

    words: tuple[str, ...]
    by: str
    frequency: int
    group: str

    @property
    def name(self) -> str:
        return self.words[0]


def table(group: str, *rows: tuple[str, str, int]) -> tuple[Replacement, ...]:
    return tuple(Replacement(tuple(words.split(", ")), by, frequency, group) for words, by, frequency in rows)


RELATIONS = (  # Table 4
    *table(
        "spatial",
        ("in", "within", 6173),
        ("behind", "to the rear of", 1057),
        ("on top of", "on", 683),
        ("near", "next to", 657),
        ("next to", "near", 621),
        ("under", "beneath", 467),
        ("by", "near", 394),
        ("above", "on top of", 298),
    ),
    *table(
        "action",
        ("wearing, wears", "in", 3976),
        ("holding", "grasping", 950),
        ("sitting", "seated", 639),
        ("hanging", "dangling", 382),
        ("walking", "strolling", 288),
        ("riding on, riding", "traveling on", 283),
    ),
)
ATTRIBUTES = (
    *table(  # Table 5
        "action",
        ("standing", "upright", 153),
        ("sitting", "seated", 88),
        ("walking", "strolling", 64),
        ("eating", "ingesting", 41),
        ("hanging", "dangling", 29),
        ("looking", "gazing", 27),
    ),
    *table(
        "color",
        ("white", "ivory", 2742),
        ("black", "ebony", 1790),
        ("blue", "sapphire", 1253),
        ("brown", "chestnut", 947),
        ("red", "crimson", 827),
        ("green", "emerald", 755),
        ("silver", "metallic", 242),
    ),
    *table(  # Table 6
        "size",
        ("large", "big", 571),
        ("small", "tiny", 358),
        ("long", "lengthy", 271),
        ("big", "large", 146),
        ("huge", "big", 31),
    ),
    *table(
        "state",
        ("wet", "damp", 62),
        ("smiling", "happy", 50),
        ("old", "aged", 46),
        ("clear", "unclouded", 43),
        ("young", "youthful", 36),
    ),
)
