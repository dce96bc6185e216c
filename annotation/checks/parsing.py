"""What managers type or paste about known items and comprehension questions, read and written back. Pure.

docs/guide/checks.md describes both formats.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST_OPTIONS = 9
NOTE = " # "


class Unreadable(ValueError):
    """What was typed cannot be read; `reasons` has a sentence for each thing that is wrong, `read` what is not."""

    def __init__(self, reasons: Sequence[str], read: Mapping[str, "Known"] | None = None):
        super().__init__("\n".join(reasons))
        self.reasons = list(reasons)
        self.read = read or {}


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of an item: right answers, or none to take those that the import brought or the protocol knows."""

    answers: Sequence[str] = ()
    note: str = ""  # of training: said after the answer


def keys_in(text: str) -> set[str]:
    """Every key that a line could mean."""
    firsts = [_columns(line)[0] for line in text.splitlines() if line.strip()]
    return {*firsts, *(first.rsplit(None, 1)[0] for first in firsts if first)}


def read_known(text: str, keys: Collection[str]) -> dict[str, Known]:
    """What each line says of an item, by its key, in the order of the lines.

    A line is `key`, or `key answer|answer`, each perhaps with ` # note`; with tabs, the three are columns. A key may
    hold spaces: `keys` are those that there are. Raises Unreadable.
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
            reasons.append(f"Line {number}: item {key} is on line {lines[key]} already.")
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
    blocks = []
    for one in questions:
        options = [f"{'*' if n == one['answer'] else '-'} {option}" for n, option in enumerate(one["options"])]
        blocks.append("\n".join([one["question"], *options]))
    return "\n\n".join(blocks)
