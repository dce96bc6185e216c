"""The README of an export, and the card of a release: names that people gave are words there and nothing else."""

from collections import Counter
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from annotation.exports.readme import card
from annotation.models import Stage, Study
from benchmarks.models import Benchmark
from tests.builders.documented_release import STAGE, release

NAMES = (
    "# a", "1. a", "- [x] a", "---", "*a* __b__ ~~c~~", "`a`", "a\\", "| a | b |", "$a$ {{ b }}", "<b>a</b>",
    "<script>alert(1)</script>", "<!-- a", "&lt;a&gt; &copy;", "[a](javascript:b)", "![a](b)", "[^a]: b",
    "no: #1 'a' \"b\"",
    "a\u2028b\x85c", "🐈 \u202eolleh",
)  # fmt: skip
SOME = ("# a", "---", "*a* __b__ ~~c~~", "| a | b |", "<script>alert(1)</script>", "[a](javascript:b)")
EVERYTHING = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


def of_export(name: str, folder: Path) -> str:
    study = Study(name=name, benchmark=Benchmark(name=name))
    choose = Stage(name=name, protocol="bivlc-choose", study=study, overlap=1, position=1)
    fits = Stage(name="fits", protocol="bivlc-disambiguate", study=study, overlap=1, source=choose, takes=["kept"])
    step = {"name": name, "protocol": "p", "entered": 3, "kept": 2}
    whole = {
        "imported": 3, "kept": 2, "dropped": 1, "not_asked": 0, "open": 0, "stages": [step],
        "measuring": [{"name": name, "protocol": "q", "tasks": 4, "answered": 4}],
        "reasons": [{"name": name, "reason": "none", "items": 1}],
        "not_asked_in": [],
    }  # fmt: skip
    notes = {"warnings": [name], "no_source": name}
    return card(study, whole, [choose, fits], {name: Counter()}, "0" * 64, ["id"], notes)


def of_release(name: str, folder: Path) -> str:
    study = {"name": name, "benchmark": name, "currency": "EUR", "pay_per_hour": None}
    facts = {"study": study, "stages": [{**STAGE, "name": name}], "warnings": [name], "no_source": name}
    made = release(folder / "a", {"summary": name}, **facts)
    made.written()
    return made.text("README.md")


EXPORTED = (
    "{}", "{} (p): 3 in, 2 kept", "{} (q): 4 asked, 4 answered; it drops nothing", "{}, none: 1", "Warning. {}",
    "There is no source/: {}",
)  # fmt: skip
RELEASED = ("{}", "Warning. {}", "There is no source/: {}")
BEGINNINGS = {
    of_export: ("{} (bivlc-choose): ", "fits (bivlc-disambiguate): items kept by {}; "),
    of_release: ("{}. ",),
}


@pytest.mark.parametrize(
    ("made", "lines", "name"),
    [
        *((of_export, EXPORTED, name) for name in NAMES),
        *((of_release, RELEASED, name) for name in SOME),  # which escapes by the same functions
    ],
)
def test_a_name_is_shown_as_it_was_written(tmp_path, made, lines, name):
    head, _, body = made(name, tmp_path).removeprefix("---\n").partition("\n---\n")
    if made is of_export:
        assert yaml.safe_load(head)["pretty_name"] == name
    tokens = EVERYTHING.parse(body)
    parts = [part for token in tokens for part in token.children or ()]
    shown = ["".join(part.content for part in token.children or ()) for token in tokens if token.type == "inline"]
    words = " ".join(name.split())
    assert [line for line in lines if line.format(words) not in shown] == []
    assert [line for line in BEGINNINGS[made] if not any(one.startswith(line.format(words)) for one in shown)] == []
    kinds = {token.type for token in (*tokens, *parts)}
    assert not kinds & {"html_block", "html_inline", "image", "link_open", "em_open", "s_open", "entity"}
