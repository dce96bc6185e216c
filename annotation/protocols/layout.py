"""The places where a protocol file's screen shows the parts of a task, in the order of `tasks.tasks_of`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.protocols import schema, values
from annotation.protocols.base import caption_role
from annotation.protocols.schema import ProtocolFile, bounds

PICTURES, TEXTS = ("images",), ("captions", "texts", "lists")


@dataclass(frozen=True, slots=True)
class Layout:
    """The identities that each block shows (none if the item lacks them), and those asked about, by answer: the list of
    a check, the text that is marked or edited.
    """

    blocks: tuple[tuple[schema.Block, tuple[str, ...]], ...]
    asked: Mapping[str, tuple[str, ...]]


def layout_of(file: ProtocolFile, shows: Sequence[str]) -> Layout:
    """Return the layout of a task that shows these parts."""
    bound, rest = bound_roles(file), list(shows)
    blocks = tuple((block, _taken(file, rest, *shown_name(block), bound)) for block in file.screen)
    asked = {}
    for answer in file.answers:
        if isinstance(answer, schema.Words | schema.Edit) or (isinstance(answer, schema.Check) and answer.of):
            asked[answer.name] = _taken(file, rest, str(answer.of).rpartition(".")[2], TEXTS, bound)
    return Layout(blocks, asked)


def _taken(
    file: ProtocolFile, rest: list[str], name: str, kinds: Sequence[str], bound: Mapping[str, list[str]]
) -> tuple[str, ...]:
    """Remove the next identities with this name from `rest`, and return them."""
    if name in bound:
        count = 1
    else:
        least, most = next(bounds(file.roles[f"{kind}.{name}"]) for kind in kinds if f"{kind}.{name}" in file.roles)
        # an image chosen by an earlier stage has another role
        count = least if least == most else len(_of_role(rest, name, kinds))
    taken = tuple(rest[:count])
    del rest[:count]
    return taken


def _of_role(rest: Sequence[str], name: str, kinds: Sequence[str]) -> list[str]:
    """Return the first identities of the role, up to one of another."""
    found: list[str] = []
    for one in rest:
        role = values.role_of(one) if kinds == PICTURES else caption_role(one)
        if role != name:
            break
        found.append(one)
    return found


def drawn_by(block: schema.Picture) -> list[tuple[str, str]]:
    """Return what is drawn on the picture: `points` or `boxes`, and the text or attribute that has them."""
    return [(kind, name) for kind, name in (("points", block.points), ("boxes", block.boxes)) if name]


def shown_name(block: schema.Block) -> tuple[str, Sequence[str]]:
    """Return the role, or the name of a task's part, that the block shows, and the kinds of role it may be."""
    match block:
        case schema.Picture(picture=name) | schema.OnRequest(on_request=name) | schema.Pictures(pictures=name):
            return name, PICTURES
        case schema.Sentence(sentence=name) | schema.Listed(list=name):
            return name, TEXTS
    raise AssertionError(block)


def bound_roles(file: ProtocolFile) -> dict[str, list[str]]:
    """Return, by name, the roles whose members it stands for in a task."""
    match file.tasks:
        case schema.Each(each=each):
            return {name: list(roles) for name, roles in each.items()}
        case schema.Rows(rows=rows):
            found: dict[str, list[str]] = {}
            for row in rows.values():
                for name, role in row.items():
                    found.setdefault(name, []).append(role)
            return found
    return {}
