"""What managers type or paste about known items and comprehension questions, read and written back. Pure.

docs/guide/checks.md describes both formats.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST_OPTIONS = 9
NOTE = " # "


class Unreadable(ValueError):
    """What was typed cannot be read; `reasons` has a sentence for each thing that is wrong."""

    def __init__(self, reasons: Sequence[str]):
        super().__init__("\n".join(reasons))
        self.reasons = list(reasons)


@dataclass(frozen=True, slots=True)
class Line:
    """An item's key, its right answers (none: those that are known), and what is said after the answer."""

    key: str
    answers: tuple[str, ...] = ()
    note: str = ""


def keys_in(text: str) -> set[str]:
    """Every key that a line could mean."""
    return {key for line in _lines(text) for key in (_parts(line)[0], _alone(_parts(line)[0]))}


def read_lines(text: str, keys: Collection[str]) -> list[Line]:
    """`key`, or `key answer|answer`, each perhaps with ` # note`; with tabs, the three are columns. A key may hold
    spaces: `keys` are those that there are. Raises Unreadable.
    """
    found, reasons, seen = [], [], {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        read = _read(line, keys)
        if read.key not in keys:
            reasons.append(f"Line {number}: the benchmark has no item {read.key}.")
        elif read.key in seen:
            reasons.append(f"Line {number}: item {read.key} is on line {seen[read.key]} already.")
        seen.setdefault(read.key, number)
        found.append(read)
    if reasons:
        raise Unreadable(reasons)
    return found


def _lines(text: str) -> Iterable[str]:
    return (line for line in text.splitlines() if line.strip())


def _parts(line: str) -> tuple[str, str, str]:
    """What stands before any note (or in the first column), the second column, the note."""
    if "\t" in line:
        first, second, third = [*(part.strip() for part in line.split("\t")), "", ""][:3]
        return first, second, third
    first, _, note = line.partition(NOTE)
    return first.strip(), "", note.strip()


def _alone(text: str) -> str:
    """Without its last word."""
    return text.rsplit(None, 1)[0] if text else ""


def _read(line: str, keys: Collection[str]) -> Line:
    first, answers, note = _parts(line)
    key = first
    if "\t" not in line and first not in keys and len(first.split()) > 1:
        key, answers = first.rsplit(None, 1)
    return Line(key, tuple(answer.strip() for answer in answers.split("|") if answer.strip()), note)


# Comprehension questions: [{"question", "options": [...], "answer": index}]


def read_questions(text: str) -> list[dict]:
    """Blocks parted by blank lines: the question, then a line for each option, `- ` or, for the right one, `* `.

    Raises Unreadable.
    """
    found, reasons = [], []
    blocks = [block for block in "\n".join(line.strip() for line in text.splitlines()).split("\n\n") if block.strip()]
    for number, block in enumerate(blocks, 1):
        lines = block.strip().split("\n")
        marked = [line for line in lines if line[:2] in {"- ", "* "}]
        question = " ".join(line for line in lines if line not in marked)
        reasons += [f"Question {number}: {reason}" for reason in _wrong(question, lines, marked)]
        right = [place for place, line in enumerate(marked) if line.startswith("* ")]
        options = [line[2:].strip() for line in marked]
        found.append({"question": question, "options": options, "answer": right[0] if right else 0})
    if reasons:
        raise Unreadable(reasons)
    return found


def _wrong(question: str, lines: Sequence[str], marked: Sequence[str]) -> Iterable[str]:
    right = sum(line.startswith("* ") for line in marked)
    if not question:
        yield "its first line is to be the question."
    elif list(lines[len(lines) - len(marked) :]) != list(marked):
        yield "options come after the question, each on a line of its own that starts with - or *."
    if not 2 <= len(marked) <= MOST_OPTIONS:
        yield f"it has {len(marked)} options; 2 to {MOST_OPTIONS} can be asked."
    if right != 1:
        yield f"{right} options are marked right; mark exactly one with * in place of -."
    if len({line[2:].strip() for line in marked}) < len(marked):
        yield "two options are the same."


def write_questions(questions: Iterable[Mapping]) -> str:
    """What `read_questions` reads."""
    return "\n\n".join(
        "\n".join([one["question"], *(_option(one, place) for place in range(len(one["options"])))])
        for one in questions
    )


def _option(question: Mapping, place: int) -> str:
    return f"{'*' if place == question['answer'] else '-'} {question['options'][place]}"
