"""The judgments of each task, read by columns, and which of them need to be looked at one by one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from annotation.exports.columns import TASK_KEY
from annotation.measures.types import Array
from annotation.releases.verification.answers import EDIT, SAME, Known
from annotation.releases.verification.schemas import JUDGMENT_TYPES, coded, tasks_of

FILLED = (
    *TASK_KEY, *SAME, "annotator", "slot", "screen", "revision", "shown", "excluded", "counted", "withdrawn", "given",
    "instructions_version",
)  # fmt: skip
MAY_BE_EMPTY = ("answer", "answers", "content", "created_at", "flags", "place")
KINDS = {name: JUDGMENT_TYPES[name] for name in (*FILLED, *MAY_BE_EMPTY)}
SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class TaskJudgments:
    """The judgments of one task, which are `n` rows of a batch.

    They are plain if each is the first and only one of its annotator, has no content and no flags, and nothing is wrong
    with it or its order but what the task or stage may contradict: `same` is what all of them say of the task,
    `version` of the instructions, `options` what was shown in order of names, `slot` the largest, and `votes` the
    answers of those that count.
    """

    batch: pa.RecordBatch
    start: int
    n: int
    is_plain: bool
    same: Sequence[object] = ()
    version: int = 0
    options: Sequence[str] = ()
    slot: int = 0
    votes: Sequence[str] = ()

    def rows(self) -> list[dict]:
        return self.batch.slice(self.start, self.n).to_pylist()

    def are_plain_for(self, task: Mapping, versions: Set[int]) -> bool:
        """Whether looking at the rows would find nothing, where the stage uses no protocol file."""
        try:
            return (
                self.is_plain
                and not task["proposals"]
                and task["decided_by"] != "adjudicator"
                and [*self.same] == [task[name] for name in SAME]
                and [*self.options] == sorted(task["options"])
                and self.version in versions
                and (task["kind"] != "judge" or self.slot <= task["overlap"])
            )
        except (KeyError, TypeError):  # the rows tell what is wrong with the task
            return False


def judgments_by_task(batches: Iterable[pa.RecordBatch], known: Known) -> Iterator[tuple[tuple, TaskJudgments]]:
    """Each task with its judgments, as the file has them."""
    rest = None  # the last task of a batch may have more judgments in the next
    for batch in filter(len, batches):
        whole = batch if rest is None else pa.concat_batches([rest, batch])
        *tasks, (start, _) = tasks_of(whole)
        rest = whole.slice(start)
        yield from _of_batch(whole.slice(0, start), tasks, known)
    if rest is not None:
        yield from _of_batch(rest, tasks_of(rest), known)


def _of_batch(
    batch: pa.RecordBatch, tasks: Sequence[tuple[int, tuple]], known: Known
) -> Iterator[tuple[tuple, TaskJudgments]]:
    """`tasks` are the first row and the key of each."""
    starts = np.array([start for start, _ in tasks], dtype=np.int64)
    sizes = np.diff([*starts.tolist(), len(batch)]).tolist()
    kinds = {field.name: field.type for field in batch.schema}
    if (
        not tasks
        or any(kinds.get(name) != kind for name, kind in KINDS.items())
        or any(batch.column(name).null_count for name in FILLED)
    ):
        for (start, key), n in zip(tasks, sizes, strict=True):
            yield key, TaskJudgments(batch, start, n, is_plain=False)  # every row will be looked at
        return
    plain, shown = _plain(batch, starts, known)
    said = []
    for name in (*SAME, "instructions_version"):
        values, code = coded(batch.column(name))
        said.append([values[place] for place in code[starts].tolist()])
    slots = np.maximum.reduceat(_numbers(batch, "slot"), starts).tolist()
    labels, label = coded(batch.column("answer"))
    answers, counted = label.tolist(), _numbers(batch, "counted").tolist()
    rows = zip(tasks, sizes, plain.tolist(), zip(*said, strict=True), slots, strict=True)
    for (start, key), n, is_plain, (*same, version), slot in rows:
        end = start + n
        votes = [labels[code] for code, one in zip(answers[start:end], counted[start:end], strict=True) if one]
        yield key, TaskJudgments(batch, start, n, is_plain, same, version, shown[start], slot, votes)


def _numbers(batch: pa.RecordBatch, name: str) -> Array:
    found: Array = batch.column(name).to_numpy(zero_copy_only=False)
    return found


def _plain(batch: pa.RecordBatch, starts: Array, known: Known) -> tuple[Array, "_Shown"]:
    """Of each task, whether its judgments are plain; and what was shown."""
    sizes = np.diff([*starts.tolist(), len(batch)])
    task = np.repeat(np.arange(len(starts)), sizes)
    first = np.repeat(starts, sizes)
    shown = _Shown(batch.column("shown"))
    labels, answer = coded(batch.column("answer"))
    people, annotator = coded(batch.column("annotator"))
    excluded, slot = _numbers(batch, "excluded"), _numbers(batch, "slot")
    listed = np.array([known.excluded.get(name, -1) for name in people], dtype=np.int8)[annotator]  # -1: not listed
    place = batch.column("place").fill_null(-1).to_numpy()
    is_fine = (
        ((listed == -1) | (listed == excluded))
        & (_numbers(batch, "withdrawn") == batch.column("answer").is_null().to_numpy(zero_copy_only=False))
        & (slot >= 1)
        & (place == shown.places(labels, answer))
        & (_numbers(batch, "revision") == 1)
        & (_numbers(batch, "screen") == 1)
        & ~shown.has_edit
        & (shown.options == shown.options[first])
        & batch.column("answers").is_null().to_numpy(zero_copy_only=False)
        & _is_empty(batch.column("content"))
        & (pc.list_value_length(batch.column("flags")).fill_null(0).to_numpy() == 0)
        & _is_alone(task, annotator)
        & _is_alone(task, slot)
        & _is_in_order(batch, task, first)
    )
    for name in (*SAME, "instructions_version"):
        code = coded(batch.column(name))[1]
        is_fine &= code == code[first]
    return np.bincount(task, weights=~is_fine, minlength=len(starts)) == 0, shown


def _is_empty(content: pa.Array) -> Array:
    texts, code = coded(content)
    found: Array = np.array([text in (None, "", "{}") for text in texts], dtype=bool)[code]
    return found


def _is_alone(task: Array, value: Array) -> Array:
    """Of each judgment, whether no other of its task has the value."""
    order = np.lexsort((value, task))
    same = (task[order][1:] == task[order][:-1]) & (value[order][1:] == value[order][:-1])
    found = np.ones(len(task), dtype=bool)
    found[order[1:][same]] = False
    return found


def _is_in_order(batch: pa.RecordBatch, task: Array, first: Array) -> Array:
    """Of each judgment, whether `given` numbers its task's from 1, and `created_at` does not contradict it."""
    order = np.lexsort((_numbers(batch, "given"), task))
    is_fine = _numbers(batch, "given")[order] == np.arange(len(task)) - first + 1
    created_at = batch.column("created_at")
    if created_at.null_count < len(batch):
        at = created_at.cast(pa.int64()).fill_null(-1).to_numpy()[order]
        is_fine &= at >= 0
        is_fine[1:] &= (at[1:] >= at[:-1]) | (task[order][1:] != task[order][:-1])
    found = np.empty(len(task), dtype=bool)
    found[order] = is_fine
    return found


