"""The tasks of an item under a protocol file.

The `question` of a task names it among the item's tasks: the row, the role or member that it is about, or the pair that
it compares. Like every identity, it never reaches an annotator.
"""

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from random import Random

from annotation.protocols import base, marks, schema, values
from annotation.protocols.conditions import Never, about, depends_on_items
from annotation.protocols.item_data import require_right_answers
from annotation.protocols.layout import drawn_by, shown_name
from annotation.protocols.measuring import parents_of
from annotation.protocols.schema import ProtocolFile, bounds
from benchmarks.naming import part_name
from benchmarks.records import ItemRecord, is_own

_TRIES = 100  # draws of a balanced design; most draws are balanced
Bound = Mapping[str, str]  # a name in the file → the identity it stands for in this task


def tasks_of(protocol: ProtocolFile, item: ItemRecord, carried: base.Carried) -> list[base.TaskSpec]:
    """Return the item's tasks. Raises UnsuitableItem, naming what the item lacks or has too much of."""
    parts = {}
    for role, count in protocol.roles.items():
        there = members(item, carried, role, schema.uses_first(count))
        _require(protocol, item, role, len(there), count)
        parts[role] = there[:1] if schema.uses_first(count) else there
    _require_parents(protocol, item, parts)
    require_right_answers(protocol, item)
    _require_drawn(protocol, item)
    if (tasks := _count(protocol, parts)) > schema.MOST_TASKS:
        lacks = f"item {item.key} would make {tasks:,} tasks under {protocol.name}, and an item can have at most"
        raise base.UnsuitableItem(f"{lacks} {schema.MOST_TASKS:,}")
    if all(isinstance(one.when, Never) for one in file_about(protocol, item, carried).answers):
        raise base.UnsuitableItem(f"item {item.key} is not asked any of the questions in {protocol.name}")
    bindings = list(_bindings(protocol, item, parts))
    _require_pictures(protocol, item, parts, [bound for _, bound in bindings])
    found = [_task(protocol, parts, question, bound) for question, bound in bindings]
    if not found:
        raise base.UnsuitableItem(f"item {item.key} has no task under {protocol.name}")
    return found


def file_about(protocol: ProtocolFile, item: ItemRecord, carried: base.Carried) -> ProtocolFile:
    """Return the file with its questions' conditions resolved for this item."""
    if not any(map(depends_on_items, protocol.answers)):
        return protocol
    roles = protocol.roles.items()
    return about(protocol, item, {role: members(item, carried, role, schema.uses_first(of)) for role, of in roles})


def members(item: ItemRecord, carried: base.Carried, role: str, of_all_rounds: bool = False) -> list[str]:
    """Return the identities of a role's members (`images.candidate`): what an earlier stage chose, else those of the
    item's last round, or of all rounds.
    """
    kind, _, name = role.partition(".")
    if kind != "images":
        return item.captions_as(name)
    if name in carried:
        return [carried[name]]
    return [f"{name}-{place}" for place in range(len(item.images_as(name)))] if of_all_rounds else item.latest(name)


def _require(protocol: ProtocolFile, item: ItemRecord, role: str, there: int, count: str) -> None:
    if schema.is_within(there, count):
        return
    has = _parts_in_words(role, f"{there or 'no'}", one=there == 1 or (not there and bounds(count)[1] == 1))
    if not there and role.startswith("images.") and bounds(count) == (1, 1):
        has += ", and no earlier stage has chosen one"
    lacks = f"item {item.key} has {has}; {protocol.name} needs {schema.how_many(count)}"
    raise base.UnsuitableItem(lacks, needs_in_words(role, count), there)


def _require_parents(protocol: ProtocolFile, item: ItemRecord, parts: Mapping[str, Sequence[str]]) -> None:
    """Check that texts of a checked list depend only on others of the list, and never on each other in a circle."""
    checks = [one for one in protocol.answers if isinstance(one, schema.Check) and one.parents]
    attributes = item.attributes() if checks else {}
    for one in checks:
        count = len(parts[str(one.of)])
        parents = dict(enumerate(parents_of(one, attributes), 1))
        for place, needs in parents.items():
            if wrong := [need for need in needs if type(need) is not int or not 1 <= need <= count]:
                lacks = f"item {item.key}: {one.parents} of text {place} of {one.of} has {wrong[0]!r:.40}"
                raise base.UnsuitableItem(f"{lacks}; it must name places from 1 to {count}")
        try:
            TopologicalSorter(parents).prepare()
        except CycleError as error:
            circle = " → ".join(map(str, error.args[1]))
            lacks = f"item {item.key}: according to {one.parents}, texts in {one.of} depend on themselves: {circle}"
            raise base.UnsuitableItem(f"{lacks}; remove one of these places") from None


def _require_drawn(protocol: ProtocolFile, item: ItemRecord) -> None:
    """Check that what is drawn on pictures can be read. Pictures' sizes are not known here: see `marks.from_data`."""
    blocks = [one for one in protocol.screen if isinstance(one, schema.Picture) and drawn_by(one)]
    attributes = item.attributes() if blocks else {}
    for block in blocks:
        for kind, name in drawn_by(block):
            texts: list[object] = [one.text for one in item.captions if one.role == name]
            for said in texts or [of[name] for of in attributes.values() if name in of]:
                try:
                    marks.from_data(kind, said, (10**9, 10**9))
                except marks.NotMarks as error:
                    raise base.UnsuitableItem(
                        f"item {item.key}: {name}, the {kind} of {block.picture}, {error}"
                    ) from None


