"""Relations between two things and their converses. Pure.

`A is left of B` says the same as `B is right of A`. Sides and fronts are the viewer's; if a caption means a thing's own
left or front, the converse may be wrong, so people check the results. The table is ours; its
relations are those that captions of Visual Spatial Reasoning use (VISLA §3.3 builds on them).
"""

PAIRS = {  # both ways
    "left of": "right of",
    "to the left of": "to the right of",
    "at the left side of": "at the right side of",
    "on the left side of": "on the right side of",
    "on the left of": "on the right of",
    "above": "below",
    "over": "under",
    "in front of": "behind",
    "part of": "has as a part",
    "surrounding": "surrounded by",
    "enclosing": "enclosed by",
    "in": "contains",
}
ONE_WAY = {  # the converse is weaker than the relation, so it is not used in reverse
    "inside": "contains",
    "within": "contains",
    "on": "beneath",
    "on top of": "beneath",
    "beneath": "above",
    "underneath": "above",
    "ahead of": "behind",
    "consists of": "part of",
}
SYMMETRIC = frozenset(
    {
        "near", "next to", "beside", "by", "close to", "adjacent to", "alongside", "touching", "far from",
        "far away from", "away from", "across from", "opposite to", "opposite", "parallel to", "perpendicular to",
        "at the side of", "connected to", "detached from",
    }
)  # fmt: skip
CONVERSES = {**ONE_WAY, **PAIRS, **{later: first for first, later in PAIRS.items()}, **{one: one for one in SYMMETRIC}}
VERBS = {"contains": "contain", "consists of": "consist of", "has as a part": "have as a part"}  # stand without `is`
PLURALS = frozenset({"people", "scissors", "skis"})  # objects of COCO, and `people`, that take `are`


def plain(relation: str) -> str:
    """The relation in small letters with single spaces, without an `is` or `are` in front."""
    words = relation.lower().split()
    return " ".join(words[1:] if words[:1] in (["is"], ["are"]) else words)


def converse(relation: str) -> str | None:
    """The relation of B to A that follows from `A relation B`; None if the table has none that must be true.

    Directions and poses (`facing`, `into`, `along`), parts of a thing (`at the edge of`), places among several
    (`between`, `in the middle of`) and `with`, `at`, `against`, `attached to`, `outside` have no converse.
    """
    return CONVERSES.get(plain(relation))


def sentence(subject: str, relation: str, object: str) -> str:
    """`The basket contains the cat.`, `The dog is near the skis.`"""
    many = subject.lower() in PLURALS or " and " in subject
    if relation in VERBS:
        return f"The {subject} {VERBS[relation] if many else relation} the {object}."
    return f"The {subject} {'are' if many else 'is'} {relation} the {object}."
