"""A benchmark's questions as choices put to a model in words, and parsing of its answers. Pure.

A question of a kind compares scores that have one part in common: an image whose caption is sought, or a caption whose
image is. That part is given, and the others are the options. Questions that compare only captions are not asked.
"""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.predictions.kinds import KINDS, NONE
from benchmarks.predictions.plan import Place, wanted_scores

LETTERS = string.ascii_uppercase
ALONE = "Answer with the letter alone."
WHICH_CAPTION = f"Which caption describes the image? {ALONE}"
WHICH_IMAGE = f"Which image does the caption describe? {ALONE}"
LETTER = re.compile(
    r"\W*(?:(?:the )?(?:correct |right |best )?(?:answer|caption|image|option|choice)(?: is)?\W*)?([A-Z])\W*"
    r"|\W*([A-Z])\s*(?:[.:)\]]|\*\*)\s.*",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """`question` of an item: `given` is an image if `captions`, else a caption; `options` are places of the other, the
    right one first, and `names` the kind's names for them."""

    question: str
    given: Place
    options: tuple[Place, ...]
    names: tuple[str, ...]
    captions: bool

    def orders(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The options as shown, by number: forwards, then backwards."""
        forwards = tuple(range(len(self.options)))
        return forwards, forwards[::-1]


def choices(kind: str, captions: Mapping[Place, str], images: Mapping[Place, str]) -> Iterator[Choice]:
    """Yield the questions that can be asked about an item with these captions and images."""
    found = KINDS[kind]
    wanted = {score.name: score for score in wanted_scores(kind, captions)}
    for name, question in found.questions.items():
        pairs = found.measured.questions[name]
        scores = [pairs[0][0], *(other for _, other in pairs)]
        if not all(score in wanted and not wanted[score].text for score in scores):
            continue
        ones, others = ([getattr(wanted[score], side) for score in scores] for side in ("one", "other"))
        there = all(one in captions for one in ones) and all(other in images for other in others)
        if there and len(set(others)) == 1:
            yield Choice(name, others[0], tuple(ones), question.options, captions=True)
        elif there and len(set(ones)) == 1:
            yield Choice(name, ones[0], tuple(others), question.options, captions=False)


def letter(text: str, shown: Sequence[str] = (), options: int = 5) -> int | None:
    """Return the number of the option that an answer names by its letter, or by repeating just a caption; None if it
    does neither. `shown`: the captions as shown; `options`: the number of letters."""
    said = text.strip()
    matched = LETTER.fullmatch(said)
    if matched and (place := LETTERS.index((matched[1] or matched[2]).upper())) < options:
        return place
    alike = [number for number, caption in enumerate(shown) if _plain(caption) == _plain(said)]
    return alike[0] if len(alike) == 1 else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().strip(" .\"'“”").split())


@dataclass(frozen=True, slots=True)
class Verdict:
    """`choice`: the option that both orders agree on, else NONE. `outcome` is agreed, order (the orders got different
    options), refused or unparsable. `each`: the option chosen in each order, or NONE."""

    choice: str
    outcome: str
    each: Sequence[str]


def verdict(choice: Choice, picked: Sequence[int | None], refused: bool) -> Verdict:
    """Make a verdict from the pick in each order, a number of `Choice.orders`; None if the answer named none."""
    each = [
        NONE if place is None or place >= len(order) else choice.names[order[place]]
        for order, place in zip(choice.orders(), picked, strict=True)
    ]
    if refused or NONE in each:
        return Verdict(NONE, "refused" if refused else "unparsable", each)
    return Verdict(NONE, "order", each) if len({*each}) > 1 else Verdict(each[0], "agreed", each)
