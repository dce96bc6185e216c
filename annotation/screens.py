"""What a screen shows: the material of a lease in the order drawn for it, and nothing that names it (law 4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch, prefetch_related_objects
from django.template import loader
from django.urls import reverse

from annotation.models import Lease, Stage
from annotation.protocols.base import Choice
from annotation.protocols.registry import PROTOCOLS
from benchmarks.models import Caption, Item, ItemImage

LONG, VERY_LONG = 110, 220  # characters from which a caption is set smaller


@dataclass(frozen=True, slots=True)
class Option:
    """A picture at its place on the screen, counted from 1. `width` and `height` are pixels."""

    place: int
    url: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Screen:
    """`picked` is the answer that was given before, as shown ("2", "none"), or empty."""

    lease: UUID
    question: str
    caption: str
    options: tuple[Option, ...]
    choices: tuple[Choice, ...]
    template: str
    picked: str = ""

    @property
    def caption_size(self) -> str:
        length = len(self.caption)
        return "very-long" if length > VERY_LONG else "long" if length > LONG else ""

    def html(self) -> str:
        """The fragment; rendered without a request, so that no context processor runs."""
        return loader.get_template(self.template).render({"screen": self})


def screens(leases: Sequence[Lease], stage: Stage) -> list[Screen]:
    """One screen for each lease, in two queries whatever their number (none for no lease)."""
    if not leases:
        return []
    protocol = PROTOCOLS[stage.protocol]
    items = _material({lease.task.item_id for lease in leases}, protocol.caption_role)
    return [
        Screen(
            lease=lease.token,
            question=protocol.question,
            caption=items[lease.task.item_id].asked[0].text,
            options=_options(lease, items[lease.task.item_id]),
            choices=protocol.fixed,
            template=protocol.template,
            picked=getattr(lease, "previous_answer", ""),
        )
        for lease in leases
    ]


def _material(items: set[int], caption_role: str) -> dict[int, Item]:
    captions = Prefetch("captions", Caption.objects.filter(role=caption_role).order_by("position"), to_attr="asked")
    images = Prefetch("item_images", ItemImage.objects.select_related("image"), to_attr="uses")
    found = [Item(pk=pk) for pk in items]  # the rows themselves hold nothing that is shown
    prefetch_related_objects(found, captions, images)
    return {item.pk: item for item in found}


def _options(lease: Lease, item: Item) -> tuple[Option, ...]:
    images = {use.key: use.image for use in item.uses}
    return tuple(
        Option(place, reverse("image", args=[image.opaque]), image.width, image.height)
        for place, image in enumerate((images[identity] for identity in lease.shown), start=1)
    )