class _Shown:
    """What each judgment's screen showed. Orders of options are few, however many judgments there are."""

    def __init__(self, column: pa.Array):
        texts, self._code = coded(pc.binary_join(column, SEPARATOR))
        self._lists = [[] if text == "" else (text or "").split(SEPARATOR) for text in texts]
        odd = pc.list_value_length(column).to_numpy() != np.array([len(one) for one in self._lists])[self._code]
        kinds: dict[tuple, int] = {}
        options = [tuple(sorted(one)) for one in self._lists]
        self.options = np.array([kinds.setdefault(one, len(kinds)) for one in options], dtype=np.int64)[self._code]
        self._options = options
        edits = np.array([any(name.startswith(EDIT) for name in one) for one in self._lists], dtype=bool)
        self.has_edit = edits[self._code] | odd  # a name with a separator in it is looked at closely too

    def __getitem__(self, row: int) -> Sequence[str]:
        return self._options[self._code[row]]

    def places(self, labels: Sequence[str | None], answer: Array) -> Array:
        """Of each judgment, the position of its answer, as a position among `labels`, from 1; -1 if it is not shown."""
        both, at = np.unique(self._code.astype(np.int64) * len(labels) + answer, return_inverse=True)
        pairs = ((self._lists[code // len(labels)], labels[code % len(labels)]) for code in both.tolist())
        found = [shown.index(label) + 1 if label in shown else -1 for shown, label in pairs]
        return np.array(found, dtype=np.int64)[at]
