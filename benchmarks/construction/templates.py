"""ARO's Visual Genome Relation and Attribution (App. A.1): pairs of captions from fixed templates. Pure.

Large enough objects, and the box around both, are mined from scene graphs (scene_graphs.py).
"""

from dataclasses import dataclass

from benchmarks.construction.batch import Dropped
from benchmarks.construction.relations import SYMMETRIC, plain


@dataclass(frozen=True, slots=True)
class Pair:
    positive: str
    negative: str


def relation_captions(subject: str, relation: str, object: str) -> Pair:
    """Make `the horse is eating the grass` and `the grass is eating the horse` (ARO App. A.1, steps 3, 5 and 6).

    The template in the text has no article before the second object; the paper's captions have one, as do these. Raises
    Dropped if both objects are of one kind or the relation is symmetric, so that both captions would be true.
    """
    subject, relation, object = filled(subject), filled(plain(relation)), filled(object)
    if subject == object:
        raise Dropped("both objects are of one kind")
    if relation in SYMMETRIC:
        raise Dropped(f"symmetric relation: {relation}")
    return Pair(f"the {subject} is {relation} the {object}", f"the {object} is {relation} the {subject}")


def attribution_captions(attribute1: str, object1: str, attribute2: str, object2: str) -> Pair:
    """Make `the crouched cat and the open door` and `the open cat and the crouched door` (ARO App. A.1, steps 3 and 5).

    Raises Dropped if the objects, or the attributes, are the same.
    """
    attribute1, object1, attribute2, object2 = map(filled, (attribute1, object1, attribute2, object2))
    if object1 == object2:
        raise Dropped("both objects are of one kind")
    if attribute1 == attribute2:
        raise Dropped("both attributes are the same")
    return Pair(
        f"the {attribute1} {object1} and the {attribute2} {object2}",
        f"the {attribute2} {object1} and the {attribute1} {object2}",
    )


def filled(words: str) -> str:
    """Return it in lower case, like ARO's templates, with single spaces. Raises Dropped if empty."""
    words = " ".join(words.lower().split())
    if not words:
        raise Dropped("a part of the template is empty")
    return words
