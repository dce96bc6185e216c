"""Result files from BiVLC's repository, which show what the model got right for each item.

`results_*.csv` has BiVLC's four questions. Columns: caption, negative_caption, type, subtype, text_score_i0 and
text_score_i1 (given the positive, the negative image: was its caption chosen), image_score_c0 and image_score_c1 (given
the positive, the negative caption: was its image). text_score, image_score and group_score, if present, must follow
from these. The columns of images contain a program's output, and are not read.

`sugarcrepe_correct_*.csv` has SugarCrepe's one question. Columns: filename, caption, negative_caption, type, subtype,
correct (1 or 0).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import Row, read_table
from benchmarks.predictions.base import Answer, Layout, Reference
from benchmarks.predictions.kinds import RIGHT, WRONG, Kind
from benchmarks.records import Origin

QUESTIONS = {
    "text_score_i0": "i_pos2t", "text_score_i1": "i_neg2t", "image_score_c0": "t_pos2i", "image_score_c1": "t_neg2i",
}  # fmt: skip
FOLLOWS = {
    "text_score": ("text_score_i0", "text_score_i1"),
    "image_score": ("image_score_c0", "image_score_c1"),
    "group_score": tuple(QUESTIONS),
}
COLUMNS = ("caption", "negative_caption", "type", "subtype", *QUESTIONS)
CORRECT_COLUMNS = ("filename", "caption", "negative_caption", "type", "subtype", "correct")
TRUTH = {"True": True, "False": False, "1": True, "0": False}


def read_answers(path: Path, log: ProblemLog, kind: Kind) -> Iterator[Answer]:
    named: Counter[tuple[object, ...]] = Counter()
    for row in read_table(path, log, COLUMNS):
        verdicts = {name: truth(row, name, path.name, log) for name in (*QUESTIONS, *FOLLOWS) if name in row.values}
        if None in verdicts.values() or not consistent(verdicts, row.number, path.name, log):
            continue
        item = reference(row, named)
        for column, question in QUESTIONS.items():
            yield answer(item, question, bool(verdicts[column]), row, path.name)


def read_correct(path: Path, log: ProblemLog, kind: Kind) -> Iterator[Answer]:
    named: Counter[tuple[object, ...]] = Counter()
    for row in read_table(path, log, CORRECT_COLUMNS):
        right = truth(row, "correct", path.name, log)
        if right is not None:
            yield answer(reference(row, named, row.values["filename"]), "caption", right, row, path.name)


def answer(item: Reference, question: str, right: bool, row: Row, file: str) -> Answer:
    kinds, origin = (row.values["type"], row.values["subtype"]), Origin(file, row.number)
    return Answer(item, question, None, RIGHT if right else WRONG, *kinds, origin)


def reference(row: Row, named: Counter[tuple[object, ...]], image: str = "") -> Reference:
    """Return a reference to the row's item by its captions. `named` counts earlier rows with the same ones."""
    captions = (("positive", row.values["caption"]), ("negative", row.values["negative_caption"]))
    same = (*captions, image)
    named[same] += 1
    return Reference("", captions, image, named[same] - 1)


def truth(row: Row, name: str, file: str, log: ProblemLog) -> bool | None:
    found = TRUTH.get(row.values[name].strip())
    if found is None:
        log.error("WRONG_VALUE", file, row.number, name, "Write True or False, or 1 or 0.")
    return found


def consistent(verdicts: Mapping[str, bool | None], row: int, file: str, log: ProblemLog) -> bool:
    """Return whether the derived scores agree with those they follow from."""
    before = log.count
    for name, parts in FOLLOWS.items():
        if name in verdicts and verdicts[name] != all(verdicts[part] for part in parts):
            advice = f"This does not follow from {', '.join(parts)}. Get the file from its source again."
            log.error("WRONG_VALUE", file, row, name, advice)
    return log.count == before


LAYOUT = Layout("bivlc-results", "BiVLC results (CSV)", ("bivlc",), (".csv",), read_answers)
CORRECT = Layout("sugarcrepe-correct", "Right or wrong on SugarCrepe (CSV)", ("sugarcrepe",), (".csv",), read_correct)
