"""GPT-4V's answers to SugarCrepe, as its repository has them: a JSON file for each subset, named after it.

{"12": {"filename": "1.jpg", "caption": "A red cup.", "negative_caption": "A blue cup.", "correct": true,
        "answer": {"free_form_answer": "(1)", "multiple_choice_answer": "A red cup."}},
 "accuracy": 0.8577}

The choice is the caption that `multiple_choice_answer` repeats; an empty one, or another text, chooses none. `correct`
must say the same. Row 12 of swap_obj.json is the item swap_obj-12. `accuracy`, which one file has, is not read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.formats import jsonfiles, jsontext, limits
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.sugarcrepe import FIELDS, SUBSETS
from benchmarks.formats.table import missing_column, too_many_rows
from benchmarks.predictions.base import NONE, Answer, Layout, Reference
from benchmarks.predictions.kinds import Kind
from benchmarks.records import Origin

KINDS = {**dict.fromkeys(FIELDS, str), "correct": bool, "answer": dict}
WORDS = {str: "text, in quotes", bool: "true or false", dict: "an object: {…}"}
CHOSEN = "multiple_choice_answer"
SUMMARY = "accuracy"


def read(path: Path, log: ProblemLog, kind: Kind) -> Iterator[Answer]:
    if path.stem not in SUBSETS:
        log.error("WRONG_TYPE", path.name, None, "", f"Name the file after its subset: {', '.join(SUBSETS)}.")
        return
    before = log.count
    with path.open("rb") as stream:
        rows = jsonfiles.value(stream.read(limits.MAX_JSON_BYTES + 1), path.name, log)
    if isinstance(rows, dict):
        yield from answers(path.stem, rows, path.name, log)
    elif log.count == before:
        log.error("JSON_INVALID", path.name, 1, "", 'The file must hold one object of rows: {"0": {…}, "1": {…}}.')


def answers(subset: str, rows: dict[str, Any], file: str, log: ProblemLog) -> Iterator[Answer]:
    type, subtype = subset.split("_")
    if not {*rows} - {SUMMARY}:
        log.error("NO_ROWS", file, None, "", "The file has no rows; take it from its source again.")
    for number, (key, row) in enumerate(rows.items(), 1):
        if number > limits.MAX_ROWS:
            too_many_rows(file, number, log)
        if key == SUMMARY and isinstance(row, int | float):
            continue
        if whole_row(row, key, number, file, log):
            captions = (("positive", row["caption"]), ("negative", row["negative_caption"]))
            item = Reference(f"{subset}-{key}", captions, row["filename"])
            yield Answer(item, "caption", None, choice(row), type, subtype, Origin(file, number))


def choice(row: dict[str, Any]) -> str:
    said = row["answer"][CHOSEN]
    return "positive" if said == row["caption"] else "negative" if said == row["negative_caption"] else NONE


def whole_row(row: object, key: str, number: int, file: str, log: ProblemLog) -> bool:
    """Whether an answer can be made of the row. Logs what is not so."""
    if not isinstance(row, dict):
        log.error("JSON_INVALID", file, number, key[:80], "The row must be an object with captions and an answer.")
        return False
    before = log.count
    for field, kind in KINDS.items():
        if field not in row:
            missing_column(field, [other for other in row if other not in KINDS], file, number, log)
        elif not isinstance(row[field], kind):
            log.error("WRONG_VALUE", file, number, field, f"Write this as {WORDS[kind]}.")
    jsontext.storable_throughout({key: row}, file, number, "", log)
    if log.count == before:
        check_answer(row, number, file, log)
    return log.count == before


def check_answer(row: dict[str, Any], number: int, file: str, log: ProblemLog) -> None:
    if not isinstance(row["answer"].get(CHOSEN), str):
        log.error("WRONG_VALUE", file, number, f"answer.{CHOSEN}", "Write the chosen caption, or an empty text.")
    elif (choice(row) == "positive") != row["correct"]:
        advice = f"This does not follow from {CHOSEN}; take the file from its source again."
        log.error("WRONG_VALUE", file, number, "correct", advice)


LAYOUT = Layout("gpt4v", "GPT-4V's answers to SugarCrepe (JSON)", ("sugarcrepe",), (".json",), read)
