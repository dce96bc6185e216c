"""BiVLC §3.1 step 1: give captions one form, so that form does not distinguish written from generated captions.

The paper's rule: captions start with a capital, continue in lower case, keep the capitals of named entities, and end
with a punctuation mark. It is applied here without a language model:

- white space is collapsed; a comma, colon or semicolon at the end becomes a full stop;
- a caption in capitals, or with most words capitalised, gives no evidence of names: it is lowered, except for acronyms
  in a title-cased one;
- elsewhere a run of words that are capitalised in mid-sentence is kept as a name or acronym, unless the captions around
  it write each of its words in lower case `DOMINANT` times as often: `Polar Bear` is lowered where the set says `polar`
  and `bear`, `Big Ben` is kept for its `Ben`;
- lower case is kept: no name is guessed.

The released BiVLC files keep no capitals of names (`coca-cola`, `las vegas`); `format_as_released` reproduces their
captions exactly.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from benchmarks.records import ItemRecord

WORD = re.compile(r"[^\W\d_](?:[\w&]|['’.-](?=\w))*")
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
CLOSING = "\"'”’)]»"
DOMINANT = 4
TITLE_SHARE = 0.7  # share of the words after the first with four letters or more


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts of words in mid-sentence with and without a capital; keys are lower case."""

    capital: Counter[str] = field(default_factory=Counter)
    lower: Counter[str] = field(default_factory=Counter)

    def ordinary(self, word: str) -> bool:
        """Whether the set usually has this word in lower case."""
        key = stem(word)
        return self.lower[key] >= DOMINANT * max(1, self.capital[key])


NO_EVIDENCE = Evidence()


def format_caption(text: str, evidence: Evidence = NO_EVIDENCE) -> str:
    """The caption by the paper's rule. An empty one stays empty. Formatting is idempotent."""
    text = " ".join(text.split())
    if not text:
        return text
    if shouted(text):
        text = text.lower()
    if title_cased(text):
        text = WORD.sub(lambda match: match.group() if acronym(match.group()) else lowered(text, *match.span()), text)
    return with_full_stop(capital_first(without_ordinary_runs(text, evidence)))


def format_captions(texts: Iterable[str]) -> list[str]:
    """The captions in their order, each formatted with the evidence of all."""
    texts = list(texts)
    evidence = gather_evidence(texts)
    return [format_caption(text, evidence) for text in texts]


def format_records(records: Iterable[ItemRecord]) -> list[ItemRecord]:
    """The records with all captions formatted."""
    records = list(records)
    formatted = iter(format_captions(caption.text for record in records for caption in record.captions))
    return [
        replace(record, captions=tuple(replace(caption, text=next(formatted)) for caption in record.captions))
        for record in records
    ]


def format_as_released(text: str) -> str:
    """The formatting of BiVLC's released captions: names lose their capitals, any other end gets a full stop."""
    text = text.strip().capitalize()
    return text if not text or text.endswith(".") else f"{text}."


def gather_evidence(texts: Iterable[str]) -> Evidence:
    """Count words in mid-sentence, except in captions whose capitals give no evidence."""
    evidence = Evidence()
    for text in texts:
        if shouted(text) or title_cased(text):
            continue
        for match in WORD.finditer(text):
            word = match.group()
            if not starts_sentence(text, match.start()):
                (evidence.lower if word == word.lower() else evidence.capital)[stem(word)] += 1
    return evidence


def stem(word: str) -> str:
    return re.sub(r"['’]s$", "", word).lower()


def starts_sentence(text: str, start: int) -> bool:
    before = text[:start].rstrip().rstrip("\"'“‘([")
    return not before.strip() or before.rstrip().endswith(SENTENCE_ENDS)


def shouted(text: str) -> bool:
    """Two words or more, and no lower-case letter."""
    return text.isupper() and len(WORD.findall(text)) > 1


def title_cased(text: str) -> bool:
    long = [word for word in WORD.findall(text)[1:] if len(word) > 3]
    return len(long) > 2 and sum(word[0].isupper() for word in long) >= TITLE_SHARE * len(long)


def acronym(word: str) -> bool:
    """A capital after the first letter: TV, MacBook, Coca-Cola; and the word I."""
    return word[1:] != word[1:].lower() or re.fullmatch(r"I(?:['’]\w+)?", word) is not None


def runs(text: str) -> list[tuple[list[str], int, int]]:
    """Runs of capitalised words with one space between them: (words, start, end).

    A sentence's first word always has a capital: it is a run of its own, and only if it has further capitals.
    """
    found: list[tuple[list[str], int, int]] = []
    for match in WORD.finditer(text):
        word, opens = match.group(), starts_sentence(text, match.start())
        if word == word.lower() or (opens and not acronym(word)):
            continue
        if found and text[found[-1][2] : match.start()] == " " and not starts_sentence(text, found[-1][1]):
            words, start, _ = found.pop()
            found.append(([*words, word], start, match.end()))
        else:
            found.append(([word], match.start(), match.end()))
    return found


def without_ordinary_runs(text: str, evidence: Evidence) -> str:
    for words, start, end in reversed(runs(text)):
        if all(evidence.ordinary(word) for word in words):
            text = text[:start] + lowered(text, start, end) + text[end:]
    return text


def lowered(text: str, start: int, end: int) -> str:
    """That part in lower case, except for the first letter of a sentence."""
    part = text[start:end]
    return part[0] + part[1:].lower() if starts_sentence(text, start) else part.lower()


def capital_first(text: str) -> str:
    """Capitalise the first letter, unless it follows a number or a name needs it small: `iPad on a desk.`"""
    found = WORD.search(text)
    if found is None or any(character.isalnum() for character in text[: found.start()]) or acronym(found.group()):
        return text
    return text[: found.start()] + found.group()[0].upper() + text[found.start() + 1 :]


def with_full_stop(text: str) -> str:
    if text.rstrip(CLOSING).endswith(SENTENCE_ENDS):
        return text
    return text.rstrip(" ,;:") + "."
