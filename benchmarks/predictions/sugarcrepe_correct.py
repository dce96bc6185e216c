"""BiVLC's `sugarcrepe_correct_*.csv`: a row for each item of SugarCrepe, with whether the model was right.

Columns: filename, caption, negative_caption, type, subtype, correct (1 or 0).
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.table import read_table
from benchmarks.predictions.base import RIGHT, WRONG, Answer, Layout
from benchmarks.predictions.bivlc_results import reference, truth
from benchmarks.predictions.kinds import Kind
from benchmarks.records import Origin

COLUMNS = ("filename", "caption", "negative_caption", "type", "subtype", "correct")


def read(path: Path, log: ProblemLog, kind: Kind) -> Iterator[Answer]:
    named: Counter[tuple[object, ...]] = Counter()
    for row in read_table(path, log, COLUMNS):
        right = truth(row, "correct", path.name, log)
        if right is None:
            continue
        item = reference(row, named, row.values["filename"])
        kinds, origin = (row.values["type"], row.values["subtype"]), Origin(path.name, row.number)
        yield Answer(item, "caption", None, RIGHT if right else WRONG, *kinds, origin)


LAYOUT = Layout("sugarcrepe-correct", "Right or wrong on SugarCrepe (CSV)", ("sugarcrepe",), (".csv",), read)
