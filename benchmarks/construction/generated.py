"""Captions made by a language model: strict parsing of its answers, and subsequent filtering. Pure.

An answer that breaks its template is dropped with a reason, as BiVLC §5.1 does by a heuristic that it does not
describe; ours are the checks below. Words are compared in a simplified form (`simple_words`).
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import floor

from benchmarks.construction.batch import Dropped
from benchmarks.construction.prompts import CHECKED, NEGATIVE, CaptionKind

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
GRAMMAR = {  # words that may change with the noun
    "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "do", "does",
}  # fmt: skip
JOINING = {"and", "with", "of", "or"}  # words that may accompany an added object or attribute
NEGATIONS = {
    "not", "no", "never", "without", "neither", "nor", "nobody", "nothing", "none",
    "isn't", "aren't", "doesn't", "don't",
}  # fmt: skip
LONGEST = 1_000  # characters of a new caption
NONE = "none"
FINAL = (".", "!", "…")
CLOSING = "\"'”’)]»"

EMPTY = "the answer is empty"
CUT_OFF = "the answer is cut off"
DECLINED = "the model or its endpoint declines to answer"
OTHER_TEXT = "the answer has text besides the template’s lines"
LINE_MISSING = "a line of the template is missing or empty"
LINE_AGAIN = "a line of the template is repeated or out of order"
NOTHING_FOUND = "the model finds nothing to change"
NOT_YES_OR_NO = "the answer is neither yes nor no"
CHECK_DIFFERS = "the check says yes and changes the caption"
NOT_IN_CAPTION = "the model’s choice is not in the caption"
NOT_NEW = "the model’s addition is already in the caption"
NEGATION = "the model negates"
OTHER_WORDS = "the new caption changes other words too"
UNCHANGED = "the new caption has the same words in the same order"
NOT_AROUND_AND = "the parts are not on both sides of a single “and”"
TOO_LONG = f"the new caption is longer than {LONGEST:,} characters"
QUESTION = "the new caption is a question"
NO_FINAL_STOP = "the new caption has no full stop at its end"
TRUE_CAPTION = "the new caption is another caption of the image or item"
DUPLICATE = "the same caption was made before"
ENDS = {"length": CUT_OFF, "content_filter": DECLINED, "refusal": DECLINED}  # why a model stopped → reason for dropping


@dataclass(frozen=True, slots=True)
class Parsed:
    """The new caption in an answer, and the values of the lines before it by their label."""

    text: str
    parts: dict[str, str]


def parse(kind: CaptionKind, caption: str, answer: str, finish: str = "stop") -> Parsed:
    """Return the answer's caption. Raises Dropped if it breaks the template or a rule of the kind.

    `finish`: why the model stopped, in chat endpoints' terms.
    """
    values = _lines(kind.lines, answer, finish)
    *parts, text = values.values()
    if kind.lines[0] == "Possible" and parts[0].lower().rstrip(".") not in ("yes", "no"):
        raise Dropped(NOT_YES_OR_NO)
    declined = kind.lines[0] == "Possible" and parts[0].lower().startswith("no")
    if declined or any(value.lower().rstrip(".") == NONE for value in values.values()):
        raise Dropped(NOTHING_FOUND)
    if len(text) > LONGEST:
        raise Dropped(TOO_LONG)
    if simple_words(text) == simple_words(caption):
        raise Dropped(UNCHANGED)
    CHECKS[kind.check](caption, text, parts)
    return Parsed(text, {label: values[label] for label in kind.lines[:-1]})


def parse_line(label: str, answer: str, finish: str = "stop") -> str:
    """Return the line that a step asked for, as written in a whole answer. Raises Dropped as `parse` does."""
    [value] = _lines((label,), answer, finish).values()
    if value.lower().rstrip(".") == NONE:
        raise Dropped(NOTHING_FOUND)
    return f"{label}: {value}"


def parse_check(caption: str, second: str, answer: str, finish: str = "stop") -> str:
    """Return the second positive after its check: unchanged, or another one. Raises Dropped as `parse` does."""
    verdict, text = _lines(CHECKED, answer, finish).values()
    if verdict.lower().rstrip(".") not in ("yes", "no"):
        raise Dropped(NOT_YES_OR_NO)
    if verdict.lower().startswith("yes") and simple_words(text) != simple_words(second):
        raise Dropped(CHECK_DIFFERS)
    if len(text) > LONGEST:
        raise Dropped(TOO_LONG)
    if simple_words(text) == simple_words(caption):
        raise Dropped(UNCHANGED)
    return second if verdict.lower().startswith("yes") else text


def _lines(labels: Sequence[str], answer: str, finish: str) -> dict[str, str]:
    """Return the value of each of the template's lines, which must each occur once, in order, with nothing between."""
    if finish in ENDS:
        raise Dropped(ENDS[finish])
    found: dict[str, str] = {}
    lines = [line.strip() for line in answer.strip().splitlines() if line.strip()]
    if not lines:
        raise Dropped(EMPTY)
    for line in lines:
        label, colon, value = line.partition(":")
        if not colon or label not in labels:
            raise Dropped(OTHER_TEXT)
        if label in found or list(found) != list(labels[: labels.index(label)])[: len(found)]:
            raise Dropped(LINE_AGAIN)
        found[label] = " ".join(value.split())
    if list(found) != list(labels) or not all(found.values()):
        raise Dropped(LINE_MISSING if set(found) != set(labels) or not all(found.values()) else LINE_AGAIN)
    return found


