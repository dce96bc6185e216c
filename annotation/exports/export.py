"""Export a validated split: the kept items with their images, every judgment, and how items were decided.

An export is one snapshot of the database, in a total order, without the time of day: the same state gives the same
bytes. The folder appears complete or not at all.
"""

import json
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from django.conf import settings

from annotation.exports import atomic_folder, item_table, protocol_files, readme, texts
from annotation.exports import files as export_files
from annotation.exports import rows as export_rows
from annotation.exports.columns import FILES_OF_ITEMS
from annotation.exports.files import files_below
from annotation.exports.items import ExportedItems
from annotation.figures import annotators, human_baseline
from annotation.figures.edit_names import Edits, edits_of
from annotation.figures.stage import stage_rows, study_figures
from annotation.measures.funnel import STATES
from annotation.models import Stage, Study
from annotation.pipeline import dawid_skene, promotion
from annotation.protocols.decision_rule import KEPT
from annotation.reader_reports.address import address_of
from benchmarks import audit, transactions
from benchmarks.caption_only import warning
from benchmarks.records import ItemRecord
from benchmarks.runs import material

MADE_BY = "Winnow"
Step = Callable[[int, int], None]  # items done, items in total


class CannotExport(ValueError):
    """The export cannot be written there, or not for this study; the message explains why."""


def export_split(
    *,
    study: Study,
    out: Path,
    by: str,
    stages: Collection[int] = (),
    step: Step = lambda done, total: None,
    embed_images: bool = True,
) -> dict:
    """Write the study's split to the folder `out` and return its manifest. `step(done, total)` counts items.

    New imports are included first, and stages with an estimate are estimated again, so that the split is current.
    `stages` has positions, if only some count; each must come with the stages that it depends on. Without
    `embed_images`, data.parquet only names its images, for a release, which embeds them itself.

    An earlier export in the folder is replaced; any other folder that is not empty is refused (CannotExport).
    """
    out = Path(out).absolute()
    try:
        with atomic_folder.appearing(out) as folder:
            _check_target(out)
            promotion.take_in(study, by=by)
            dawid_skene.bring_up_to_date(study, by)
            with transactions.snapshot():
                study = Study.objects.select_related("benchmark").get(pk=study.pk)
                manifest = _write(study, stages_of(study, stages), folder, step, embed_images)
    except atomic_folder.Busy as busy:
        raise CannotExport(str(busy)) from None
    audit.record(by=by, verb="exported", subject=study, files=manifest["files"], counts=manifest["counts"])
    return manifest


def stages_of(study: Study, positions: Collection[int] = ()) -> list[Stage]:
    """Return those stages, or all; raises CannotExport if one does not exist or depends on a stage left out."""
    stages = list(study.stages.select_related("study__benchmark", "source", "after").order_by("position"))
    some = [stage for stage in stages if not positions or stage.position in positions]
    if unknown := set(positions) - {stage.position for stage in some}:
        raise CannotExport(f"“{study}” has no stage {', '.join(map(str, sorted(unknown)))}.")
    for stage in some:
        for needed in filter(None, (stage.source, stage.after)):
            if needed not in some:
                raise CannotExport(f"{stage.name} depends on {needed.name}: include both, or leave {stage.name} out.")
    return some


def _check_target(out: Path) -> None:
    """Refuse a folder that contains anything but an earlier export, because it would be lost."""
    if not out.exists():
        return
    if not out.is_dir():
        raise CannotExport(f"{out} is a file. Name a folder.")
    manifest = out / "manifest.json"
    text = manifest.read_text(encoding="utf-8") if manifest.is_file() else ""
    if f'"made_by": "{MADE_BY}"' in text:
        if others := set(files_below(out)) - {*json.loads(text)["files"], "manifest.json"}:
            named = ", ".join(sorted(others))[:200]
            raise CannotExport(f"{out} contains {named} besides an earlier export. Name a new folder.")
    elif any(out.iterdir()):
        raise CannotExport(f"{out} is not empty and does not hold an earlier export. Name a new folder.")


