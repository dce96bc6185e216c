"""Parse and write back comprehension questions as managers type them (docs/guide/checks.md). Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

MOST_OPTIONS = 9


class Unreadable(ValueError):
    """The text cannot be parsed; `reasons` has a sentence for each problem."""

    def __init__(self, reasons: Sequence[str]):
        super().__init__("\n".join(reasons))
        self.reasons = list(reasons)


@dataclass(frozen=True, slots=True)
class Known:
    """An item's correct answers; empty to use the imported ones or the protocol's."""

    answers: Sequence[str] = ()
    note: str = ""  # practice only: shown after the answer


# Comprehension questions: [{"question", "options": [...], "answer": index}]


def read_questions(text: str) -> list[dict]:
    """Parse blocks separated by blank lines: the question, then a line per option, `- ` or, for the correct one, `* `.

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
        yield f"it has {len(marked)} options; it needs 2 to {MOST_OPTIONS}."
    if right != 1:
        yield f"{right} options are marked correct; mark exactly one with * instead of -."
    if len({line[2:].strip() for line in marked}) < len(marked):
        yield "two options are the same."


def write_questions(questions: Iterable[Mapping]) -> str:
    """Invert `read_questions`."""
    blocks = []
    for one in questions:
        options = [f"{'*' if n == one['answer'] else '-'} {option}" for n, option in enumerate(one["options"])]
        blocks.append("\n".join([one["question"], *options]))
    return "\n\n".join(blocks)