def words_of(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def simple_words(text: str | Iterable[str]) -> list[str]:
    """Return the words in lower case, without punctuation, articles, forms of be, have and do, and without plural and
    third-person endings. Two captions with the same simple words are near-duplicates."""
    words = words_of(text) if isinstance(text, str) else text
    return [_stem(word) for word in words if word not in GRAMMAR]


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _places(part: Sequence[str], words: Sequence[str]) -> list[int]:
    """Return the positions at which the words of a part occur in sequence."""
    size = len(part)
    return [at for at in range(len(words) - size + 1) if size and list(words[at : at + size]) == list(part)]


def _replaced(caption: str, text: str, parts: Sequence[str]) -> None:
    """Check that one part of the caption is replaced by another."""
    old, new, words = words_of(parts[0]), words_of(parts[1]), words_of(caption)
    places = _places(old, words)
    if not places:
        raise Dropped(NOT_IN_CAPTION)
    _check_new(new, words)
    made = [simple_words([*words[:at], *new, *words[at + len(old) :]]) for at in places]
    if simple_words(text) not in made:
        raise Dropped(OTHER_WORDS)


def _swapped(caption: str, text: str, parts: Sequence[str]) -> None:
    """Check that two parts of the caption are swapped."""
    made = [simple for simple, _ in _swaps(caption, parts)]
    if simple_words(text) not in made:
        raise Dropped(OTHER_WORDS)


def _around_and(caption: str, text: str, parts: Sequence[str]) -> None:
    """Check that the parts before and after one “and” are swapped."""
    made = [simple for simple, between in _swaps(caption, parts) if simple_words(between) == ["and"]]
    if not made:
        raise Dropped(NOT_AROUND_AND)
    if simple_words(text) not in made:
        raise Dropped(OTHER_WORDS)


def _swaps(caption: str, parts: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Return each way to swap the parts: the simple words of the result, and the words between the parts."""
    words, one, other = words_of(caption), words_of(parts[1]), words_of(parts[2])
    found = []
    for first, second in ((one, other), (other, one)):
        for start in _places(first, words):
            end = start + len(first)
            for later in (place for place in _places(second, words) if place >= end):
                between, after = words[end:later], words[later + len(second) :]
                made = [*words[:start], *second, *between, *first, *after]
                found.append((simple_words(made), between))
    if not found:
        raise Dropped(NOT_IN_CAPTION)
    return found


def _added(caption: str, text: str, parts: Sequence[str]) -> None:
    """Check that the caption's words keep their order, with only additions, if need be after a joining word."""
    words, new = words_of(caption), words_of(parts[1])
    if not _places(words_of(parts[0]), words):
        raise Dropped(NOT_IN_CAPTION)
    _check_new(new, words)
    before, after = simple_words(caption), simple_words(text)
    rest = iter(after)
    stays = all(word in rest for word in before)  # a subsequence: `in` consumes the iterator
    more = Counter(after) - Counter(before) - Counter(simple_words(new))
    if not stays or Counter(simple_words(new)) - (Counter(after) - Counter(before)) or more.keys() - JOINING:
        raise Dropped(OTHER_WORDS)


def _check_new(new: Sequence[str], words: Sequence[str]) -> None:
    if NEGATIONS & set(new):
        raise Dropped(NEGATION)
    if not simple_words(new) or _places(simple_words(new), simple_words(words)):
        raise Dropped(NOT_NEW)


def _paraphrased(caption: str, text: str, parts: Sequence[str]) -> None:
    """Accept any other words."""


CHECKS: dict[str, Callable[[str, str, Sequence[str]], None]] = {
    "replaced": _replaced,
    "swapped": _swapped,
    "around and": _around_and,
    "added": _added,
    "paraphrased": _paraphrased,
}


# After parsing


class Cleaner:
    """Drops questions, captions without a final stop, and near-duplicates (BiVLC §5.2, step 2).

    Near-duplicates have the same `simple_words`. A new caption must not duplicate one that its image or item already
    has; a negative must not duplicate any earlier negative, of any item.
    """

    def __init__(self) -> None:
        self._made: set[tuple[str, ...]] = set()

    def check(self, kind: CaptionKind, text: str, known: Collection[str]) -> str:
        """Return the reason to drop a caption, or an empty text. `known`: captions of the same image and item."""
        body = text.rstrip().rstrip(CLOSING)
        if body.endswith(("?", "？")):
            return QUESTION
        if not body.endswith(FINAL):
            return NO_FINAL_STOP
        form = tuple(simple_words(text))
        if any(form == tuple(simple_words(other)) for other in known):
            return TRUE_CAPTION
        if kind.role != NEGATIVE:
            return ""
        if form in self._made:
            return DUPLICATE
        self._made.add(form)
        return ""


def combined(plausibility: float | None, grammar: float | None) -> float:
    """Return the mean of the available scores. BiVLC §5.2 uses a combined score without specifying it; as both range
    from 0 to 1, the mean gives both models the same weight."""
    scores = [score for score in (plausibility, grammar) if score is not None]
    return sum(scores) / len(scores)


def top_share(scores: Sequence[float], share: float) -> set[int]:
    """Return the positions of the best scores: `share` of them (0.35 in BiVLC §5.2), rounded down, but at least one.
    Among equal scores, earlier ones are kept. Raises ValueError unless 0 < share ≤ 1."""
    if not 0 < share <= 1:
        raise ValueError(f"The share must be greater than 0 and at most 1, not {share}.")
    best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))
    return set(best[: max(1, floor(round(share * len(scores), 9)))])
