"""GPT-4V's answers to SugarCrepe, as published in its repository: a JSON file for each subset.

{"12": {"filename": "1.jpg", "caption": "A red cup.", "negative_caption": "A blue cup.", "correct": true,
        "answer": {"free_form_answer": "(1)", "multiple_choice_answer": "A red cup."}},
 "accuracy": 0.8577}

The choice is the caption that `multiple_choice_answer` repeats; an empty one, or another text, chooses none. `correct`
must agree. `accuracy`, which one file has, is not read.

The published files are named after their subset: row 12 of swap_obj.json is the item swap_obj-12. The same holds for
any file whose name contains one subset; other files name items by captions and image, and get their types from them.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.formats import jsonfiles
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.sugarcrepe import FIELDS, SUBSETS
from benchmarks.predictions.base import Answer, Layout, Reference
from benchmarks.predictions.kinds import NONE, Kind
from benchmarks.records import Origin

OF_ROW: dict[str, tuple[type, str]] = {
    **dict.fromkeys(FIELDS, (str, "Write this as text, in quotes.")),
    "correct": (bool, "Write this as true or false."),
    "answer": (dict, "Write this as an object: {…}."),
}
CHOSEN = "multiple_choice_answer"
SUMMARY = "accuracy"


def read_answers(path: Path, log: ProblemLog, kind: Kind) -> Iterator[Answer]:
    subset = _subset_in(path.name)
    type, _, subtype = subset.partition("_")
    alike: Counter[tuple[object, ...]] = Counter()
    rows = jsonfiles.rows(jsonfiles.content(path), dict, jsonfiles.OBJECT_OF_ROWS, path.name, log)
    if {*rows} == {SUMMARY}:
        log.error("NO_ROWS", path.name, None, "", "The file has no rows. Get it from its source again.")
    for origin, (key, row) in jsonfiles.numbered(rows.items(), path.name, log):
        if key == SUMMARY and isinstance(row, int | float):
            continue
        shape = "The row must be an object with captions and an answer."
        if jsonfiles.sound_row(row, OF_ROW, shape, origin, log, key) and sound_answer(row, origin, log):
            captions = (("positive", row["caption"]), ("negative", row["negative_caption"]))
            same = (*captions, row["filename"])
            nth = 0 if subset else alike[same]
            alike[same] += 1
            item = Reference(f"{subset}-{key}" if subset else "", captions, row["filename"], nth)
            yield Answer(item, "caption", None, choice(row), type, subtype, origin)


def _subset_in(name: str) -> str:
    """Return the subset in the name; empty if there is not exactly one."""
    found = [subset for subset in SUBSETS if subset in name.lower()]
    return found[0] if len(found) == 1 else ""


def choice(row: dict[str, Any]) -> str:
    said = row["answer"][CHOSEN]
    return "positive" if said == row["caption"] else "negative" if said == row["negative_caption"] else NONE


def sound_answer(row: dict[str, Any], origin: Origin, log: ProblemLog) -> bool:
    """Return whether the row has a choice, and `correct` agrees with it; log problems."""
    if not isinstance(row["answer"].get(CHOSEN), str):
        advice = "Write the chosen caption, or an empty text."
        log.error("WRONG_VALUE", origin.file, origin.row, f"answer.{CHOSEN}", advice)
        return False
    if (choice(row) == "positive") == row["correct"]:
        return True
    advice = f"This does not follow from {CHOSEN}. Get the file from its source again."
    log.error("WRONG_VALUE", origin.file, origin.row, "correct", advice)
    return False


LAYOUT = Layout("gpt4v", "GPT-4V's answers to SugarCrepe (JSON)", ("sugarcrepe",), (".json",), read_answers)
