"""Rebuild files that follow from others, with the code that wrote them: documents, score.py, the task for lmms-eval.

What people wrote is in release.json, from which the documents repeat it.
"""

import hashlib
from itertools import zip_longest

import pyarrow.parquet as pq

from annotation.releases.documents import statistics
from annotation.releases.documents.facts import DOCUMENTS
from annotation.releases.documents.write import documents
from annotation.releases.export_reader import record
from annotation.releases.formats import source
from annotation.releases.schema import WINNOW
from annotation.releases.scoring import evaluation, vlmevalkit
from annotation.releases.scoring.released.items import PICK
from annotation.releases.verification.figures import compare
from annotation.releases.verification.place import MANIFEST, Place
from annotation.releases.verification.report import Report

STATISTICS, ITEMS = "statistics.json", "items.jsonl"


def check_documents(place: Place, report: Report) -> None:
    counts = statistics.compute(place.lines(ITEMS))
    with report.reading(STATISTICS):
        compare(report, STATISTICS, f"numbers of {STATISTICS}", counts, place.json(STATISTICS))
    if _is_ours(place, report, DOCUMENTS):
        with report.reading("README.md"):
            schema = pq.read_schema(place.folder / place.below("data", ".parquet")[0])
            _check(place, report, documents(place.folder, place.manifest, schema, counts))


def check_scoring(place: Place, report: Report) -> None:
    told = place.manifest[evaluation.KEY]
    names = [evaluation.SCRIPT, f"{evaluation.PACKAGE}/", f"{evaluation.FOLDER}/", *evaluation.tables(place.manifest)]
    if told and _is_ours(place, report, names):
        # For picks, protocols.py checks what follows from the protocol file
        found = told if told["kind"] == PICK else evaluation.evaluation_of(told["kind"], place.lines(ITEMS))
        if found != told:
            report.problem(MANIFEST, f"{evaluation.KEY} is {told!r:.80}, but {found!r:.80} by {ITEMS}")
        _check(place, report, evaluation.contents(place.manifest, place.lines(ITEMS)))
        for name, split in evaluation.tables(place.manifest).items():
            with report.reading(name):
                report.count("files made again from the other files")
                made = hashlib.sha256()
                for row in vlmevalkit.rows(place.folder, split):
                    made.update(row)
                if made.hexdigest() != place.digests.get(name):
                    report.problem(name, "it does not have the questions and images that follow from the other files")


def check_source(place: Place, report: Report) -> None:
    there = place.below(source.FOLDER)
    if there and _is_ours(place, report, [f"{source.FOLDER}/"]):
        records: dict[str, list] = {split: [] for split in place.splits}
        for line in place.lines(ITEMS):
            records[line["split"]].append(record(line))
        made = dict(source.contents(place.manifest["source_format"], records))
        for name in sorted({*there} ^ made.keys()):
            report.problem(name, f"it is {'not ' if name in made else ''}there, unlike in the layout of the items")
        _check(place, report, made)


def _is_ours(place: Place, report: Report, names: list[str] | tuple[str, ...]) -> bool:
    """Return whether this Winnow would write the same; another version may have other texts and another score.py."""
    if place.manifest["version"] == WINNOW:
        return True
    made_by = f"Winnow {place.manifest['version']!s:.60} made them, and this is Winnow {WINNOW}"
    report.not_checked.append(f"{', '.join(names)}: {made_by}. Verify them with that version.")
    return False


def _check(place: Place, report: Report, made: dict[str, bytes]) -> None:
    for name in sorted(made.keys() & {*place.names}):
        report.count("files made again from the other files")
        if words := _difference(made[name], (place.folder / name).read_bytes()):
            report.problem(name, words)


def _difference(ours: bytes, theirs: bytes) -> str:
    """Describe the first line that differs; return nothing if there is none."""
    lines = zip_longest(*(one.decode(errors="replace").split("\n") for one in (ours, theirs)))
    for number, (one, other) in enumerate(lines, 1) if ours != theirs else ():
        if one != other:
            return f"line {number} is {other!r:.120}, but the other files make it {one!r:.120}"
    return "its bytes do not follow from the other files" if ours != theirs else ""
