"""The documents of a release: card, data statement, Croissant description and statistics. Pure."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from annotation.exports.files import digest, write_json
from annotation.releases.documents import statistics, tables
from annotation.releases.documents.card import card
from annotation.releases.documents.croissant import croissant
from annotation.releases.documents.facts import Facts
from annotation.releases.documents.statement import statement
from annotation.releases.plan import Plan


def write(folder: Path, plan: Plan, manifest: Mapping, figures: Mapping, schema: pa.Schema) -> None:
    """`manifest["files"]` has all other files by now; `figures` and `manifest` what is public of them."""
    counts = statistics.compute(folder)
    write_json(folder / "statistics.json", counts)
    facts = Facts(folder, plan, manifest, figures, counts)
    found = {name: tables.there(folder, table) for name, table in tables.TABLES.items()}
    _write(folder / "data_statement.md", statement(facts))
    _write(folder / "README.md", card(facts))
    written = ("statistics.json", "data_statement.md", "README.md")
    files = {**manifest["files"], **{name: digest(folder / name) for name in written}}
    there = {name: columns for name, columns in found.items() if columns}
    write_json(folder / "croissant.json", croissant(facts, schema, there, files))


def _write(path: Path, content: str) -> None:
    path.write_text(content, encoding="utf-8", newline="\n")
