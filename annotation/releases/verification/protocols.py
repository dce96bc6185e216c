"""Check a release's protocol files: those that its stages name, with the manifest’s hashes, compiled again."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from annotation.protocols import compile, roles
from annotation.protocols.registry import VERSION_SIGN
from annotation.protocols.schema import ProtocolFile
from annotation.releases.scoring import evaluation, questions
from annotation.releases.scoring.released.items import PICK
from annotation.releases.verification.place import MANIFEST, Place
from annotation.releases.verification.report import Report


def check_protocols(place: Place, report: Report) -> None:
    for stage in place.manifest["stages"]:
        if stage["protocol_file"] or VERSION_SIGN in stage["protocol"]:
            with report.reading(MANIFEST):
                _check_stage(place, report, stage)


def _check_stage(place: Place, report: Report, stage: Mapping) -> None:
    name, said = stage["name"], stage["protocol_file"]
    named = said and f"{said['name']}{VERSION_SIGN}{said['version']}"
    if named != roles.split(stage["protocol"])[0] or said["path"] != f"protocols/{named}.yaml":
        report.problem(MANIFEST, f"the stage {name!r} asks {stage['protocol']}, but its protocol_file is for {named}")
        return
    path = said["path"]
    report.count("protocol files of stages")
    if path not in place.names:
        report.problem(path, f"it is missing; the stage {name!r} asks it")
        return
    if place.digests.get(path) != said["sha256"]:
        report.problem(path, f"its SHA-256 is {place.digests.get(path)}, but {said['sha256']} for the stage {name!r}")
    with report.reading(path):
        for words in _differing(place.protocol_file(stage), stage):
            report.problem(path, f"the stage {name!r} {words}")


def check_questions(place: Place, report: Report) -> None:
    """Check the questions for scoring models, made again from the items and the protocol files."""
    said = place.manifest["evaluation"]
    if not said or said["kind"] != PICK:
        return
    picks = questions.picks_of(files_by_stage(place))
    if not picks or {**picks.settings(), "modules": said["modules"]} != said:
        report.problem(MANIFEST, "its evaluation does not follow from the protocol files")
        return
    ours = picks.questions(place.lines("items.jsonl"))
    for number, (one, other) in enumerate(zip_longest(ours, place.lines(evaluation.QUESTIONS)), 1):
        report.count("questions for models")
        if one != other:
            report.problem(evaluation.QUESTIONS, f"line {number} is not the question made from the items and the file")


def _differing(file: ProtocolFile, stage: Mapping) -> Iterator[str]:
    """Yield what the manifest states about a stage that contradicts its file."""
    protocol, said = compile.as_protocol(file, stage["protocol"]), stage["protocol_file"]
    for key, ours in (("name", file.name), ("title", file.title)):
        if said[key] != ours:
            yield f"has the {key} {said[key]!r:.60}, but the file says {ours!r:.60}"
    settings = {
        "measures": protocol.measures, "fixed_answers": [choice.identity for choice in protocol.fixed],
        "drops": dict(protocol.drops), "confirms": protocol.confirms, "guidelines": [], "alike": protocol.alike,
        "views": list(protocol.projections),
    }  # fmt: skip
    for key, found in settings.items():
        if stage[key] != found:
            yield f"has {key} {stage[key]!r:.60}, but the file makes it {found!r:.60}"


def files_by_stage(place: Place) -> dict[str, ProtocolFile]:
    """Return protocol files by stage name, if they can be read; `check_protocols` reports the others."""
    found = {}
    for stage in place.manifest["stages"]:
        if stage["protocol_file"]:
            try:
                found[stage["name"]] = place.protocol_file(stage)
            except (OSError, ValueError):
                continue
    return found
