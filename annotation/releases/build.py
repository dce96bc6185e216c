"""Build a release from an export: its splits, forms, public parts, documents and manifest. Pure.

Everything is made from the export's files, which are from one moment, so the same export and plan give the same
bytes.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from sys import intern

from annotation.exports.files import content_hash, describe_files, write_json
from annotation.releases import redaction, schema
from annotation.releases.archive_reader import KIND, MADE_BY, MANIFEST
from annotation.releases.documents.write import write_documents
from annotation.releases.export_reader import DATA, ITEMS, ExportReader, exclusions, hashes
from annotation.releases.formats.base import Layout
from annotation.releases.formats.registry import FORMS
from annotation.releases.plan import Plan
from annotation.releases.scoring import evaluation
from annotation.releases.splitting import Earlier
from benchmarks.construction import splitting
from benchmarks.construction.splitting import Assigned, Unit
from benchmarks.records import Problem, Refused

MB = 1_000_000
PARQUET = "parquet"  # always included, so that every release can be imported again
Step = Callable[[int, int], None]  # items done, items in total


def build(
    export: Path,
    plan: Plan,
    out: Path,
    earlier: Earlier | None = None,
    step: Step = lambda done, total: None,
    original: Callable[[str], bytes] | None = None,
) -> dict:
    """Write the release to the empty folder `out` and return its manifest. Raises Refused if a split would be empty.

    Items stay in the split they had in an `earlier` version. `original(sha256)` gives the bytes of an image, if the
    export only names images.
    """
    source = ExportReader(export, original)
    assigned = _assign_splits(source, plan, earlier or Earlier())
    rows = _forms(source, plan, out, assigned, step)
    rows |= redaction.write_tables(source, out, plan.public, assigned.splits)
    _copy_protocols(source, out)
    settings = _settings(source, plan, assigned)
    write_json(out / schema.SETTINGS, settings)
    rows |= evaluation.write(out, settings, source.lines(ITEMS), source.protocol_files(settings["stages"]))
    files = describe_files(out, rows)
    manifest = settings | {"files": files}
    write_documents(out, manifest, source.schema(DATA))
    manifest["files"] = dict(sorted({**describe_files(out, rows, files), **files}.items()))
    manifest["content"] = content_hash(manifest["files"])
    write_json(out / MANIFEST, manifest)
    return manifest


def _assign_splits(source: ExportReader, plan: Plan, earlier: Earlier) -> Assigned:
    """Assign splits, in the order of the items."""
    units = [_unit(line) for line in source.lines(ITEMS)]
    fixed = {unit.key: split for unit in units if (split := earlier.split_of(unit))}
    assigned = splitting.assign(units, plan.splits, plan.seed, fixed)
    if empty := [name for name in plan.names if name not in assigned.splits.values()]:
        kept = f"{len(assigned.splits):,} kept item{'s' * (len(assigned.splits) != 1)}"
        advice = f"{' and '.join(empty)} would be empty: there are {kept}, and items that share an image stay together."
        raise Refused([Problem("CANNOT_RELEASE", "", None, "", advice)])
    return replace(assigned, splits={unit.key: assigned.splits[unit.key] for unit in units})


def _unit(line: Mapping) -> Unit:
    """Return the item as a unit. Items share the string of a type or an image: hashes take most of a unit's memory."""
    return Unit(line["id"], (intern(line["type"]), intern(line["subtype"])), tuple(map(intern, hashes(line))))


def _forms(source: ExportReader, plan: Plan, out: Path, assigned: Assigned, step: Step) -> dict[str, int]:
    """Write all forms in one pass over the items; return the rows of each file."""
    schema, written_as = source.schema(DATA), source.manifest["source_format"]
    layout = Layout(out, schema, source.columns, plan.names, plan.shard_mb * MB, written_as)
    chosen = [form.writer for name, form in FORMS.items() if name == PARQUET or name in plan.forms]
    writers = [begin(layout) for begin in chosen if begin]
    total = len(assigned.splits)
    for done, row in enumerate(source.rows(assigned.splits), 1):
        for writer in writers:
            writer.add(row)
        step(done, total)
    return {name: count for writer in writers for name, count in writer.close().items()}


def _copy_protocols(source: ExportReader, out: Path) -> None:
    """Copy the stages' protocol files as they were published."""
    for path in sorted({file["path"] for stage in source.manifest["stages"] if (file := stage["protocol_file"])}):
        (out / path).parent.mkdir(exist_ok=True)
        (out / path).write_bytes(source.read(path))


def _settings(source: ExportReader, plan: Plan, assigned: Assigned) -> dict:
    there = source.manifest
    counted = Counter(assigned.splits.values())
    return {
        **redaction.settings(there, plan.public),
        schema.KEY: schema.VERSION,
        "made_by": MADE_BY,
        "kind": KIND,
        "release": plan.as_json(),
        "columns": there["columns"],
        evaluation.KEY: evaluation.evaluation_of(
            there["evaluation_kind"], source.lines(ITEMS), source.protocol_files(there["stages"])
        ),
        "source_format": there["source_format"] if "source" in plan.forms else "",
        "no_source": there["no_source"] if "source" in plan.forms else "",
        "warnings": there["warnings"],
        "splits": {name: {"items": counted[name]} for name in plan.names},
        "split_rule": _split_rule(plan),
        "moved": dict(sorted(assigned.moved.items())),
        "exclusions": exclusions(
            source.batches("judgments.parquet", rows=65_536, columns=["annotator"]), source.lines("annotators.jsonl")
        ),
    }


def _split_rule(plan: Plan) -> str:
    """Describe in words how items were assigned to splits."""
    if len(plan.splits) == 1:
        return f"All items are in {next(iter(plan.splits))}."
    shares = ", ".join(f"{plan.splits[name]} % {name}" for name in plan.names)
    return (
        f"{shares}, of each type and subtype, drawn with seed {plan.seed}. Items that share an image, by the SHA-256 "
        "of its bytes, are in one split; what an earlier version had in a split stays there."
    )


def summary(manifest: Mapping) -> dict:
    """Return the manifest without single files, for lists of releases."""
    forms: Counter[str] = Counter()
    for name, file in manifest["files"].items():
        forms[name.partition("/")[0] if "/" in name else ""] += file["bytes"]
    named = ("counts", "splits", "exclusions", "split_rule", "version")
    return {name: manifest[name] for name in named} | {
        "forms": dict(sorted(forms.items())),
        "files": len(manifest["files"]) + 1,
        "moved": len(manifest["moved"]),
    }
