"""Fit questions to a benchmark, unchanged or with its own names for roles; and how much of an item they show."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from annotation.designs.plan import StagePlan
from annotation.designs.presets import expected_carry, unsuited
from annotation.protocols.base import UnsuitableItem, caption_role, carried_texts
from annotation.protocols.registry import is_known, protocol_named
from annotation.protocols.roles import joined, split
from annotation.protocols.schema import ProtocolFile, bounds
from annotation.protocols.values import role_of
from benchmarks.records import ItemRecord, role_order

_PICTURES, _TEXTS = "images", "captions"
_ALIKE = {  # names that people use for the same part
    _TEXTS: (
        {"positive", "caption", "text", "sentence", "statement", "description", "prompt"},
        {"positive", "caption", "text", "sentence", "description", "candidate"},
        {"negative", "foil", "false_caption", "distractor", "hard_negative"},
        {"question", "statement", "claim"},
        {"option", "candidate", "choice", "answer"},
        {"second_positive", "hard_positive", "paraphrase"},
    ),
    _PICTURES: (
        {"positive", "picture", "image", "scene", "photo", "figure"},
        {"negative", "foil", "distractor"},
        {"picture", "image", "option", "candidate", "choice"},
    ),
}
_WRONG = _ALIKE[_TEXTS][2] | _ALIKE[_PICTURES][1]  # names that can have only this meaning


@dataclass(frozen=True, slots=True)
class RoleChoice:
    """A role of a question that the benchmark lacks or that is mapped: `name` is the benchmark's name for it, and
    `there` its possible names, each with the number of such parts in an item.
    """

    role: str
    name: str
    there: tuple[tuple[str, int], ...]
    optional: bool


def fitted(stages: Sequence[StagePlan], item: ItemRecord) -> list[StagePlan] | None:
    """Return the stages as they can ask about the item, with roles mapped if needed; None if they cannot."""
    if unsuited(stages, item) is None:
        return list(stages)
    found = guessed(stages, item)
    return None if found is None or unsuited(found, item) else found


def guessed(stages: Sequence[StagePlan], item: ItemRecord) -> list[StagePlan] | None:
    """Return the stages with roles mapped if their meaning is clear, whether or not they then suit the item."""
    found: list[StagePlan] = []
    for stage in stages:
        roles = {choice.role: choice.name for choice in role_choices(stage, [*found, stage], item)}
        protocol = joined(split(stage.protocol)[0], roles)
        if not is_known(protocol):
            return None
        found.append(replace(stage, name=stage.stage_name, protocol=protocol))
    return found


def role_choices(stage: StagePlan, stages: Sequence[StagePlan], item: ItemRecord) -> list[RoleChoice]:
    """Return the stage's roles that need the benchmark's name, with a guess or with the name in the plan. `stages` has
    the stage and those before it.
    """
    base, mapped = split(stage.protocol)
    file = protocol_named(base).made_from
    if file is None:
        return []
    there = _parts(item, stage, stages)
    missing = [role for role, count in file.roles.items() if role in mapped or not there[_kind(role), _name(role)]]
    missing = [role for role in missing if role in mapped or bounds(file.roles[role])[0] or _free(file, role, there)]
    taken = {(_kind(role), mapped.get(role, _name(role))) for role in file.roles if role not in missing} | {
        (_kind(role), name) for role, name in mapped.items()
    }
    found = []
    for role in missing:
        of_kind = sorted({name for kind, name in there if kind == _kind(role)}, key=role_order)
        name = mapped.get(role) or _guess(
            file, role, [one for one in of_kind if (_kind(role), one) not in taken], there
        )
        taken.add((_kind(role), name))
        counts = tuple((one, there[_kind(role), one]) for one in of_kind)
        found.append(RoleChoice(role, name, counts, optional=not bounds(file.roles[role])[0]))
    return found


def _parts(item: ItemRecord, stage: StagePlan, stages: Sequence[StagePlan]) -> Counter[tuple[str, str]]:
    """Return how many pictures and texts the item would have in the stage, by role."""
    carried = expected_carry(stage, stages)
    record = item.with_captions(carried_texts(carried))
    found = Counter((_TEXTS, one.role) for one in record.captions)
    roles = {one.role for one in record.images}
    found |= {(_PICTURES, role): len(record.latest(role)) for role in roles}
    return found | Counter({(_PICTURES, role): 1 for role in carried if not role.startswith("caption-")})


def _kind(role: str) -> str:
    return _PICTURES if role.startswith("images.") else _TEXTS


def _name(role: str) -> str:
    return role.partition(".")[2]


def _free(file: ProtocolFile, role: str, there: Counter[tuple[str, str]]) -> list[str]:
    """Return the item's parts whose names are not roles in the file."""
    own = {(_kind(one), _name(one)) for one in file.roles}
    return [name for kind, name in there if kind == _kind(role) and (kind, name) not in own]


