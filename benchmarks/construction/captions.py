"""BiVLC §3.1 step 1: format captions uniformly, so that form does not distinguish written from generated ones.

The paper's rule: captions start with a capital, continue in lower case, keep the capitals of named entities, and end
with a punctuation mark. It is applied here without a language model:

- white space is collapsed; a comma directly follows the word before it; a caption ends in one mark, a full stop unless
  it already ends in `?` or `!`;
- a caption in capitals, or with a capital on most of its words, reveals nothing about names: it is lowered, except for
  acronyms in a title-cased one;
- in others, a run of words capitalised in mid-sentence is kept as a name or acronym, unless the captions around it
  write each of its words in lower case `DOMINANT` times as often: `Polar Bear` is lowered if the set has `polar` and
  `bear`, `Big Ben` is kept for its `Ben`;
- words in lower case stay so: names are not guessed;
- captions of one item are formatted together: a word that one of them has in lower case and another only with a capital
  gets one case in all: lower if the set usually has it so (`Vegan Pizza` beside `pizza`), otherwise that of the name or
  acronym (`tv` beside `TV`). People write `tv` where models write `TV`.

The released BiVLC files do not keep the capitals of names (`coca-cola`, `las vegas`); docs/reference/formats.md counts
the differences.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from benchmarks.records import ItemRecord, is_own

WORD = re.compile(r"[^\W\d_](?:[\w&]|['’.-](?=\w))*")
SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？")
FINAL_MARKS = " ,;:/.!?…。！？"
COMMA = re.compile(r"\s*,\s*(?=[^\W\d_])")  # before a word
CLOSING = "\"'”’)]»"
DOMINANT = 4
TITLE_SHARE = 0.7  # share of the words after the first with four letters or more


@dataclass(frozen=True, slots=True)
class Evidence:
    """Counts of words in mid-sentence with and without a capital; keys are in lower case."""

    capital: Counter[str] = field(default_factory=Counter)
    lower: Counter[str] = field(default_factory=Counter)

    def ordinary(self, word: str) -> bool:
        """Return whether the set usually has this word in lower case."""
        key = stem(word)
        return self.lower[key] >= DOMINANT * max(1, self.capital[key])


NO_EVIDENCE = Evidence()


def format_caption(text: str, evidence: Evidence = NO_EVIDENCE) -> str:
    """Format the caption by the paper's rule; an empty one stays empty. Idempotent."""
    text = COMMA.sub(", ", " ".join(text.split()))
    if not text:
        return text
    if shouted(text):
        text = text.lower()
    if title_cased(text):
        text = WORD.sub(lambda match: match.group() if acronym(match.group()) else lowered(text, *match.span()), text)
    return with_full_stop(capital_first(without_ordinary_runs(text, evidence)))


def format_groups(groups: Iterable[Sequence[str]]) -> list[list[str]]:
    """Format the captions of each group (those of one item) in order, each using the evidence of them all."""
    groups = [list(group) for group in groups]
    evidence = gather_evidence(text for group in groups for text in group)
    return [same_case([format_caption(text, evidence) for text in group], evidence) for group in groups]


def format_records(records: Iterable[ItemRecord]) -> list[ItemRecord]:
    """Format all captions of the records; texts in user-defined roles are not changed."""
    records = list(records)
    groups = format_groups([one.text for one in record.captions if not is_own(one.role)] for record in records)
    return [_with_formatted(record, iter(group)) for record, group in zip(records, groups, strict=True)]


def _with_formatted(record: ItemRecord, texts: Iterator[str]) -> ItemRecord:
    captions = (one if is_own(one.role) else replace(one, text=next(texts)) for one in record.captions)
    return replace(record, captions=tuple(captions))


def without_form(text: str) -> str:
    """Return what formatting does not change: equal before and after, whatever captions are formatted together."""
    return re.sub(rf"[{re.escape(FINAL_MARKS)}\s]+", "", text).casefold()


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
    """Return whether there are two or more words and no lower-case letters."""
    return text.isupper() and len(WORD.findall(text)) > 1


def title_cased(text: str) -> bool:
    long = [word for word in WORD.findall(text)[1:] if len(word) > 3]
    return len(long) > 2 and sum(word[0].isupper() for word in long) >= TITLE_SHARE * len(long)


def acronym(word: str) -> bool:
    """Return whether the word has a capital after its first letter (TV, MacBook, Coca-Cola), or is I."""
    return word[1:] != word[1:].lower() or re.fullmatch(r"I(?:['’]\w+)?", word) is not None


def runs(text: str) -> list[tuple[list[str], int, int]]:
    """Find runs of capitalised words with one space between them: (words, start, end).

    A sentence's first word always has a capital: it is a run by itself, and only if it has further capitals.
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
    """Return that part in lower case, except for the first letter of a sentence."""
    part = text[start:end]
    return part[0] + part[1:].lower() if starts_sentence(text, start) else part.lower()


def capital_first(text: str) -> str:
    """Capitalise the first letter, unless it follows a number or a name starts in lower case: `iPad on a desk.`"""
    found = WORD.search(text)
    if found is None or any(character.isalnum() for character in text[: found.start()]) or acronym(found.group()):
        return text
    return text[: found.start()] + found.group()[0].title() + text[found.start() + 1 :]


def with_full_stop(text: str) -> str:
    """End the text with exactly one mark, before or after a closing quote."""
    body = text.rstrip(FINAL_MARKS)
    tail = text[len(body) :]
    mark = next((one for one in tail if one in "!?！？"), "。" if "。" in tail else ".")
    if not body or (mark in ".。" and body.rstrip(CLOSING).endswith(SENTENCE_ENDS)):
        return body or text
    return body + mark


def same_case(texts: Sequence[str], evidence: Evidence) -> list[str]:
    """Make each word in one item's formatted captions consistently lower-case or capitalised."""
    forms = [written_forms(text) for text in texts]
    chosen = {}
    for key in {key for counted in forms for key in counted}:
        sets = [{*counted[key]} for counted in forms if key in counted]
        if any(one.isdisjoint(other) for one in sets for other in sets):
            counts = sum((counted[key] for counted in forms if key in counted), Counter[str]())
            capital = max(counts.keys() - {key}, key=lambda form: (counts[form], sum(map(str.isupper, form)), form))
            chosen[key] = key if evidence.ordinary(key) else capital
    return [in_chosen_case(text, chosen) for text in texts] if chosen else list(texts)


def written_forms(text: str) -> dict[str, Counter[str]]:
    """Count each word's spellings, by lower case. A sentence's first word counts only if it is an acronym."""
    found: dict[str, Counter[str]] = {}
    for match in WORD.finditer(text):
        if acronym(match.group()) or not starts_sentence(text, match.start()):
            found.setdefault(match.group().lower(), Counter())[match.group()] += 1
    return found


def in_chosen_case(text: str, chosen: Mapping[str, str]) -> str:
    """Write these words (keyed by lower case) as chosen; the capital that starts a sentence stays."""

    def word(match: re.Match[str]) -> str:
        written = match.group()
        form = chosen.get(written.lower(), written)
        if form.islower() and starts_sentence(text, match.start()):
            return form.capitalize() if acronym(written) else written
        return form

    return WORD.sub(word, text)
