"""A release's results for people as rows for the benchmark that is imported from it. They come from its `figures.json`,
which `verification` recomputes: the human baseline, and the shares of right answers in stages with questions that
models get too.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from annotation.comparison.people_and_models import answers_of, average_of
from annotation.comparison.right_picks import RANKS, foil_measure, is_about_the_foil
from annotation.protocols.registry import base_name
from annotation.releases.archive_reader import MANIFEST, Files
from annotation.wording import counted, simulated_mark
from benchmarks.formats.base import ProblemLog, Unreadable
from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE
from benchmarks.predictions.names import NAMES
from benchmarks.runs.reported import HUMAN, ReportedRow

FIGURES, ANNOTATORS = "figures.json", "annotators.jsonl"
CANNOT = (AttributeError, KeyError, TypeError, ValueError, Unreadable)  # raised if a file has another shape

_Group = Mapping[str, Any]  # a type, a subtype or None, and measures


def people_of(folder: Path, kind: str, log: ProblemLog) -> list[ReportedRow]:
    """Return a row for each baseline and each stage whose measure models of that kind also have. If the figures have
    another shape, the log gets a note and there are no rows."""
    try:
        with Files(folder) as files:
            there = {FIGURES, MANIFEST, ANNOTATORS} <= {*files.names()}
            found = (*_baselines(files, kind), *_ranked(files, kind), *_about_foils(files, kind)) if there else ()
            return list(found)
    except CANNOT as why:
        advice = f"Its results for people cannot be read, so they are not shown beside models ({why})."
        log.note("FILE_IGNORED", FIGURES, None, "", advice[:500])
        return []


def _baselines(files: Files, kind: str) -> Iterator[ReportedRow]:
    for one in files.json(FIGURES)["baselines"] if kind == BIVLC.name else ():
        names = {of.name for of in NAMES[kind]} & {*one["measures"]}
        groups = [{**of, "measures": {name: of["measures"][name] for name in names}} for of in one["by_type"]]
        about = f"human baseline, {counted(one['items'], 'item')}"
        yield from _row(files, "People", about, {name: one["measures"][name] for name in names}, groups)


def _ranked(files: Files, kind: str) -> Iterator[ReportedRow]:
    for stage in files.json(FIGURES)["stages"] if kind == HARD_POSITIVE.name else ():
        if base_name(stage["study"]["protocol"]) == RANKS:
            found = stage["paper"]
            groups = [{**of, "measures": {"augmented": of}} for of in found["by_type"]]
            yield from _row(files, "People", f"stage {stage['study']['stage_name']}", {"augmented": found}, groups)


def _about_foils(files: Files, kind: str) -> Iterator[ReportedRow]:
    measure, manifest = foil_measure(kind), files.json(MANIFEST)
    asked = {name for name, file in files.protocol_files(manifest["stages"]).items() if is_about_the_foil(file)}
    for stage in files.json(FIGURES)["stages"] if measure else ():
        if measure and (name := stage["study"]["stage_name"]) in asked:
            (right,) = (one["right"] for one in stage["scores"]["answers"] if "right" in one)
            whole = right["whole"]
            who = answers_of(whole["n_judgments"], whole["n_annotators"])
            about = f"stage {name}, {who} about {counted(whole['n_items'], 'item')}, kept or not"
            types = Counter(of["type"] for of in right["by_type"])  # alone without a subtype, it is the whole type
            groups = [
                {**of, "subtype": of["subtype"] or None, "measures": {measure.name: _score(of)}}
                for of in right["by_type"]
                if of["subtype"] or types[of["type"]] == 1
            ]
            yield from _row(files, average_of(""), about, {measure.name: _score(whole)}, groups)


def _score(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"share": of["value"], "low": of["low"], "high": of["high"], "n": of["n_items"]}


def _row(
    files: Files, title: str, about: str, measures: Mapping[str, Any], groups: Sequence[_Group]
) -> Iterator[ReportedRow]:
    """Yield the row, or nothing if nobody has answered yet."""
    found = _figures(measures)
    if not found:
        return
    release = files.json(MANIFEST)["release"]
    source = f"release {release['name']} {release['version']}: {about}"
    programs = [line["simulated"] for line in files.lines(ANNOTATORS)]
    title += simulated_mark(sum(programs), len(programs))
    by_type = {(str(of["type"]), of["subtype"] and str(of["subtype"])): _figures(of["measures"]) for of in groups}
    yield ReportedRow(title, source[:500], HUMAN, found, by_type, max(of["n"] for of in found.values()))


def _figures(measures: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are defined; raises ValueError if one is not a share."""
    return {name: _share(of) for name, of in sorted(measures.items()) if of["share"] is not None}


def _share(of: Mapping[str, Any]) -> dict[str, float | int | None]:
    found = {name: of[name] for name in ("share", "low", "high", "n")}
    if not all(0 <= found[name] <= 1 for name in ("share", "low", "high") if found[name] is not None):
        raise ValueError(f"{found} is not a share")
    if not isinstance(found["n"], int) or (found["low"] is None) != (found["high"] is None):
        raise ValueError(f"{found} is not a share")
    return found
