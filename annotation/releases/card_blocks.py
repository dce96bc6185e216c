"""The card of a release for a page to show: as much of Markdown as releasing/documents writes, and no more. Pure.

What people wrote stands in the card escaped, so nothing of it is mistaken for a mark. A page escapes it in its own way.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MARKS = re.compile(
    r"\\(?P<plain>[^\w\n])|(?P<bold>\*\*)|`(?P<code>[^`]+)`|<(?P<link>https?://[^<>\s]+)>|(?P<line>\\?\n)"
)
FRONT = re.compile(r"---\n.*?\n---\n", re.DOTALL)  # YAML, for programs
FENCE = re.compile(r"`{3,}")
POINT = re.compile(r"(?:-|\d+\.) ")
BETWEEN = " | "  # two cells


@dataclass(frozen=True, slots=True)
class Run:
    """`kind`: text, code, link, or line (a new one begins)."""

    kind: str
    text: str = ""
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """`kind`: heading (of `level`), text, list, steps (a numbered list), table (`rows`, first its head), code (`text`).

    `parts` are their runs.
    """

    kind: str
    parts: Sequence[Sequence[Run]] = ()
    rows: Sequence[Sequence[Sequence[Run]]] = ()
    text: str = ""
    level: int = 0
    figures: frozenset[int] = frozenset()  # columns of a table that hold numbers


def blocks(card: str) -> Iterator[Block]:
    """What stands in it, in order, without the YAML at its head."""
    for lines in _parted(FRONT.sub("", card, count=1).split("\n")):
        first = lines[0]
        if FENCE.match(first):
            yield Block("code", text="\n".join(lines[1:-1]))
        elif first.startswith("#"):
            marks, _, words = first.partition(" ")
            yield Block("heading", [runs(words)], level=len(marks))
        elif first.startswith("| "):
            yield _table(lines)
        elif POINT.match(first):
            yield Block(
                "steps" if first[0].isdigit() else "list", [runs(POINT.sub("", line, count=1)) for line in lines]
            )
        else:
            yield Block("text", [runs("\n".join(lines))])


def _parted(lines: Sequence[str]) -> Iterator[list[str]]:
    """At empty lines, but for those in a block of code."""
    found, fence = [], ""
    for line in [*lines, ""]:
        if mark := FENCE.match(line):
            fence = "" if line == fence else fence or mark.group()
        if line or fence:
            found.append(line)
        elif found:
            yield found
            found = []


def _table(lines: Sequence[str]) -> Block:
    cells = [line.removeprefix("| ").removesuffix(" |").split(BETWEEN) for line in lines]
    figures = frozenset(number for number, mark in enumerate(cells[1]) if mark.endswith(":"))
    return Block("table", rows=[list(map(runs, row)) for row in (cells[0], *cells[2:])], figures=figures)


def runs(words: str) -> list[Run]:
    """Stretches of one look."""
    found, bold, at = [], False, 0
    for mark in MARKS.finditer(words):
        found.append(Run("text", words[at : mark.start()], bold))
        kind, at = mark.lastgroup, mark.end()
        if kind == "bold":
            bold = not bold
        else:
            said = "" if kind == "line" else mark.group(kind)
            found.append(Run("text" if kind == "plain" else kind, said, bold))
    found.append(Run("text", words[at:], bold))
    return _joined(found)


def _joined(found: Sequence[Run]) -> list[Run]:
    """Texts of one look that follow each other are one."""
    joined: list[Run] = []
    for run in found:
        if joined and run.kind == "text" and (joined[-1].kind, joined[-1].bold) == ("text", run.bold):
            joined[-1] = Run("text", joined[-1].text + run.text, run.bold)
        elif run.text or run.kind == "line":
            joined.append(run)
    return joined
