"""The field for how many parts of each role an item has, stored as text: `images.candidate=2.., texts.negative=1`."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from annotation.designs import part
from benchmarks.models import Role
from benchmarks.naming import part_name
from benchmarks.records import ItemRecord

_ENDS = {"least": "at least", "most": "at most"}
_INPUT = re.compile(r"(.+)-(least|most)")


class RoleCounts(forms.Widget):
    """Inputs for a lowest and a highest number, for each of `roles` (`images.candidate`) and each in the value."""

    use_fieldset = True
    roles: Iterable[str] = ()

    def value_from_datadict(self, data: Mapping[str, Any], files: object, name: str) -> str:
        given: dict[str, dict[str, str]] = {}
        for key in data:
            if (found := _INPUT.fullmatch(key.removeprefix(f"{name}-"))) and key.startswith(f"{name}-"):
                given.setdefault(found[1], {})[found[2]] = data[key].strip()
        return ", ".join(f"{role}={_count(**ends)}" for role, ends in given.items() if any(ends.values()))

    def value_omitted_from_data(self, data: Mapping[str, Any], files: object, name: str) -> bool:
        return not any(key.startswith(f"{name}-") for key in data)

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        given = {role: count for role, _, count in (one.strip().partition("=") for one in (value or "").split(","))}
        rows = []
        for role in dict.fromkeys([*self.roles, *filter(None, given)]):
            kind, _, own = role.partition(".")
            of = "captions" if kind == "texts" and own in Role else kind
            inputs = format_html_join(
                " ",
                '<label>{} <input type="number" name="{}-{}-{}" min="0" max="999" value="{}"></label>',
                ((_ENDS[end], name, role, end, number) for end, number in _ends(given.get(role, "")).items()),
            )
            words = part_name(of, own, several=True)
            rows.append(("role-counts", words, words, inputs))
        return format_html_join("", '<div class="{}" role="group" aria-label="{}"><span>{}</span> {}</div>', rows)


def of_item(item: ItemRecord | None) -> list[str]:
    """Return the roles of an item's parts, named as in `part`."""
    if item is None:
        return []
    named = [*(f"texts.{one.role}" for one in item.captions), *(f"images.{one.role}" for one in item.images)]
    return list(dict.fromkeys(named))


def readable(text: str) -> str:
    """Return the text if it can be parsed. Raises ValidationError."""
    try:
        part.read_roles(text)
    except part.WrongPart:
        raise forms.ValidationError("Enter whole numbers up to 999, the lower one first.") from None
    return text


def _count(least: str = "", most: str = "") -> str:
    """Return `2` for 2 to 2, `2..4`, `2..`, `0..4`."""
    return least if least == most else f"{least or 0}..{most}"


def _ends(count: str) -> dict[str, str]:
    """Invert `_count`; empty texts if there is no bound."""
    least, dots, most = count.partition("..")
    return {"least": "" if least == "0" and most else least, "most": most if dots else least}
