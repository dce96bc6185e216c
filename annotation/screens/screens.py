"""The content of a screen: the material of a lease in its drawn order, without any identity of its parts (law 4)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from uuid import UUID

from django.template import loader
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from annotation.models import Lease, Stage
from annotation.protocols.base import Choice, Form, Protocol, caption_role
from annotation.protocols.compile import GENERIC
from annotation.protocols.decision_rule import EDIT_PREFIX
from annotation.protocols.keys import keys_on_screen
from annotation.protocols.registry import protocol_named
from annotation.screens import declared, material
from annotation.screens.material import Part
from annotation.sql import fetch

_SIZES = {110: "", 220: "long", 420: "very-long"}  # up to this many characters; longer ones are set smaller still
_SMALLEST = "tiny"

_OTHER_STAGES = "SELECT id, protocol FROM annotation_stage WHERE id = ANY(%(stages)s)"


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen of a lease.

    `previous` has the fields of an earlier answer as shown ({"answer": "2"}), or nothing. `shown` is the context of the
    template: the `captions` and `pictures` in question, the `options` in order (each a caption or a picture
    with its `place`); for a form also `texts` by role and the protocol's `form`; for a form of a protocol file, and its
    screens without a special template, what `declared.context` returns. `spoken` is the material's language.
    """

    lease: UUID
    template: str
    shown: Mapping[str, Any]
    previous: Mapping[str, str]

    @property
    def picked(self) -> str:
        return self.previous.get("answer", "")

    def html(self) -> str:
        """Render the fragment without a request, so that no context processor runs."""
        return loader.get_template(self.template).render(
            {"lease": self.lease, "picked": self.picked, "given": self.previous, **self.shown}
        )


def build_screens(leases: Sequence[Lease], stage: Stage) -> list[Screen]:
    """Return one screen for each lease, as its task's stage asks it; most are in `stage`. Makes one query for any

    number of leases (none without leases), and another if a lease is in another stage.
    """
    if not leases:
        return []
    protocols = _protocols({lease.task.stage_id for lease in leases}, stage)
    there = material.parts_of_leases(leases)
    spoken = stage.study.language
    return [
        build_screen(lease, protocols[lease.task.stage_id], parts, spoken)
        for lease, parts in zip(leases, there, strict=True)
    ]


def _protocols(wanted: set[int], stage: Stage) -> dict[int, Protocol]:
    others = wanted - {stage.pk}
    found = fetch(_OTHER_STAGES, stages=list(others)) if others else []
    return {pk: protocol_named(name) for pk, name in [(stage.pk, stage.protocol), *found]}


def screens_under(leases: Sequence[Lease], protocol: Protocol, spoken: str) -> list[Screen]:
    """Return one screen for each lease that has no stage, as the protocol asks it."""
    parts = material.parts_of_leases(leases) if leases else []
    return [build_screen(lease, protocol, there, spoken) for lease, there in zip(leases, parts, strict=True)]


def build_screen(lease: Lease, protocol: Protocol, parts: Mapping[str, Part], spoken: str) -> Screen:
    """Return the lease's screen from the parts of its item, by identity."""
    previous = getattr(lease, "previous", {})
    picked = previous.get("answer", "")
    about = [parts[identity] for identity in lease.task.shows]
    language = get_language()
    there = [parts[identity] for identity in lease.shown]
    keys, own = keys_on_screen([part.get("text", "") for part in there], [one.keys for one in protocol.fixed])
    fixed = tuple(replace(one, keys=of) for one, of in zip(protocol.fixed, own, strict=True))
    options = [
        {
            "place": SafeString(place),
            "key": "".join(of[:1]),
            "keys": " ".join(of),
            "called": _called(place, language, bool(part.get("video"))),
            **part,
        }
        for place, (of, part) in enumerate(zip(keys, there, strict=True), 1)
    ]
    captions = [part for part in about if "text" in part]
    shown = {
        "question": protocol.question,
        "spoken": spoken,
        "captions": captions,
        "size": text_size(captions),
        "pictures": [part for part in about if "url" in part],
        "options": options,
        "option_size": text_size(options),
        "choices": _choices(fixed, picked if picked in {one.identity for one in protocol.fixed} else "", language),
    }
    if protocol.made_from and (protocol.form or protocol.template == GENERIC):
        shown |= declared.context(protocol.made_from, lease, options, parts, previous)
    elif protocol.form:
        shown |= _with_form(lease, protocol.form, parts)
    return Screen(lease.token, protocol.template, shown, previous)


def _with_form(lease: Lease, form: Form, parts: Mapping[str, Part]) -> dict:
    """Return the context that a form adds: texts by role, and the positions of other annotators' edits."""
    texts = {identity: parts[identity]["text"] for identity in lease.task.shows if "text" in parts[identity]}
    edited = [place for place, identity in enumerate(lease.shown, 1) if identity.startswith(EDIT_PREFIX)]
    return {"form": form, "texts": {caption_role(identity): text for identity, text in texts.items()}, "edited": edited}


def text_size(parts: Iterable[Part]) -> str:
    """Return the size for the captions among the parts, a class name chosen by the longest of them."""
    longest = max((len(part.get("text", "")) for part in parts), default=0)
    return next((name for most, name in _SIZES.items() if longest <= most), _SMALLEST)


@cache
def _called(place: int, language: str, is_video: bool) -> str:
    """Return the name of a picture at that place, translated once and not at every click."""
    return (gettext("Video %(place)s") if is_video else gettext("Picture %(place)s")) % {"place": place}


@cache
def _choices(fixed: tuple[Choice, ...], picked: str, language: str) -> str:
    """Render the answers that are not shuffled, once: they are the same on every screen of a protocol."""
    context = {"choices": [(one, " ".join(one.keys), "".join(one.keys[:1]).upper()) for one in fixed], "picked": picked}
    return loader.get_template("judging/_choices.html").render(context) if fixed else ""
