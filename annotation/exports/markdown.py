"""Write texts as Markdown, or in the YAML at its head, so that they appear exactly as written, whatever they contain.
Pure; the cards of exports and the documents of releases are written with it.
"""

import json
import re
from collections.abc import Callable, Mapping

from annotation.measures.scored import intervals
from annotation.wording import signed

FILTERS = ("text", "paragraphs", "code", "sentence", "number", "percent", "decimal", "interval")  # in the templates
URL = re.compile(r"(https?://[^\s<>|]*[^\s<>|.,;:!?'\")\]])")  # a full stop at the end is not part of the address
SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&$])")
AT_START = re.compile(r"^(\d{0,9})([-+=:.)](?=\s|[-=]|$))")  # a list, a line beneath a heading
# Characters that a YAML reader would refuse or fold, although JSON allows them.
UNSAFE_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def text(words: object) -> str:
    """Return the text on one line. Addresses become links."""
    parts = URL.split(" ".join(str(words).split()))
    escaped = "".join(f"<{part}>" if URL.fullmatch(part) else SPECIAL.sub(r"\\\1", part) for part in parts)
    return AT_START.sub(r"\1\\\2", escaped)


def phrase(sentence: str) -> str:
    """Return a sentence for a table cell."""
    return f"{sentence[0].lower()}{sentence[1:].rstrip('.')}"


def paragraphs(words: str) -> str:
    """Return paragraphs separated by empty lines, as written; other line breaks stay."""
    parts = re.split(r"\n\s*\n", words.strip().replace("\r\n", "\n").replace("\r", "\n"))
    return "\n\n".join("\\\n".join(map(text, filter(str.strip, part.split("\n")))) for part in parts)


def code(words: str, language: str = "") -> str:
    """Return a block whose fence is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", words)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{words.strip()}\n{fence}"


def yaml_text(words: str) -> str:
    """Return the text so that YAML reads it back as text, even no, 1.0, `: ` and #."""
    return UNSAFE_IN_YAML.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(words, ensure_ascii=False))


def sentence(words: str) -> str:
    """Return plain text as a sentence."""
    return text(f"{words[:1].upper()}{words[1:]}.")


def number(value: int) -> str:
    return f"{value:,}"


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def decimal(value: float | None) -> str:
    return "–" if value is None else signed(value, 2)


def both_intervals(score: Mapping, write: Callable = decimal) -> str:
    """Return a score's intervals, for these annotators and for others like them."""
    each = [f"{write(low)} to {write(high)} {whom}" for low, high, whom in intervals(dict(score))]
    return ", ".join(each) or "–"


def interval(found: Mapping, write: Callable = decimal) -> str:
    """Return the interval in words; `found` has "low" and "high"."""
    return "–" if found["low"] is None else f"{write(found['low'])} to {write(found['high'])}"
