"""Spatial VISLA's candidates (VISLA §3.3): a second positive from the other side, and the nearest negatives. Pure.

From captions of Visual Spatial Reasoning, each with its subject, relation and object. People decide and edit
afterwards: in the paper, most triplets needed editing.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.construction.batch import Batch, Dropped, construct
from benchmarks.construction.relations import converse, plain, sentence
from benchmarks.metrics import lexical

NEAREST = 3  # number of negatives that people choose from
OWN, OWN_CONVERSE, MADE = "own caption", "own caption with the converse", "made by the converse"


@dataclass(frozen=True, slots=True)
class SpatialCaption:
    """A caption of an image. `true`: whether it holds, because Visual Spatial Reasoning also has false captions."""

    image: str
    caption: str
    subject: str
    relation: str
    object: str
    true: bool = True
    row: int = 0

    @property
    def things(self) -> frozenset[str]:
        return frozenset({self.subject.lower(), self.object.lower()})

    def meanings(self) -> set[tuple[str, str, str]]:
        """Return (subject, relation, object) of the caption, and of any converse."""
        subject, object, back = self.subject.lower(), self.object.lower(), converse(self.relation)
        found = {(subject, plain(self.relation), object)}
        return found | {(object, back, subject)} if back else found


@dataclass(frozen=True, slots=True)
class Triplet:
    """`negatives`: one to three, nearest first; `origin`: the source of the second positive."""

    of: SpatialCaption
    second: str
    origin: str
    negatives: tuple[str, ...]


def candidates(captions: Sequence[SpatialCaption], nearest: int = NEAREST) -> Batch[Triplet]:
    """Make a triplet for each true caption (VISLA §3.3), in order. A caption is dropped, with the reason, if it

    - does not hold;
    - has no second positive: no caption of the image expresses it from the other side, and no converse is known;
    - has no negative: no other image has a different caption on the same two things.
    """
    images: dict[str, list[SpatialCaption]] = defaultdict(list)
    pairs: dict[frozenset[str], list[SpatialCaption]] = defaultdict(list)
    for one in captions:
        images[one.image].append(one)
        pairs[one.things].append(one)

    def triplet(one: SpatialCaption) -> Triplet:
        if not one.true:
            raise Dropped("the caption does not hold for its image")
        own = [other for other in images[one.image] if other.true]
        second, origin = second_positive(one, own)
        negatives = nearest_negatives(one, {second, *(other.caption for other in own)}, pairs[one.things], nearest)
        return Triplet(one, second, origin, negatives)

    return construct(((one.row, one) for one in captions), triplet)


def second_positive(one: SpatialCaption, own: Sequence[SpatialCaption]) -> tuple[str, str]:
    """Return the caption with subject and object switched, and its source (VISLA §3.3, positive caption mining).

    Preferably one of the image's own captions, first with the converse relation; otherwise made with the converse. The
    first of several is used. Raises Dropped, naming the relation, if none is certain to be true.
    """
    if len(one.things) < 2:
        raise Dropped("subject and object are the same")
    back = converse(one.relation)
    switched = [other for other in own if (other.subject.lower(), other.object.lower()) == mirrored(one)]
    for other in switched:
        if back is not None and plain(other.relation) == back:
            return other.caption, OWN_CONVERSE
    if switched:
        return switched[0].caption, OWN
    if back is None:
        raise Dropped(f"no converse of the relation: {plain(one.relation)}")
    return sentence(one.object, back, one.subject), MADE


def mirrored(one: SpatialCaption) -> tuple[str, str]:
    return one.object.lower(), one.subject.lower()


def nearest_negatives(
    one: SpatialCaption, true: set[str], among: Sequence[SpatialCaption], count: int
) -> tuple[str, ...]:
    """Return other images' captions on the same two things that share most words with this one (VISLA §3.3, negatives).

    Each text occurs once, ordered by Jaccard similarity of the sets of words, then by text. Captions known to be true
    are left out: the texts in `true`, and captions with the same relation from either side. Raises Dropped if none is
    left.
    """
    known = {tuple(lexical.words(text)) for text in true}
    found = {
        other.caption
        for other in among
        if other.image != one.image and tuple(lexical.words(other.caption)) not in known and differs(other, one)
    }
    if not found:
        raise Dropped("no other image has a different caption about the same things")
    ranked = sorted(found, key=lambda text: (-lexical.compare(one.caption, text).overlap, text))
    return tuple(islice(ranked, count))


def differs(other: SpatialCaption, one: SpatialCaption) -> bool:
    return not other.meanings() & one.meanings()