def _require_pictures(
    protocol: ProtocolFile, item: ItemRecord, parts: Mapping[str, Sequence[str]], bindings: Sequence[Bound]
) -> None:
    """Check that what is marked or drawn on is a picture, not a video."""
    marked = [one.of for one in protocol.answers if isinstance(one, schema.Points | schema.Boxes)]
    marked += [one.picture for one in protocol.screen if isinstance(one, schema.Picture) and drawn_by(one)]
    videos = {
        f"{role}-{place}"
        for role in {one.role for one in item.images}
        for place, image in enumerate(item.images_as(role))
        if image.is_video
    }
    for name, bound in itertools.product(dict.fromkeys(marked), bindings):
        if videos.intersection([bound[name]] if name in bound else parts.get(f"images.{name}", ())):
            lacks = f"item {item.key} has a video as {name}, and {protocol.name} has points or boxes on it"
            raise base.UnsuitableItem(f"{lacks}, which only a picture can have; use a picture, such as one frame of it")


def needs_in_words(role: str, count: str) -> str:
    """Return what an item must have: `2 to 9 candidate images`, or in a user-defined role `1 image as “scene”`."""
    many = schema.how_many(count)
    return _parts_in_words(role, many, one=many == "1")


def _parts_in_words(role: str, many: str, one: bool) -> str:
    kind, _, name = role.replace("lists.", "texts.").partition(".")
    noun = kind.removesuffix("s") if one else kind
    return f"{many} {noun} as “{name}”" if is_own(name) else f"{many} {part_name(kind, name, several=not one)}"


def _count(protocol: ProtocolFile, parts: Mapping[str, Sequence[str]]) -> int:
    """Return how many tasks an item with these parts has, if the file does not specify that."""
    match protocol.tasks:
        case schema.Each(each=each):
            return math.prod(sum(len(parts[role]) for role in roles) for roles in each.values())
        case schema.Pairs(pairs=role, per_item=None):
            return math.comb(len(parts[role]), 2)
    return 1


def _bindings(
    protocol: ProtocolFile, item: ItemRecord, parts: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, Bound]]:
    """Yield the question and the names of each task."""
    match protocol.tasks:
        case schema.Each(each=each):
            through = [[one for role in roles for one in _named(protocol, role, parts)] for roles in each.values()]
            for combination in itertools.product(*through):
                names, identities = zip(*combination, strict=True)
                yield "/".join(names), dict(zip(each, identities, strict=True))
        case schema.Pairs():
            for pair in _pairs(protocol.tasks, item.key, parts[protocol.tasks.pairs]):
                yield "/".join(values.option_name(protocol, one) for one in pair), dict(zip("ab", pair, strict=True))
        case schema.Rows(rows=rows):
            for name, row in rows.items():
                if all(parts[role] for role in row.values()):
                    yield name, {bound: parts[role][0] for bound, role in row.items()}
        case _:
            yield "", {}


def _named(protocol: ProtocolFile, role: str, parts: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield each member's name and identity; one chosen by an earlier stage is named after the role."""
    name = role.partition(".")[2]
    for place, identity in enumerate(parts[role]):
        yield name if values.is_alone(protocol, role) else f"{name}-{place}", identity


def _pairs(tasks: schema.Pairs, key: str, there: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the pairs to compare, always the same for the same item."""
    every: list[tuple[str, ...]] = list(itertools.combinations(there, 2))
    if tasks.per_item is None or tasks.per_item >= len(every):
        return every
    dice = Random(hashlib.sha256(key.encode()).digest())
    if tasks.design == "random":
        return sorted(dice.sample(every, tasks.per_item))
    tried = (_balanced(dice.sample(every, len(every)), tasks.per_item) for _ in range(_TRIES))
    return sorted(next((drawn for drawn in tried if _imbalance(drawn, there) <= 1), _balanced(every, tasks.per_item)))


def _balanced(pairs: Sequence[tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    """Return `count` of the pairs, each time one whose members came up least so far, which may reach a dead end."""
    left, drawn = list(pairs), []
    partners = Counter(itertools.chain.from_iterable(pairs))  # how often each member occurs in the remaining pairs
    often = dict.fromkeys(partners, 0)
    for _ in range(count):
        fewest = min(often[one] for one, count in partners.items() if count)
        best = next((pair for pair in left if often[pair[0]] == fewest == often[pair[1]]), None)
        best = best or min(left, key=lambda pair: sorted([often[one] for one in pair], reverse=True))
        left.remove(best)
        drawn.append(best)
        partners.subtract(best)
        for one in best:
            often[one] += 1
    return drawn


def _imbalance(drawn: Sequence[Sequence[str]], members: Sequence[str]) -> int:
    often = Counter(one for pair in drawn for one in pair)
    counts = [often[one] for one in members]
    return max(counts) - min(counts)


def _task(protocol: ProtocolFile, parts: Mapping[str, Sequence[str]], question: str, bound: Bound) -> base.TaskSpec:
    shown = [identity for block in protocol.screen for identity in shown_by(block, parts, bound)]
    options: list[str] = []
    for one in protocol.answers:
        match one:
            case schema.Pair(of="pair"):
                options += bound.values()
            case schema.Pick() | schema.Rank() | schema.Pair():
                options += [identity for role in one.of for identity in parts[role]]
            case schema.Check(of=str(role)):
                shown += parts[role]
            case schema.Words() | schema.Edit():
                shown.append(bound.get(one.of) or parts[one.of][0])
    return base.TaskSpec(tuple(shown), tuple(dict.fromkeys(options)), question)


def shown_by(block: schema.Block, parts: Mapping[str, Sequence[str]], bound: Bound) -> list[str]:
    """Return the identities that a block of the screen shows."""
    name, kinds = shown_name(block)
    if name in bound:
        return [bound[name]]
    return [one for kind in kinds for one in parts.get(f"{kind}.{name}", ())]
