"""Count again what the manifest counts; check what it has on people and splits against the tables, and release.json,
which repeats it.
"""

from collections import Counter

from annotation.exports.columns import FILES_OF_ITEMS
from annotation.measures.funnel import NOT_ASKED, STATES, WITHDRAWN
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.releases.export_reader import exclusions
from annotation.releases.plan import Plan
from annotation.releases.schema import SETTINGS
from annotation.releases.verification.differences import differences
from annotation.releases.verification.place import MANIFEST, Place
from annotation.releases.verification.report import Report


def check_counts(place: Place, report: Report) -> None:
    manifest = place.manifest
    splits = Counter(line["split"] for line in place.lines("items.jsonl"))
    counts, number = manifest["counts"], {KEPT: splits.total()}
    number[OPEN] = sum(row["items"] for row in counts["open_in"])
    for state, name in ((DROPPED, "reasons"), (NOT_ASKED, "not_asked_in")):
        reasons = Counter((line["stage"], line["reason"]) for line in place.lines(FILES_OF_ITEMS[state]))
        number[state] = reasons.total()
        del reasons[None, WITHDRAWN]  # absent if no stage selects
        told = Counter({(row["name"], row["reason"]): row["items"] for row in counts[name]})
        _compare(report, f"counts/{name}", told, reasons)
    for state in STATES:
        _compare(report, f"counts/{state}", number[state], counts[state])
    _compare(report, "counts/imported", sum(counts[state] for state in STATES), counts["imported"])
    _compare(report, "items_by_type", sum(row["imported"] for row in manifest["items_by_type"]), counts["imported"])
    there = dict.fromkeys(manifest["splits"], 0) | splits
    _compare(report, "splits", {name: split["items"] for name, split in manifest["splits"].items()}, there)
    _compare(report, "release/splits", set(manifest["release"]["splits"]), set(manifest["splits"]))
    excluded = exclusions(place.judgments(["annotator"]), place.lines("annotators.jsonl"))
    _compare(report, "exclusions", manifest["exclusions"], excluded)
    _check_funnel(place, report)
    for field, words in Plan.from_json(manifest["release"]).problems().items():
        report.problem(MANIFEST, f"the plan's {field} is invalid: {words}")


def _compare(report: Report, name: str, ours: object, theirs: object) -> None:
    report.count("counts of the manifest")
    if ours != theirs:
        report.problem(MANIFEST, f"{name} does not match the tables: {ours!r:.80} and {theirs!r:.80}")


def _check_funnel(place: Place, report: Report) -> None:
    """Check that the manifest's funnel equals that in the figures, which are computed again elsewhere."""
    funnel = place.part_of_figures("funnel")
    counts = {name: funnel[name] for name in place.manifest["counts"]}
    for words in differences(counts, place.manifest["counts"], "counts"):
        report.problem(MANIFEST, f"{words.partition(':')[0]} differs from figures.json")
    report.count("counts of the manifest", len(counts))


def check_settings(place: Place, report: Report) -> None:
    """Check that the manifest equals the separate file that the hash of all content includes."""
    if SETTINGS not in place.names:
        return
    ours = {name: part for name, part in place.manifest.items() if name not in ("files", "content")}
    theirs = place.json(SETTINGS)
    report.count("settings of the manifest in release.json", len(ours))
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in ours or name not in theirs or ours[name] != theirs[name]:
            report.problem(SETTINGS, f"{name} differs from {MANIFEST}")
