"""Parse instructions: blank lines separate paragraphs, lines that start with "- " form a list. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph (`text`) or a list (`points`)."""

    text: str = ""
    points: tuple[str, ...] = ()


def blocks(text: str) -> list[Block]:
    """`"Read.\\n\\n- one\\n- two"` → a paragraph and a list of two points. A point may span several lines."""
    found = []
    for part in text.strip().replace("\r\n", "\n").split("\n\n"):
        before, *points = f"\n{part.strip()}".split("\n- ")
        if before.strip():
            found.append(Block(text=_line(before)))
        if points:
            found.append(Block(points=tuple(_line(point) for point in points)))
    return found


def _line(text: str) -> str:
    return " ".join(text.split())
