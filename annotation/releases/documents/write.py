"""Write the documents of a release: card, data statement, Croissant description and statistics. Pure.

The card and the data statement are Jinja templates in `templates/`; what people wrote is escaped by the
filters of `markdown`.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from annotation.exports import markdown
from annotation.exports.columns import TABLES, Column, Table
from annotation.exports.files import as_json, digest_of
from annotation.measures.agreement_measures import INTERVAL_METHODS
from annotation.releases.archive_reader import Files
from annotation.releases.documents import facts as facts_module
from annotation.releases.documents import statistics
from annotation.releases.documents.croissant import croissant
from annotation.releases.documents.facts import DOCUMENTS, Facts
from annotation.releases.documents.hub_metadata import yaml_head
from annotation.releases.plan import PUBLIC, Plan
from annotation.releases.scoring import evaluation
from annotation.releases.scoring.released.items import PICK
from annotation.wording import readable_label

FOLDERS = {
    "data": "the kept items with their images, in parquet shards",
    "jsonl": "the same items as lines of JSON, without image bytes",
    "csv": "the same items as CSV, one copy exact and one for spreadsheets",
    "imagefolder": "the same items as image files with a metadata.jsonl",
    "webdataset": "the same items as tars that open_clip trains on and clip_benchmark reads",
    "vlmevalkit": "a table for VLMEvalKit for each split: the questions with options and their images",
    "lmms_eval": "a task for lmms-eval for each split, which asks generative models",
    "protocols": "the protocol files of the stages, as they were published",
    "source": "the kept items in the layout of the imported files",
}
TYPES, SUBTYPES = ("replace", "swap", "add"), ("obj", "att", "rel")
TABLE_ONE = [(type, subtype) for type in TYPES for subtype in SUBTYPES]  # the order of BiVLC's Table 1
NOT_IN_BIVLC = {("swap", "rel"), ("add", "rel")}


def write_documents(folder: Path, manifest: Mapping, schema: pa.Schema) -> None:
    """Write the documents; `folder` and `manifest["files"]` already have all other files, as far as they are public."""
    counts = statistics.compute(Files(folder).lines("items.jsonl"))
    for name, content in documents(folder, manifest, schema, counts).items():
        (folder / name).write_bytes(content)


def documents(folder: Path, manifest: Mapping, schema: pa.Schema, counts: Mapping) -> dict[str, bytes]:
    """Return each document. `counts` are the statistics, `schema` that of the parquet files; what `manifest` and
    `folder` have about the documents themselves is not read.
    """
    release, files = Files(folder), {name: of for name, of in manifest["files"].items() if name not in DOCUMENTS}
    facts = Facts(release, Plan.from_json(manifest["release"]), {**manifest, "files": files}, counts)
    found = {"statistics.json": as_json(counts)}
    for name in ("data_statement.md", "README.md"):
        found[name] = TEMPLATES.get_template(f"{name}.j2").render(facts=facts).encode()
    files |= {name: digest_of(content) for name, content in found.items()}  # croissant.json has their hashes
    columns = {name: there for name, table in TABLES.items() if (there := _columns_there(release, table))}
    return {**found, "croissant.json": as_json(croissant(facts, schema, columns, files))}


def _columns_there(release: Files, table: Table) -> list[Column]:
    """Return the table's columns that its file has, in order: all if it has no rows, none without a file."""
    if table.file not in release.names():
        return []
    if table.file.endswith(".parquet"):
        names = set(release.schema(table.file).names)
    else:
        names, missing = set(), {column.name: f'"{column.name}": '.encode() for column in table.columns}
        for raw in release.raw_lines(table.file):
            if any(key in raw for key in missing.values()):
                names.update(json.loads(raw))
                missing = {name: key for name, key in missing.items() if name not in names}
    return [one for one in table.columns if one.name in names or not (names or one.may_be_missing)]


def _table_one_columns(statistics: Mapping) -> list[tuple[str, str]]:
    """Return types and subtypes as in BiVLC's Table 1; none if there are others."""
    found = {(row["type"], row["subtype"]) for row in statistics["types"]}
    if not found or not found <= set(TABLE_ONE):
        return []
    return [kind for kind in TABLE_ONE if kind in found or kind not in NOT_IN_BIVLC]


def _table_one_rows(
    statistics: Mapping, splits: Sequence[str], columns: Sequence[tuple[str, str]]
) -> list[tuple[str, Mapping, list[int]]]:
    """Return name, counts, and questions by column, for each split with items and for all together."""
    there: list[tuple[str, Mapping, str | None]] = [
        (f"`{name}`", statistics["splits"][name], name) for name in splits if name in statistics["splits"]
    ]
    questions: dict[tuple[str | None, str, str], int] = {
        (row["split"], row["type"], row["subtype"]): row["questions"] for row in statistics["rows"]
    }
    if len(statistics["splits"]) > 1:
        there.append(("all", statistics["whole"], None))
        questions |= {(None, row["type"], row["subtype"]): row["questions"] for row in statistics["types"]}
    return [(name, cell, [questions.get((key, *kind), 0) for kind in columns]) for name, cell, key in there]


def _licences_of(facts: Facts, file: str) -> Counter[str]:
    return Counter(one["licence"] for line in facts.files.lines(file) for one in line["images"])


def _protocols(facts: Facts) -> list[tuple[str, str]]:
    """Return the path and the text of each protocol file."""
    paths = {stage["protocol_file"]["path"] for stage in facts.stages if stage["protocol_file"]}
    return [(path, facts.files.read(path).decode()) for path in sorted(paths)]


def _folders(files: Collection[str]) -> set[str]:
    return {name.partition("/")[0] for name in files if "/" in name}


def _hidden(facts: Facts) -> list[str]:
    return [what for name, what in PUBLIC.items() if name not in facts.plan.public]


def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown: the filters of `markdown` escape
    )
    found.filters |= {name: getattr(markdown, name) for name in markdown.FILTERS}
    found.filters |= {"reason": readable_label, "phrase": markdown.phrase}
    found.globals |= {name: getattr(facts_module, name) for name in dir(facts_module) if name.endswith("_in_words")}
    found.globals |= {"table_one_columns": _table_one_columns, "table_one_rows": _table_one_rows}
    found.globals |= {
        "folders": _folders,
        "hidden": _hidden,
        "protocols": _protocols,
        "licences_of": _licences_of,
        "decimal": markdown.decimal,
        "percent": markdown.percent,
        "yaml_head": yaml_head,
    }
    found.globals |= {"INTERVAL_METHODS": INTERVAL_METHODS, "task_name": evaluation.task_name, "PICK": PICK}
    found.globals |= {"FOLDERS": FOLDERS, "MEASURES": facts_module.MEASURES, "TABLES": TABLES}
    return found


TEMPLATES = _environment()
