"""What a screen shows: the material of a lease in the order drawn for it, and nothing that names it (law 4)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.template import loader
from django.urls import reverse
from django.utils.safestring import SafeString

from annotation.models import Lease, Stage
from annotation.protocols.base import Choice, Protocol
from annotation.protocols.registry import PROTOCOLS
from annotation.rows import fetch

SIZES = {110: "", 220: "long", 420: "very-long"}  # up to so many characters; longer ones are set smaller still
SMALLEST = "tiny"

# Every caption and image of the items, by identity; of an image, where it is served and its pixels.
PARTS = """
SELECT item_id, 'caption-' || role || '-' || position, text, NULL, NULL FROM benchmarks_caption
WHERE item_id = ANY(%(items)s)
UNION ALL
SELECT used.item_id, used.role || '-' || used.position, image.opaque, image.width, image.height
FROM benchmarks_itemimage used JOIN benchmarks_image image ON image.id = used.image_id
WHERE used.item_id = ANY(%(items)s)
"""
OTHER_STAGES = "SELECT id, protocol FROM annotation_stage WHERE id = ANY(%(stages)s)"

Part = Mapping[str, object]  # of a caption: text; of an image: url, width and height in pixels


@dataclass(frozen=True, slots=True)
class Screen:
    """`picked` is the answer that was given before, as shown ("2", "none"), or empty; `shown` what the template takes:
    `captions` and `pictures` that are asked about, `options` in order, each a caption or a picture with its `place`.
    """

    lease: UUID
    template: str
    shown: Mapping[str, object]
    picked: str = ""

    def html(self) -> str:
        """The fragment; rendered without a request, so that no context processor runs."""
        return loader.get_template(self.template).render({"lease": self.lease, "picked": self.picked, **self.shown})


def screens(leases: Sequence[Lease], stage: Stage) -> list[Screen]:
    """One screen for each lease, as its own task's stage asks it: most are of `stage`.

    One query whatever the number of leases, none for none; another where a lease is of another stage.
    """
    if not leases:
        return []
    protocols = _protocols({lease.task.stage_id for lease in leases}, stage)
    parts = _parts({lease.task.item_id for lease in leases})
    return [_screen(lease, protocols[lease.task.stage_id], parts[lease.task.item_id]) for lease in leases]


def _protocols(wanted: set[int], stage: Stage) -> dict[int, Protocol]:
    others = wanted - {stage.pk}
    found = fetch(OTHER_STAGES, stages=list(others)) if others else []
    return {pk: PROTOCOLS[name] for pk, name in [(stage.pk, stage.protocol), *found]}


def _parts(items: Iterable[int]) -> dict[int, dict[str, Part]]:
    """Of each item: identity → what it shows."""
    found: dict[int, dict[str, Part]] = defaultdict(dict)
    for item, identity, said, *size in fetch(PARTS, items=list(items)):
        found[item][identity] = {"text": said} if None in size else _picture(said, *size)
    return found


def _picture(opaque: str, width: int, height: int) -> Part:
    """Texts that need no escaping: numbers and addresses made here would take the template longer."""
    return {"url": _url(opaque), "width": SafeString(width), "height": SafeString(height)}


def _screen(lease: Lease, protocol: Protocol, parts: Mapping[str, Part]) -> Screen:
    picked = getattr(lease, "previous_answer", "")
    about = [parts[identity] for identity in lease.task.shows]
    options = [{"place": SafeString(place), **parts[identity]} for place, identity in enumerate(lease.shown, 1)]
    captions = [part for part in about if "text" in part]
    shown = {
        "question": protocol.question,
        "captions": captions,
        "size": size(captions),
        "pictures": [part for part in about if "url" in part],
        "options": options,
        "option_size": size(options),
        "choices": choices(protocol.fixed, picked if picked in {one.identity for one in protocol.fixed} else ""),
    }
    return Screen(lease.token, protocol.template, shown, picked)


def size(parts: Iterable[Part]) -> str:
    """How large the captions among the parts are set: by the longest of them."""
    longest = max((len(part.get("text", "")) for part in parts), default=0)
    return next((name for most, name in SIZES.items() if longest <= most), SMALLEST)


@cache
def choices(fixed: tuple[Choice, ...], picked: str) -> SafeString:
    """The answers that are not shuffled: the same on each of a protocol's screens, so they are rendered once."""
    context = {"choices": [(one, " ".join(one.keys), one.keys[0].upper()) for one in fixed], "picked": picked}
    return loader.get_template("judge/_choices.html").render(context) if fixed else SafeString()


@cache
def _before_name() -> tuple[str, str]:
    """What stands before and after an image's opaque name in its address: asked for once, not at every click."""
    name = "0" * 32
    start, _, end = reverse("image", args=[name]).partition(name)
    return start, end


def _url(opaque: str) -> SafeString:
    return SafeString(opaque.join(_before_name()))
