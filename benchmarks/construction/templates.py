"""ARO's Visual Genome Relation and Attribution (App. A.1): captions in pairs, filled into fixed templates. Pure.

Which objects of a picture are large enough, and the box around the two, are for whoever has the scene graphs.
"""

from dataclasses import dataclass

from benchmarks.construction.batch import Dropped
from benchmarks.construction.relations import SYMMETRIC, plain


@dataclass(frozen=True, slots=True)
class Pair:
    positive: str
    negative: str


def relation_captions(subject: str, relation: str, object: str) -> Pair:
    """`the horse is eating the grass` and `the grass is eating the horse` (ARO App. A.1, steps 3, 5 and 6).

    The written template has no article before the second object; the paper's captions do, and so do these. Raises
    Dropped where both objects are of one kind or the relation is symmetric, so that both captions would be true.
    """
    subject, relation, object = filled(subject), filled(plain(relation)), filled(object)
    if subject == object:
        raise Dropped("both objects are of one kind")
    if relation in SYMMETRIC:
        raise Dropped(f"symmetric relation: {relation}")
    return Pair(f"the {subject} is {relation} the {object}", f"the {object} is {relation} the {subject}")


def attribution_captions(attribute1: str, object1: str, attribute2: str, object2: str) -> Pair:
    """`the crouched cat and the open door`, `the open cat and the crouched door` (ARO App. A.1, steps 3 and 5).

    Raises Dropped where the objects, or the attributes, are the same.
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
    """In small letters, as ARO's templates are, with single spaces. Raises Dropped where nothing stands."""
    words = " ".join(words.lower().split())
    if not words:
        raise Dropped("a part of the template is empty")
    return words
