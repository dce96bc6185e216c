"""Starting points for a draft or a study: the library and published versions, with what each needs in an item."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Max, OuterRef, QuerySet, Subquery

from annotation.designs import presets
from annotation.designs.fit import fitted
from annotation.models import ProtocolVersion
from annotation.protocols import library
from annotation.protocols.base import UnsuitableItem
from annotation.protocols.registry import VERSION_SIGN, base_name, is_unpublished, keep_published, protocol_named
from annotation.protocols.schema import ProtocolFile, bounds
from annotation.protocols.tasks import needs_in_words, tasks_of
from benchmarks.records import ItemRecord


@dataclass(frozen=True, slots=True)
class Offer:
    """`start` names it in forms (`verify`, `prompt-fit@2`); `needs` is what each item needs (“1 positive image and 1
    positive caption”), and `lacks` the reason if it does not suit an item.
    """

    start: str
    title: str
    asks: str
    source: str
    needs: str
    judgments: int  # per item
    lacks: str = ""

    @property
    def version(self) -> str:
        """Return the number of a published version; "" for the library's."""
        return self.start.partition(VERSION_SIGN)[2]


def library_offers(item: ItemRecord | None) -> list[Offer]:
    """Return the library's questions, first those that suit the item, by title; without those published as is."""
    published = {base_name(one) for one in map(str, newest_versions()) if is_as_shipped(one)}
    return _sorted(offer_of(name, library.shipped(name), item) for name in library.names() if name not in published)


def version_offers(item: ItemRecord | None) -> list[Offer]:
    """Return the newest version of each published protocol, first those that suit the item."""
    found = []
    for version in newest_versions():
        file = keep_published(str(version), version.text).file
        assert file is not None
        found.append(offer_of(str(version), file, item))
    return _sorted(found)


def newest_versions() -> QuerySet[ProtocolVersion]:
    last = ProtocolVersion.objects.filter(name=OuterRef("name")).order_by().values("name").annotate(last=Max("number"))
    return ProtocolVersion.objects.filter(number=Subquery(last.values("last"))).order_by("name")


def is_as_shipped(version: str) -> bool:
    """Return whether it is an unchanged library question; built-in ones decide differently as files."""
    name = base_name(version)
    return name in library.names() and is_unpublished(name) and protocol_named(version).file == library.shipped(name)


def offer_of(start: str, file: ProtocolFile, item: ItemRecord | None) -> Offer:
    """Return the question `start`, whose protocol file is `file`, with what `item` lacks for it."""
    *more, last = [needs_in_words(role, count) for role, count in file.roles.items() if bounds(count)[0]] or ["nothing"]
    needs = f"{', '.join(more)} and {last}" if more else last
    suits = item is not None and fitted(presets.stages_in_order([start]).stages, item)  # with the item's names
    asks, missing = protocol_named(start).question, "" if suits else lacks(file, item)
    return Offer(start, file.title, asks, file.source, needs, file.judgments, missing)


def lacks(file: ProtocolFile, item: ItemRecord | None) -> str:
    """Return why the item does not suit the file, or ""."""
    if item is None:
        return ""
    try:
        tasks_of(file, item, {})
    except UnsuitableItem as reason:
        if reason.needs:
            return f"Each item needs {reason.needs}; the first item has {reason.has or 'none'}."
        return f"{str(reason).capitalize()}."
    return ""


def _sorted(offers: Iterable[Offer]) -> list[Offer]:
    return sorted(offers, key=lambda offer: (bool(offer.lacks), offer.title.casefold()))
