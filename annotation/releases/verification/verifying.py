"""Verify a release from only its files: no database is used, and whatever can be counted is counted again.

A damaged folder leads to problems in the report, but never to an exception.
"""

from pathlib import Path

from annotation.releases.schema import MANIFEST, UnknownSchemaVersion, check_version
from annotation.releases.verification import (
    corrections,
    counts,
    figures,
    files,
    items,
    protocols,
    rebuilt,
    schemas,
    tasks,
)
from annotation.releases.verification.place import Place
from annotation.releases.verification.report import Report

CHECKS = {  # in order, by the name under which a failure is reported
    "files": files.check_files,
    "schemas": schemas.check_schemas,
    "protocols": protocols.check_protocols,
    "items": items.check_items,
    "scoring": protocols.check_questions,
    "tasks.jsonl": tasks.check_tasks,
    "corrections.jsonl": corrections.check_corrections,
    "manifest.json": counts.check_counts,
    "release.json": counts.check_settings,
    "figures.json": figures.check_figures,
    "statistics.json": rebuilt.check_documents,
    "score.py": rebuilt.check_scoring,
    "source": rebuilt.check_source,
}


def verify(folder: Path) -> Report:
    report, place = Report(), Place(Path(folder))
    if not place.folder.is_dir():
        report.problem(str(folder), "there is no such folder; unpack a .zip first and name the folder in it")
        return report
    if not _is_release(place, report):
        return report
    for name, check in CHECKS.items():
        with report.reading(name):
            check(place, report)
    return report


def _is_release(place: Place, report: Report) -> bool:
    with report.reading(MANIFEST):
        manifest = place.manifest
        if manifest.get("made_by") != "Winnow" or manifest.get("kind") != "release":
            report.problem(MANIFEST, "it does not identify this as a release by Winnow")
            return False
        try:
            check_version(manifest)  # nothing more can be checked in an unknown version
        except UnknownSchemaVersion as why:
            report.problem(MANIFEST, str(why))
    return report.good
