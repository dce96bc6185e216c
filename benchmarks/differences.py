"""The differences between two texts, as parts and as HTML."""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString

WORDS = re.compile(r"\s*(?:[\u2e80-\u9fff]|(?:(?![\u2e80-\u9fff])[\w'’-])+|\S)|\s+")  # with the preceding space
ALIKE = 0.5  # share of common words; lines with less in common are shown whole, because mixed fragments are unreadable
MOST = 4_000  # lines, and differing words, of both texts together: the time grows as their square
SAME, REMOVED, ADDED = "same", "removed", "added"
Part = tuple[str, str]  # SAME, REMOVED or ADDED, and its text


def differences(before: str, after: str) -> list[Part]:
    """Return what stayed, was removed or added, in reading order: by lines, then by words in differing lines.

    Compare only lines beyond MOST differing words; beyond MOST lines in total, return both texts whole.
    """
    old, new, left = before.splitlines(keepends=True), after.splitlines(keepends=True), MOST

    def by_words(before: Sequence[str], after: Sequence[str]) -> Iterator[Part]:
        nonlocal left
        was, now = WORDS.findall("".join(before)), WORDS.findall("".join(after))
        left -= len(was) + len(now)
        if left < 0 or SequenceMatcher(None, was, now).ratio() < ALIKE:
            return _replaced(before, after)
        return _compared(was, now, _replaced)

    return list(_compared(old, new, by_words) if len(old) + len(new) <= MOST else _replaced(old, new))


def _replaced(before: Sequence[str], after: Sequence[str]) -> Iterator[Part]:
    yield REMOVED, "".join(before)
    yield ADDED, "".join(after)


def _compared(before: Sequence[str], after: Sequence[str], within: Callable) -> Iterator[Part]:
    for kind, i, j, k, m in SequenceMatcher(None, before, after).get_opcodes():
        if kind == "replace":
            yield from within(before[i:j], after[k:m])
        elif kind == "equal":
            yield SAME, "".join(after[k:m])
        else:
            yield (REMOVED, "".join(before[i:j])) if kind == "delete" else (ADDED, "".join(after[k:m]))


def marked(parts: Sequence[Part], removed: str = "removed: ", added: str = "added: ") -> SafeString:
    """Return the parts as HTML: `ins` and `del`, which screen readers announce in words."""
    tags = {REMOVED: ("del", removed), ADDED: ("ins", added)}
    pieces = (
        format_html('<{0}><span class="visually-hidden">{1}</span>{2}</{0}>', *tags[kind], text)
        if kind in tags
        else text
        for kind, text in parts
        if text
    )
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def marked_apart(texts: Sequence[str]) -> list[SafeString]:
    """Return each text as HTML, marking words that it does not share with the first (the first: with the second).

    Case and punctuation are marked only if nothing else differs. Texts with too little in common are not marked.
    """
    if len(texts) < 2:
        return [escape(text) for text in texts]
    return [_marked_against(texts[1 if place == 0 else 0], text) for place, text in enumerate(texts)]


def _marked_against(other: str, text: str) -> SafeString:
    others, pieces = WORDS.findall(other), WORDS.findall(text)
    same_words = [*filter(None, map(_as_word, others))] == [*filter(None, map(_as_word, pieces))]
    marks = _differing(others, pieces, str.strip if same_words else _as_word)
    shown = SafeString()
    for is_marked, run in groupby(range(len(pieces)), key=marks.__contains__):
        words = "".join(pieces[place] for place in run)
        space = words[: len(words) - len(words.lstrip())]
        shown += format_html("{}<mark>{}</mark>" if is_marked and words.strip() else "{}{}", space, words.lstrip())
    return shown


def _as_word(piece: str) -> str:
    """Return the piece as it is compared; "" if it is punctuation."""
    word = piece.strip().casefold()
    return word if any(map(str.isalnum, word)) else ""


def _differing(before: Sequence[str], after: Sequence[str], key: Callable[[str], str]) -> set[int]:
    """Return the positions in `after` whose keys are not in `before`; none if the texts have too little in common."""
    was = [found for piece in before if (found := key(piece))]
    places = [place for place, piece in enumerate(after) if key(piece)]
    matcher = SequenceMatcher(None, was, [key(after[place]) for place in places], autojunk=False)
    if len(was) + len(places) > MOST or matcher.ratio() < ALIKE:
        return set()
    changed = (places[k:m] for kind, _, _, k, m in matcher.get_opcodes() if kind != "equal")
    return {place for run in changed if run for place in range(run[0], run[-1] + 1)}