def _write(study: Study, stages: Sequence[Stage], folder: Path, step: Step, embed_images: bool) -> dict:
    edits = edits_of(stages)
    rows = {"texts.jsonl": export_files.write_lines(folder / "texts.jsonl", texts.texts(stages, edits))}
    items = ExportedItems(study, stages, edits, export_files.read_lines(folder / "texts.jsonl"))
    rows |= _write_rows(study, stages, edits, items, folder)
    whole = items.funnel
    last = _write_figures(study, stages, whole, folder)
    records: list[ItemRecord] | None = [] if item_table.source_format(study.benchmark) else None
    rows |= _write_items(items, records, folder, step)
    data, rows["data.parquet"] = item_table.write_data(
        folder / "data.parquet", study.benchmark, partial(export_files.read_lines, folder / "items.jsonl"),
        protocol_files.files_of(stages), embed_images, lambda done: step(done, rows["items.jsonl"]),
    )  # fmt: skip
    notes = {
        "no_source": item_table.write_source(study.benchmark, records or (), folder),
        "warnings": list(warning.blindness_of(study.benchmark, whole=True).warnings),
    }
    columns = {column.name: column.part for column in data}
    sha256 = export_files.digest(folder / "data.parquet")["sha256"]
    card = readme.card(study, whole, stages, {one.name: items.written(one) for one in stages}, sha256, columns, notes)
    (folder / "README.md").write_text(card, encoding="utf-8", newline="\n")
    protocol_files.write_files(stages, folder)
    manifest = {
        "made_by": MADE_BY,
        "version": settings.VERSION,
        "study": _in_manifest(study),
        "stages": [{**readme.settings_of(one), "not_suitable": items.not_suitable(one)} for one in stages],
        "columns": columns,
        "source_format": item_table.source_format(study.benchmark),
        "reports": address_of(study),
        "evaluation_kind": material.kind(study.benchmark),  # which a release describes under `evaluation`
        "counts": {name: whole[name] for name in ("imported", *STATES, "reasons", "not_asked_in", "open_in")},
        "items_by_type": [{name: row[name] for name in ("type", "subtype", "imported")} for row in whole["by_type"]],
        "last_judgment_at": last,
        "files": export_files.describe_files(folder, rows),
        **notes,
    }
    export_files.write_json(folder / "manifest.json", manifest)
    return manifest


def _in_manifest(study: Study) -> dict:
    return {
        **{name: getattr(study, name) for name in ("name", "language", "currency", "consent")},
        "benchmark": study.benchmark.name,
        **({"part": study.part} if study.part else {}),
        **study.pay,
    }


def _write_items(items: ExportedItems, records: list[ItemRecord] | None, folder: Path, step: Step) -> dict[str, int]:
    """Write the items; return each file's rows. `records`, if given, receive the kept items with final captions."""
    files = {state: export_files.LinesFile(folder / name) for state, name in FILES_OF_ITEMS.items()}
    total = items.items.count()
    for done, item in enumerate(items.in_order(), 1):
        fate = items.fates[item.pk]
        if fate.state in files:
            files[fate.state].add(items.line(item))
        if fate.state == KEPT and records is not None:
            records.append(item.record())
        step(done, total)
    for file in files.values():
        file.close()
    return {name: files[state].count for state, name in FILES_OF_ITEMS.items()}


def _write_rows(
    study: Study, stages: Sequence[Stage], edits: Edits, items: ExportedItems, folder: Path
) -> dict[str, int]:
    """Write everything that was asked, answered and reported; return the rows of each file."""
    lines = {
        "tasks.jsonl": export_rows.tasks(stages, edits, items.still_open()),
        "adjudications.jsonl": export_rows.adjudications(stages, edits),
        "corrections.jsonl": export_rows.corrections(study, stages),
        "flags.jsonl": export_rows.flags(stages),
        "annotators.jsonl": export_rows.annotators(study, stages),
    }
    rows = {name: export_files.write_lines(folder / name, found) for name, found in lines.items()}
    count = export_files.write_judgments(folder / "judgments.parquet", export_rows.judgments(stages, edits))
    return rows | {"judgments.parquet": count}


def _write_figures(study: Study, stages: Sequence[Stage], whole: dict, folder: Path) -> str | None:
    """Write all statistics on the study's pages that do not depend on the time of day. They are written before the
    items are read and not kept: the pairs of 500 annotators take a lot of memory. Return when the last judgment was
    given.
    """
    found, given = [], {}
    for stage in stages:
        rows = stage_rows(stage)
        given[stage.pk] = rows.judgments
        found.append(study_figures(stage, rows))
    figures = {
        "funnel": whole,
        "stages": [{name: part for name, part in one.items() if name != "now"} for one in found],
        "annotators": annotators.of_stages(study, stages, given=given),
        "baselines": human_baseline.of_stages(stages),
    }
    export_files.write_json(folder / "figures.json", figures)
    return max(filter(None, (one["pace"]["last"] for one in found)), default=None)
