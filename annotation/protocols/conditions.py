"""Questions asked only about some items: `when` with `item`, depending on what an item has or its attributes. Pure.

Conditions are on the whole item, never on a task's parts, so they cannot reveal the right option (law 4).
"""

from collections.abc import Mapping, Sequence

from annotation.protocols import schema
from annotation.protocols.schema import ProtocolFile
from benchmarks.records import Attributes, ItemRecord


class Never(schema.When):
    """The condition of a question that does not apply to the item."""


def depends_on_items(answer: schema.Answer) -> bool:
    """Return whether the question is not asked about some items, whatever was answered before."""
    return answer.when is not None and bool(answer.when.item)


def about(file: ProtocolFile, item: ItemRecord, parts: Mapping[str, Sequence[str]]) -> ProtocolFile:
    """Return the file for one item: conditions on items are removed if met, and otherwise become `Never`, as do those
    of questions that wait for one never asked. `parts` are the identities of the item by role.
    """
    never: set[str] = set()
    found = []
    for answer in file.answers:
        when = _when(answer.when, item, parts, never) if answer.when else None
        if isinstance(when, Never):
            never.add(answer.name)
        found.append(answer.model_copy(update={"when": when}))
    return file.model_copy(update={"answers": found})


def _when(
    when: schema.When, item: ItemRecord, parts: Mapping[str, Sequence[str]], never: set[str]
) -> schema.When | None:
    def may_come(address: str) -> bool:
        return address.partition(".")[0] not in never

    any_of = {address: wanted for address, wanted in when.any.items() if may_come(address)}
    if not (
        all(map(may_come, when.all))
        and (any_of or not when.any)
        and all(_is_met(fact, wanted, item, parts) for fact, wanted in when.item.items())
    ):
        return Never()
    return schema.When(all=when.all, any=any_of) if when.all or any_of else None


def _is_met(fact: str, wanted: Sequence[str], item: ItemRecord, parts: Mapping[str, Sequence[str]]) -> bool:
    role, attribute = parts_of_fact(fact)
    if not role:
        return bool(_among(wanted, item.fields().get(attribute)))
    if not attribute:
        return schema.is_within(len(parts.get(role, ())), wanted[0])
    attributes = item.attributes()
    said = (attributes.get(identity, {}).get(attribute) for identity in parts.get(role, ()))
    return any(_among(wanted, one) for one in said)


def parts_of_fact(fact: str) -> tuple[str, str]:
    """Return the role and attribute in a key of `item`: `images.scene`, `images.scene.model`, or the item's `model`."""
    kind, _, rest = fact.partition(".")
    if not rest:
        return "", kind
    name, _, attribute = rest.partition(".")
    return f"{kind}.{name}", attribute


def _among(wanted: Sequence[str], said: object) -> list[str]:
    """Return which of the wanted values occur in a value or a list of them."""
    there = {str(schema.as_value(one)) for one in (said if isinstance(said, list) else [said])}
    return [one for one in wanted if one in there]


def suiting(file: ProtocolFile) -> tuple[dict[str, Attributes], dict[str, str]]:
    """Return attributes by role, and the item's own, with which made-up items meet the conditions."""
    by_role: dict[str, dict[str, str]] = {}
    own: dict[str, str] = {}
    for answer in file.answers:
        for fact, wanted in (answer.when.item if answer.when else {}).items():
            role, attribute = parts_of_fact(fact)
            if attribute:
                (by_role.setdefault(role, {}) if role else own).setdefault(attribute, wanted[0])
    return dict(by_role), own
