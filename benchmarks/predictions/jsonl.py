"""Winnow's layout of predictions: JSON Lines, one answer per line. docs/reference/predictions.md has examples.

{"item": "7", "question": "s(c0,i1)", "score": 0.31}
{"item": "7", "question": "i_pos2t", "choice": "positive"}
{"item": {"positive": "A red cup.", "negative": "A blue cup.", "image": "7.jpg"}, "question": "caption",
 "choice": "none", "type": "swap", "subtype": "att"}
{"item": "8", "read_alike": true, "cut": true}
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.formats import jsontext
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.jsonl import objects
from benchmarks.formats.table import missing_column, nearest
from benchmarks.predictions.base import Answer, Layout, Reference
from benchmarks.predictions.cut_captions import CUT, READ_ALIKE
from benchmarks.predictions.kinds import KINDS, NONE, RIGHT, WRONG, Kind
from benchmarks.records import ROLES, Origin

MAX_ANSWERS = 600_000  # per file: six for each item, up to an import's limit
ANSWERS = ("score", "choice", READ_ALIKE)
FIELDS = ("item", "question", *ANSWERS, "type", "subtype", CUT)
TEXTS = ("question", "choice", "type", "subtype")
ITEM = 'Write the item\'s id as text, or its captions: {"positive": "…", "negative": "…"}.'


def read_answers(path: Path, log: ProblemLog, kind: Kind) -> Iterator[Answer]:
    known: dict[object, Reference] = {}  # one for all of an item's answers, which are many
    for value, origin in objects(path, log, MAX_ANSWERS, "answers per file"):
        before = log.count
        jsontext.storable_throughout(value, origin.file, origin.row, "", log)
        check_fields(value, origin, log)
        if log.count == before:
            check_item(value["item"], origin, log)
            if READ_ALIKE not in value:
                check_answer(value, kind, origin, log)
        if log.count == before:
            score, choice = value.get("score"), value.get("choice")
            kinds = value.get("type", ""), value.get("subtype", "")
            item = reference(value["item"], known)
            said = None if score is None else float(score), choice
            yield Answer(item, value.get("question", ""), *said, *kinds, origin, READ_ALIKE in value, CUT in value)


def check_fields(value: dict[str, Any], origin: Origin, log: ProblemLog) -> None:
    """Check that the line has an item, a question, and a score, a choice or a mark, and nothing else."""
    unknown = [name for name in value if name not in FIELDS]
    for name in ("item",) if READ_ALIKE in value else ("item", "question"):
        if name not in value:
            missing_column(name, unknown, origin.file, origin.row, log)
    if len({*ANSWERS} & {*value}) != 1:
        log.error("VALUE_MISSING", origin.file, origin.row, "score, choice", "Give either a score or a choice.")
    for name in TEXTS:
        if not isinstance(value.get(name, ""), str):
            log.error("WRONG_VALUE", origin.file, origin.row, name, "Write this as text, in quotes.")
    if "score" in value and (isinstance(value["score"], bool) or not isinstance(value["score"], int | float)):
        log.error("WRONG_VALUE", origin.file, origin.row, "score", "Write a number, without quotes.")
    for name in (READ_ALIKE, CUT):
        if value.get(name, True) is not True:
            log.error("WRONG_VALUE", origin.file, origin.row, name, "Write true, or leave this out.")
    for name in unknown:
        near = nearest(name, [field for field in FIELDS if field not in value])
        advice = f"Did you mean “{near}”?" if near else f"A line may have the fields {', '.join(FIELDS)}."
        log.error("UNKNOWN_FIELD", origin.file, origin.row, name[:80], advice)


def check_item(item: object, origin: Origin, log: ProblemLog) -> None:
    if isinstance(item, str):
        if not item.strip():
            log.error("VALUE_MISSING", origin.file, origin.row, "item", ITEM)
        return
    if not isinstance(item, dict) or not all(isinstance(text, str) and text.strip() for text in item.values()):
        log.error("WRONG_VALUE", origin.file, origin.row, "item", ITEM)
        return
    unknown = [role for role in item if role not in ROLES and role != "image"]
    for role in unknown:
        advice = f"Name captions by their roles ({', '.join(ROLES)}), and the image's file as “image”."
        log.error("UNKNOWN_FIELD", origin.file, origin.row, f"item.{role[:80]}", advice)
    if not unknown and not {*item} - {"image"}:
        log.error("VALUE_MISSING", origin.file, origin.row, "item", ITEM)


def check_answer(value: dict[str, Any], kind: Kind, origin: Origin, log: ProblemLog) -> None:
    """Check that the question and the choice belong to the kind."""
    name = value["question"]
    if "score" in value:
        if not kind.scored(name):
            asked = ", ".join(kind.scores) or "s(ITEM/NUMBER)"
            log.error("WRONG_VALUE", origin.file, origin.row, "question", f"Scores of {kind.name} are called {asked}.")
    elif name not in kind.questions:
        asked = ", ".join(kind.questions)
        advice = f"Questions of {kind.name} are {asked}." if asked else f"{kind.name} takes scores, not choices."
        log.error("WRONG_VALUE", origin.file, origin.row, "question", advice)
    elif value["choice"] not in (options := (*kind.questions[name].options, NONE, RIGHT, WRONG)):
        log.error("WRONG_VALUE", origin.file, origin.row, "choice", f"Choose one of {', '.join(options)}.")


def reference(item: str | dict[str, str], known: dict[object, Reference]) -> Reference:
    same = item if isinstance(item, str) else tuple(sorted(item.items()))
    if same not in known:
        if isinstance(item, str):
            known[same] = Reference(item)
        else:
            captions = tuple((role, item[role]) for role in ROLES if role in item)
            known[same] = Reference("", captions, item.get("image", ""))
    return known[same]


LAYOUT = Layout("jsonl", "Winnow predictions (JSON Lines)", tuple(KINDS), (".jsonl", ".ndjson"), read_answers)
