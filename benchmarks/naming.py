"""Readers' words for names of types and parts of items in data and URLs. Pure."""

import re

_KINDS = {  # in SugarCrepe, and in benchmarks made from it: BiVLC, Hard Positives
    "add": "added", "replace": "replaced", "swap": "swapped", "obj": "object", "att": "attribute", "rel": "relation",
}  # fmt: skip


def kind_name(kind: str, subtype: str | None = "", none: str = "no type") -> str:
    """Name a type, with any subtype, for readers: “swapped attribute” of `swap_att`, or of `swap` and `att`; `none` if
    both are empty.
    """
    parts = re.split(r"[\s_-]+", f"{kind or (none if subtype else '')} {subtype or ''}".strip())
    known = all(part in _KINDS for part in parts)
    return " ".join(_KINDS[part] if known else part for part in parts) or none


_CAPTIONS = {"positive": "caption", "negative": "hard negative"}


def role_name(role: str, kind: str = "") -> str:
    """Name the role for readers; `kind`: of these parts, `captions` or `images`."""
    return (_CAPTIONS.get(role) if kind == "captions" else None) or role.replace("_", " ")


def part_name(kind: str, role: str, several: bool = False) -> str:
    """Name a part of an item for readers: `caption`, `hard negative`, `candidate images`, `question text`."""
    noun = "" if kind == "captions" and role in (*_CAPTIONS, "second_positive") else kind.replace("lists", "texts")[:-1]
    return f"{role_name(role, kind)} {noun}".rstrip() + ("s" if several else "")
