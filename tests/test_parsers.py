"""What users write is read in a time that grows as its length does: every parser of their texts, at n and 4n."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from annotation.checks import parsing
from annotation.exports import markdown as cards
from annotation.protocol_files.drafts import title_in
from annotation.protocols import edits, library
from annotation.protocols.ratings import read_rated
from annotation.protocols.reading import read_protocol
from annotation.protocols.registry import name_and_version
from annotation.releases.documents import hub_metadata
from annotation.studies import instructions
from annotation.studies import markdown as rules
from benchmarks import differences
from benchmarks.construction import captions, generated, order, prompts, swaps
from benchmarks.formats import checks, csv_text, jsontext, table
from benchmarks.formats import text as one_line
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.limits import MAX_CAPTION
from benchmarks.metrics import lexical
from benchmarks.predictions import choices

VERIFY = library.shipped("verify")


FOLDER = TemporaryDirectory()


def written(text: str) -> Path:
    path = Path(FOLDER.name, "table.csv")
    path.write_text(text, encoding="utf-8")
    return path


def halves_changed(text: str, unit: str) -> tuple[str, str]:
    """Texts of that length whose pieces differ from each other, and every second from the other text's."""
    pieces = [f"{text[:1]}{place}" for place in range(len(text) // 6)]
    return unit.join(pieces), unit.join(f"{one}x" if place % 2 else one for place, one in enumerate(pieces))


PARSERS: dict[str, Callable[[str], object]] = {
    "protocol file": lambda text: read_protocol(f"winnow: protocol/1\ntitle: {text}", "p", ProblemLog()),
    "protocol file, a key": lambda text: read_protocol(f"winnow: protocol/1\n{text}", "p", ProblemLog()),
    "draft's title": lambda text: title_in(f"title: {text}"),
    "protocol's version": name_and_version,
    "instructions": lambda text: rules.problems(text, ()),
    "texts compared by words": differences.WORDS.findall,
    "texts compared": lambda text: differences.differences(text, text[::-1]),
    "texts compared, with other words": lambda text: differences.differences(*halves_changed(text, " ")),
    "texts compared, with other lines": lambda text: differences.differences(*halves_changed(text, "\n")),
    "instructions' lines": lambda text: instructions.CONTINUED.sub(" ", text),
    "card's text": cards.text,
    "card's paragraphs": cards.paragraphs,
    "card's code": cards.code,
    "comprehension questions": parsing.read_questions,
    "sentence": edits.one_line,
    "languages": lambda text: hub_metadata.LANGUAGE.search(text),
    "spreadsheet cell": csv_text.harmless,
    "caption on one line": one_line.on_one_line,
    "JSON": lambda text: jsontext.parse(f'{{"a": 1, "a": "{text}"}}', "f", 1, ProblemLog()),
    "JSON, raw": lambda text: jsontext.parse(text, "f", 1, ProblemLog()),
    "table with commas": lambda text: list(table.read_table(written(f"item,text\n1,{text}\n"), ProblemLog(), ["item"])),
    "table with tabs": lambda text: list(
        table.read_rows(written(f"item\ttext\n1\t{text}\n"), ProblemLog(), table.TABS, [["item"]])
    ),
    "ratings": lambda text: read_rated(written(f"item,annotator,answer\n1,1,{text}\n"), VERIFY, ProblemLog()),
    "column": lambda text: table.nearest(text[:500], ["caption", "image"]),
    "image's name": lambda text: checks.REVEALING.search(text),
    "image's address": lambda text: checks.REMOTE.match(text),
    "caption's form": lambda text: captions.format_caption(text[:MAX_CAPTION]),  # copies it for every word
    "swapped phrases": swaps.swapped_phrases,
    "words of a caption": generated.words_of,
    "order of words": order.words_of,
    "words compared": lexical.words,
    "model's caption": lambda text: generated.parse(next(iter(prompts.KINDS.values())), "A cat sat.", text),
    "model's answer": lambda text: choices.letter(text, ("a", "b")),
}

# What makes a parser go back: runs of what it takes for the beginning of something.
RUNS = [" ", "\t", "\n", "a", "A ", "1", ",", "_", "*", "[", "<", "`", '"', '\\"', "'a", "- ", "; ", "the a and the "]
LENGTH = 15_000
FAST = 0.04  # seconds of processor time; with the square of the length it would be a second and more
MOST = 8  # times as long for four times the length: 4 and some for the noise, where the square would be 16


def seconds(parse: Callable[[str], object], run: str, length: int, salt: str) -> float:
    text = f"a{run * (length // len(run))}b{salt}"  # what was rendered is kept
    started = time.process_time()
    with suppress(Exception):  # refusing is fine
        parse(text)
    return time.process_time() - started


@pytest.mark.parametrize("name", PARSERS)
def test_four_times_the_text_takes_about_four_times_as_long(name):
    parse = PARSERS[name]
    for run in RUNS:
        if seconds(parse, run, 4 * LENGTH, "-") > FAST:
            less, more = (min(seconds(parse, run, length, str(n)) for n in range(3)) for length in (LENGTH, 4 * LENGTH))
            assert more < FAST or more < MOST * less, run


@pytest.mark.parametrize("run", RUNS)
def test_the_longest_instructions_are_rendered_at_once(run):
    assert rules.problems("a" * (rules.LONGEST + 1), ()) == ["Shorten this text to 20,000 characters; it has 20,001."]
    assert seconds(rules.to_html, run, rules.LONGEST, "") < 1
