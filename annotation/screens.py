"""What a screen shows: the material of a lease in the order drawn for it, and nothing that names it (law 4)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.template import loader
from django.urls import reverse

from annotation.models import Lease, Stage
from annotation.protocols.base import Choice
from annotation.protocols.registry import PROTOCOLS
from annotation.rows import fetch

LONG, VERY_LONG = 110, 220  # characters from which a caption is set smaller

CAPTIONS = """
SELECT DISTINCT ON (item_id) item_id, text FROM benchmarks_caption
WHERE item_id = ANY(%(items)s) AND role = %(role)s ORDER BY item_id, position
"""

IMAGES = """
SELECT used.item_id, used.role, used.position, image.opaque, image.width, image.height
FROM benchmarks_itemimage used JOIN benchmarks_image image ON image.id = used.image_id
WHERE used.item_id = ANY(%(items)s)
"""


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
    items = [lease.task.item_id for lease in leases]
    captions = dict(fetch(CAPTIONS, items=items, role=leases[0].task.shows[0].split("-")[1]))
    images = _images(items)
    return [
        Screen(
            lease=lease.token,
            question=protocol.question,
            caption=captions[lease.task.item_id],
            options=_options(lease.shown, images[lease.task.item_id]),
            choices=protocol.fixed,
            template=protocol.template,
            picked=getattr(lease, "previous_answer", ""),
        )
        for lease in leases
    ]


def _images(items: Sequence[int]) -> dict[int, dict[str, tuple]]:
    """Of each item: identity → opaque name, width, height."""
    found: dict[int, dict[str, tuple]] = defaultdict(dict)
    for item, role, position, *image in fetch(IMAGES, items=items):
        found[item][f"{role}-{position}"] = tuple(image)
    return found


def _options(shown: Sequence[str], images: dict[str, tuple]) -> tuple[Option, ...]:
    placed = enumerate((images[identity] for identity in shown), start=1)
    return tuple(Option(place, reverse("image", args=[opaque]), *size) for place, (opaque, *size) in placed)
