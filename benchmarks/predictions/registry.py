"""All layouts of predictions. To add one, add a file beside this one and a line here."""

from pathlib import Path

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.text import BOMS, CHUNK
from benchmarks.predictions import bivlc_results, columns, gpt4v, jsonl
from benchmarks.predictions.base import Layout
from benchmarks.predictions.cut_captions import READ_ALIKE
from benchmarks.predictions.kinds import Kind
from workers import outside_json

LAYOUTS: tuple[Layout, ...] = (bivlc_results.LAYOUT, bivlc_results.CORRECT, gpt4v.LAYOUT, jsonl.LAYOUT)


def layout_of(path: Path, kind: Kind, mapping: str = "") -> Layout:
    """The layout for that kind in which the file begins, whatever its name. The ending of the name decides only if the
    beginning is not that of Winnow's lines, and no columns name the kind's scores. With a `mapping`, it is a table of
    one's own."""
    if mapping:
        return columns.layout(mapping)
    own = [one for one in LAYOUTS if kind.name in one.kinds]
    text = _beginning(path)
    if _is_answer(text):
        return jsonl.LAYOUT
    if kind.name in columns.TAKEN and columns.is_recognised(path, kind):
        return columns.layout()
    ending = path.suffix.lower()
    if ending not in {ending for one in own for ending in one.endings}:
        ending = ".json" if text[:1] in ("{", "[") else ".csv"
    return next((one for one in own if ending in one.endings), jsonl.LAYOUT)


def is_published(path: Path, kind: Kind) -> bool:
    """Whether the file is in one of the layouts, and not a table of one's own: an answer can be read from it."""
    found = layout_of(path, kind)
    return found in LAYOUTS and next(found.read(path, ProblemLog(), kind), None) is not None


def _beginning(path: Path) -> str:
    """The first characters that are not white space; empty if the file cannot be read, which reading it reports."""
    try:
        with path.open("rb") as stream:
            data = stream.read(CHUNK)
    except OSError:
        return ""
    mark, encoding = next(((mark, name) for mark, name in BOMS if data.startswith(mark)), (b"", "utf-8"))
    return data[len(mark) :].decode(encoding, "replace").lstrip()


def _is_answer(text: str) -> bool:
    """Whether the first line is an object that names a question, or marks an item."""
    try:
        found = outside_json.read(text.partition("\n")[0])
    except ValueError:
        return False
    return isinstance(found, dict) and ("question" in found or READ_ALIKE in found)
