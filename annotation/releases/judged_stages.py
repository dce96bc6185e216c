"""The judgments in an export or a release for stages with protocol files, as ratings for the files to decide. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.protocols.base import Attributes
from annotation.protocols.compile import in_own_names
from annotation.protocols.item_data import asks_items, attributes_of
from annotation.protocols.ratings import Rated
from annotation.protocols.reading import read_protocol
from annotation.protocols.roles import asked_under
from annotation.protocols.schema import ProtocolFile
from annotation.releases.archive_reader import MANIFEST, Files
from annotation.releases.export_reader import record, record_of_open
from benchmarks.formats.base import ProblemLog

_JUDGMENTS = "judgments.parquet"
_OF_TASK = itemgetter("stage", "item", "question", "round")
_BATCH = 10_000


@dataclass
class JudgedStage:
    """`rows` are the counted judgments of live tasks in the order given. `wanted` has the number of judgments each task
    needs, and `attributes` its item's parts' attributes.
    """

    name: str
    file: ProtocolFile
    rows: list[Rated] = field(default_factory=list)
    wanted: dict[str, int] = field(default_factory=dict)
    attributes: dict[str, Attributes] = field(default_factory=dict)


def judged_stages(files: Files, log: ProblemLog) -> list[JudgedStage]:
    """Return the stages with a protocol file, in order. Raises NotARelease, or Unreadable if a file has problems."""
    found = {}
    for stage in files.json(MANIFEST)["stages"]:
        if one := stage.get("protocol_file"):
            published = read_protocol(files.read(one["path"]).decode(errors="replace"), one["path"], log)
            file = asked_under(published, stage["protocol"])
            found[stage["name"]] = JudgedStage(stage["name"], file)
    live, records = {}, {}
    for task in filter(_is_live, files.lines("tasks.jsonl")):
        live[_OF_TASK(task)] = task["overlap"]
        if "of_item" in task:
            records[task["item"]] = record_of_open(task)
    names = FILES_OF_ITEMS.values() if any(asks_items(one.file) for one in found.values()) else ()
    lines = chain.from_iterable(map(files.lines, names))
    records |= {line["id"]: record(line) for line in lines}
    given = [row for row in _counted(files) if row["stage"] in found and _OF_TASK(row) in live]
    for row in sorted(given, key=itemgetter("at", "slot")):
        stage = found[row["stage"]]
        rated = Rated(row["item"], row["annotator"], in_own_names(stage.file, row["answer"]), row["question"])
        stage.rows.append(rated)
        stage.wanted[rated.task] = live[_OF_TASK(row)]
        if row["item"] in records and rated.task not in stage.attributes:
            stage.attributes[rated.task] = attributes_of(stage.file, records[row["item"]])
    return list(found.values())


def _is_live(row: dict) -> bool:
    return row["live"] and row["kind"] == "judge"


def _counted(files: Files) -> Iterator[dict]:
    """Yield the counted judgments; `at` is when each was given, or in a release its place among those of its task."""
    at = "given" if "given" in files.schema(_JUDGMENTS).names else "created_at"
    columns = ["stage", "item", "question", "round", "kind", "live", "annotator", "slot", "answer", "counted", at]
    for batch in files.batches(_JUDGMENTS, _BATCH, columns):
        yield from ({**row, "at": row[at]} for row in batch.to_pylist() if row["counted"] and _is_live(row))
