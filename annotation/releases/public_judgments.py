"""The judgments of an export as far as they are public, in batches: a million rows need a few dozen MB. Pure.

Without times nobody could tell which of a task's judgments came first, on which ties and edits rest. So a column of its
own says that alone: `given`, the place of a judgment among those of its task.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annotation.exports.files import JUDGMENTS, ParquetFile
from annotation.releases.export_reader import streamed

BATCH = 10_000
TASK = ["stage", "item", "question", "round", "kind"]
HIDDEN = {"times": ("created_at", "active_ms", "elapsed_ms"), "comments": ("reason", "flags")}
REASON = "reason"  # in free words; an answer that is more than a pick may hold it too
GIVEN = pa.field("given", pa.int32())
SCHEMA = JUDGMENTS.append(GIVEN)


def write(source: Path, target: Path, public: Collection[str]) -> int:
    """Returns the rows."""
    hidden = {name for part, names in HIDDEN.items() if part not in public for name in names}
    given, file, done = order(source), ParquetFile(target, SCHEMA), 0
    with streamed(source) as table:
        for batch in table.iter_batches(BATCH, use_threads=False):
            columns = {
                column.name: pa.nulls(len(batch), column.type) if column.name in hidden else batch.column(column.name)
                for column in JUDGMENTS
            }
            if REASON in hidden:
                columns["content"] = _uncommented(columns["content"])
            columns[GIVEN.name] = pa.array(given[done : done + len(batch)], GIVEN.type)
            file.file.write_table(pa.Table.from_arrays([*columns.values()], schema=SCHEMA))
            done += len(batch)
    file.close()
    return done


def uncommented(content: Mapping | None) -> Mapping | None:
    """What an answer holds, without the reason that was written beside it."""
    return {**content, REASON: None} if content and REASON in content else content


def _uncommented(column: pa.Array) -> pa.Array:
    """The same of a column of JSON."""
    texts = (
        text and json.dumps(uncommented(json.loads(text)), ensure_ascii=False, sort_keys=True)
        for text in column.to_pylist()
    )
    return pa.array(texts, column.type)


def order(source: Path) -> np.ndarray:
    """Of each row its place among those of its task, from 1, by the time of giving. A task's rows stand together."""
    task, at, slot = _keys(source)
    found = np.empty(len(task), dtype=np.int32)
    ordered = np.lexsort((slot, at, task))
    begins = np.searchsorted(task, task)  # tasks ascend
    found[ordered] = np.arange(len(task)) - begins + 1
    return found


def _keys(source: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row the number of its task, when it was given in microseconds, and its slot."""
    parts, before, last = [], None, 0
    with streamed(source) as table:
        for batch in table.iter_batches(BATCH, columns=[*TASK, "created_at", "slot"], use_threads=False):
            words = [pc.cast(batch.column(name), pa.string()) for name in TASK]
            keys = pc.binary_join_element_wise(*words, "\x1f")
            new = np.ones(len(batch), dtype=np.int32)
            new[1:] = pc.not_equal(keys[1:], keys[:-1]).to_numpy(zero_copy_only=False)
            new[:1] = keys[0].as_py() != before
            task = np.cumsum(new) + last
            before, last = keys[-1].as_py(), int(task[-1])
            at = batch.column("created_at").cast(pa.int64())
            parts.append((task, at.to_numpy(), batch.column("slot").to_numpy()))
    columns = zip(*parts, strict=True) if parts else ([], [], [])
    return tuple(np.concatenate(column) if column else np.empty(0, dtype=np.int64) for column in columns)
