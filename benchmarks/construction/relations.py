"""Relations between two things and their converses. Pure.

`A is left of B` means the same as `B is right of A`. Sides and fronts are the viewer's; if a caption means a thing's
own left or front, the converse may be wrong, so people check the results. The table, `relations.csv`, is ours; its
relations are those in captions of Visual Spatial Reasoning (on which VISLA §3.3 builds). A converse weaker than its
relation is not reversible in the table: if A is `on` B, B is `beneath` A, but not always the other way round.
"""

import csv
from pathlib import Path

with Path(__file__).with_name("relations.csv").open(encoding="utf-8", newline="") as file:
    CONVERSES = {row["relation"]: row["converse"] for row in csv.DictReader(file)}
SYMMETRIC = frozenset(relation for relation, back in CONVERSES.items() if back == relation)
VERBS = {"contains": "contain", "consists of": "consist of", "has as a part": "have as a part"}  # stand without `is`
PLURALS = frozenset({"people", "scissors", "skis"})  # COCO objects, and `people`, that take `are`


def plain(relation: str) -> str:
    """Return the relation in lower case with single spaces, without a leading `is` or `are`."""
    words = relation.lower().split()
    return " ".join(words[1:] if words[:1] in (["is"], ["are"]) else words)


def converse(relation: str) -> str | None:
    """Return the relation of B to A that follows from `A relation B`; None if the table has none that must hold.

    Directions and poses (`facing`, `into`, `along`), parts of a thing (`at the edge of`), positions among several
    (`between`, `in the middle of`) and `with`, `at`, `against`, `attached to`, `outside` have no converse.
    """
    return CONVERSES.get(plain(relation))


def sentence(subject: str, relation: str, object: str) -> str:
    """Write the sentence: `The basket contains the cat.`, `The dog is near the skis.`"""
    many = subject.lower() in PLURALS or " and " in subject
    if relation in VERBS:
        return f"The {subject} {VERBS[relation] if many else relation} the {object}."
    return f"The {subject} {'are' if many else 'is'} {relation} the {object}."
