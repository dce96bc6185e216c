"""Parse and write back what managers type or paste about known items and comprehension questions. Pure.

docs/guide/checks.md describes both formats.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST_OPTIONS = 9
NOTE = " # "


class Unreadable(ValueError):
    """The text cannot be parsed; `reasons` has a sentence for each problem, `read` the lines without one."""

    def __init__(self, reasons: Sequence[str], read: Mapping[str, "Known"] | None = None):
        super().__init__("\n".join(reasons))
        self.reasons = list(reasons)
        self.read = read or {}


@dataclass(frozen=True, slots=True)
class Known:
    """An item's correct answers, or none to use the imported ones or the protocol's."""

    answers: Sequence[str] = ()
    note: str = ""  # practice only: shown after the answer


def keys_in(text: str) -> set[str]:
    """Every key that a line could refer to."""
    firsts = [_columns(line)[0] for line in text.splitlines() if line.strip()]
    return {*firsts, *(first.rsplit(None, 1)[0] for first in firsts if first)}


def read_known(text: str, keys: Collection[str]) -> dict[str, Known]:
    """The known answers on each line, by item key, in the order of the lines.

    A line is `key` or `key answer|answer`, optionally followed by ` # note`; with tabs, the three are columns. A key
    may contain spaces: `keys` are the existing ones. Raises Unreadable.
    """
    found: dict[str, Known] = {}
    reasons: list[str] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        key, answers, note = _columns(line)
        if "\t" not in line and key not in keys and len(key.split()) > 1:
            key, answers = key.rsplit(None, 1)
        if key not in keys:
            reasons.append(f"Line {number}: the benchmark has no item {key}.")
        elif key in lines:
            reasons.append(f"Line {number}: item {key} is already on line {lines[key]}.")
        lines.setdefault(key, number)
        found[key] = Known(tuple(answer.strip() for answer in answers.split("|") if answer.strip()), note)
    if reasons:
        raise Unreadable(reasons, {key: known for key, known in found.items() if key in keys})
    return found


def _columns(line: str) -> tuple[str, str, str]:
    """The first column (without tabs, everything before the note), the second one, and the note."""
    if "\t" in line:
        first, second, third = [*(part.strip() for part in line.split("\t")), "", ""][:3]
        return first, second, third
    first, _, note = line.partition(NOTE)
    return first.strip(), "", note.strip()


# Comprehension questions: [{"question", "options": [...], "answer": index}]


def read_questions(text: str) -> list[dict]:
    """Blocks separated by blank lines: the question, then one line per option, `- ` or, for the correct one, `* `.

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
        yield "the first line must be the question."
    elif list(lines[len(lines) - len(marked) :]) != list(marked):
        yield "put the options after the question, each on its own line starting with - or *."
    if not 2 <= len(marked) <= MOST_OPTIONS:
        yield f"it has {len(marked)} options; give 2 to {MOST_OPTIONS}."
    if right != 1:
        yield f"{right} options are marked correct; mark exactly one with * instead of -."
    if len({line[2:].strip() for line in marked}) < len(marked):
        yield "two options are the same."


def write_questions(questions: Iterable[Mapping]) -> str:
    """The inverse of `read_questions`."""
    blocks = []
    for one in questions:
        options = [f"{'*' if n == one['answer'] else '-'} {option}" for n, option in enumerate(one["options"])]
        blocks.append("\n".join([one["question"], *options]))
    return "\n\n".join(blocks)