def _guess(file: ProtocolFile, role: str, free: Sequence[str], there: Counter[tuple[str, str]]) -> str:
    """Return the part of the item that is meant: one with a name of the same meaning, or the only one with an unknown
    name; the role's own name if neither exists. A part known to be something else, such as a negative, is never meant.
    """
    kind, (least, most) = _kind(role), bounds(file.roles[role])  # `first` also counts as one
    fitting = [name for name in free if least <= there[kind, name] <= (most or 99)]
    alike = [name for name in fitting if any({name, _name(role)} <= names for names in _ALIKE[kind])]
    strange = [name for name in fitting if least and not any(name in names for names in _ALIKE[kind])]
    return next(iter(alike), strange[0] if len(strange) == 1 else _name(role))


def mapped_by_hand(stage: StagePlan, item: ItemRecord, before: Sequence[StagePlan] = ()) -> dict[str, str]:
    """Map each role to a part that could be meant, if names leave it open, so that a question suits the item after all;
    empty if no choice of parts would do. `before`: the stages whose results it may take.
    """
    found: dict[str, str] = {}
    file = protocol_named(split(stage.protocol)[0]).made_from
    for choice in role_choices(stage, [*before, stage], item):
        least, most = bounds(file.roles[choice.role]) if file else (0, 0)
        could = [name for name, n in choice.there if least <= n <= (most or 99) and name not in _WRONG]
        found[choice.role] = next(iter(could), choice.name) if choice.name == _name(choice.role) else choice.name
    protocol = joined(split(stage.protocol)[0], found)
    asked = [*before, replace(stage, name=stage.stage_name, protocol=protocol)]
    suits = is_known(protocol) and unsuited(asked, item) is None
    return found if suits else {}


def coverage(stages: Sequence[StagePlan], item: ItemRecord) -> float:
    """Return the share of the item's roles that the stages show."""
    roles = _roles(item)
    return 1 - len(hidden(stages, item)) / len(roles) if roles else 0


def hidden(stages: Sequence[StagePlan], item: ItemRecord) -> list[tuple[str, str]]:
    """Return kind and role of the item's parts that no stage shows."""
    return sorted(_roles(item) - {role for stage in stages for role in _shown(stage, stages, item)})


def _roles(item: ItemRecord) -> set[tuple[str, str]]:
    return {(_PICTURES, one.role) for one in item.images} | {(_TEXTS, one.role) for one in item.captions}


def _shown(stage: StagePlan, stages: Sequence[StagePlan], item: ItemRecord) -> Iterator[tuple[str, str]]:
    try:
        tasks = protocol_named(stage.protocol).tasks_for(item, expected_carry(stage, stages))
    except UnsuitableItem:
        return
    for identity in {one for task in tasks for one in (*task.shows, *task.options)}:
        is_text = identity.startswith("caption-")
        yield (_TEXTS, caption_role(identity)) if is_text else (_PICTURES, role_of(identity))
