"""That each table has its columns and keys, and in them what belongs there; that tables fit each other.

`TABLES` and `JUDGMENTS` have the keys or columns of each table with the kind of each; a question mark where it may be
null.
"""

from collections.abc import Mapping
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from annotation.releases.verification.forms import is_image
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report

KINDS: Mapping[str, type | tuple[type, ...]] = {
    "text": str, "int": int, "number": (int, float), "bool": bool, "list": list, "object": dict,
}  # fmt: skip


def _keys(words: str) -> dict[str, str]:
    """`id:text batch:int?` → key → kind."""
    return dict(word.split(":") for word in words.split())


ABOUT = "stage:text item:text question:text round:int"
TASK = f"{ABOUT} position:int kind:text live:bool"
ITEM = "id:text position:int type:text subtype:text decisions:list captions:list images:list meta:object"
CAME = "state:text? outcome:text? content:object? reason:text? decided_by:text? posterior:number?"
TABLES = {
    "items.jsonl": _keys(f"{ITEM} stage:text? negative_image:text? split:text"),
    "dropped.jsonl": _keys(f"{ITEM} stage:text reason:text"),
    "tasks.jsonl": _keys(
        f"{TASK} type:text subtype:text overlap:int shared:bool batch:int? shows:list options:list proposals:list"
        f" texts:object carried:object gold:list? own:bool {CAME}"
    ),
    "texts.jsonl": _keys(
        f"{TASK} annotator:text? screen:int? revision:int? counted:bool withdrawn:bool created_at:text? edit:text?"
        " by:text role:text made_of:text? before:text? text:text"
    ),
    "adjudications.jsonl": _keys(f"{ABOUT} state:text outcome:text? content:object? reason:text? note:text? by:text"),
    "annotators.jsonl": _keys(
        "annotator:text simulated:bool excluded:bool exclusion_reason:text left:bool? stages:list"
    ),
    "flags.jsonl": _keys(f"{ABOUT} annotator:text reason:text? settled:bool"),
    "images.jsonl": _keys(
        "sha256:text file_names:list format:text width:int height:int source_name:text licence:text attribution:text"
    ),
}
IMAGE = _keys(
    "key:text chosen:bool round:int sha256:text format:text width:int height:int source_name:text licence:text"
    " attribution:text"
)
JUDGMENTS = {
    **dict.fromkeys(
        ("stage", "item", "question", "kind", "type", "subtype", "annotator", "answer", "content", "reason"), "string"
    ),
    **dict.fromkeys(("round", "slot", "screen", "revision", "place", "instructions_version", "given"), "int32"),
    **dict.fromkeys(("live", "excluded", "counted", "withdrawn", "surplus"), "bool"),
    **dict.fromkeys(("position", "active_ms", "elapsed_ms"), "int64"),
    **dict.fromkeys(("shown", "flags"), "list<element: string>"),
    "created_at": "timestamp[us, tz=UTC]",
}

# What has no values where that part is not public.
HIDDEN_COLUMNS = {"times": ("created_at", "active_ms", "elapsed_ms"), "comments": ("reason", "flags")}
HIDDEN = {
    "times": {"texts.jsonl": ("created_at",)},
    "annotators": {"annotators.jsonl": ("left",)},
    "comments": {"adjudications.jsonl": ("note",), "flags.jsonl": ("reason",)},
    "gold": {"tasks.jsonl": ("gold",)},
}
EMBEDDED = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
KEY = ("stage", "item", "question", "round", "kind")  # of a task, in every table
key_of = itemgetter(*KEY)
PLAIN = (pa.string(), pa.int64(), pa.float64(), pa.bool_())


def check_schemas(place: Place, report: Report) -> None:
    for name in place.below("data"):
        with report.reading(name):
            _check_shard(place, name, report)
    with report.reading("judgments.parquet"):
        _check_judgments(place, report)
    for name, keys in TABLES.items():
        with report.reading(name):
            _check_lines(place, name, keys, report)


def _check_shard(place: Place, name: str, report: Report) -> None:
    """Images, words, and fields of meta of any plain kind."""
    schema, columns = pq.read_schema(place.folder / name), place.manifest["columns"]
    report.count("schemas of tables")
    if sorted(schema.names) != sorted(columns):
        report.problem(name, f"it has the columns {', '.join(schema.names)}; the manifest says {', '.join(columns)}")
        return
    for column, part in columns.items():
        kind = schema.field(column).type
        fitting = kind == EMBEDDED if is_image(part) else kind in (PLAIN if part.startswith("meta:") else PLAIN[:1])
        if not fitting:
            report.problem(name, f"its column {column} is {kind}, as {part} it cannot be")


def _check_judgments(place: Place, report: Report) -> None:
    name = "judgments.parquet"
    schema = pq.read_schema(place.folder / name)
    report.count("schemas of tables")
    found = {field.name: str(field.type) for field in schema}
    for column in sorted({*found, *JUDGMENTS}):
        if found.get(column) != JUDGMENTS.get(column):
            report.problem(
                name, f"its column {column} is {found.get(column, 'missing')}, not {JUDGMENTS.get(column, 'known')}"
            )
            return
    hidden = [column for part, columns in HIDDEN_COLUMNS.items() if part not in place.public for column in columns]
    tasks = {key_of(line) for line in place.lines("tasks.jsonl")}
    people = {line["annotator"] for line in place.lines("annotators.jsonl")}
    for batch in place.judgments([*KEY, "annotator", *hidden]):
        report.count("judgments with their tasks and annotators", len(batch))
        asked = set(zip(*(batch.column(key).to_pylist() for key in KEY), strict=True))
        for one in sorted(asked - tasks, key=str):
            report.problem(name, f"a judgment is of a task that tasks.jsonl has not: {one}")
        for who in sorted(set(pc.unique(batch.column("annotator")).to_pylist()) - people, key=str):
            report.problem(name, f"a judgment is of {who!r}, whom annotators.jsonl has not")
        for column in hidden:
            if batch.column(column).null_count < len(batch):
                report.problem(name, f"its column {column} is not public and has values")


def _check_lines(place: Place, name: str, keys: dict[str, str], report: Report) -> None:
    hidden = [key for part, tables in HIDDEN.items() if part not in place.public for key in tables.get(name, ())]
    for number, line in enumerate(place.lines(name), 1):
        report.count("lines of JSON by their keys")
        if line.keys() != keys.keys():
            odd = ", ".join(sorted(line.keys() ^ keys.keys()))
            report.problem(name, f"line {number} has other keys than it should: {odd}")
            continue
        for key, kind in keys.items():
            if not fits(line[key], kind):
                report.problem(name, f"line {number}: {key} is {line[key]!r:.60}, which is no {kind.removesuffix('?')}")
        for key in hidden:
            if line[key] is not None:
                report.problem(name, f"line {number}: {key} is not public and has a value")


def fits(value: object, kind: str) -> bool:
    """Whether a value of a line of JSON is of a kind of `TABLES`."""
    if value is None:
        return kind.endswith("?")
    if isinstance(value, bool):
        return kind.startswith("bool")
    return isinstance(value, KINDS[kind.removesuffix("?")])
