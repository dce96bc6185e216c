"""What differs between two releases beside their items: plans, stages, instructions, exclusions, files. Pure."""

from collections.abc import Mapping, Sequence

TELLING = {
    "README.md",
    "data_statement.md",
    "croissant.json",
    "statistics.json",
    "release.json",
}  # they carry name and version
MADE = ("version", "source_format", "split_rule", "warnings")  # the app's version
NAMING = {"name", "version"}  # of the plan
BESIDE = {"name", "position", "instructions"}  # of a stage: told in another place


def set_up(a: Mapping, b: Mapping) -> dict:
    """Of two manifests, what differs: {part: {name: [before, after]}}. A part that is the same is left out.

    `stages` has "added" and "removed" (names) and "changed" ({stage: {"settings", "instructions"}}), `exclusions`
    "added", "removed" and, with the reason "before", "changed" (lines of the manifests), `files` "added", "removed" and
    "changed" (names).
    """
    found = {
        "release": differing(a["release"], b["release"]),
        "study": differing(a.get("study", {}), b.get("study", {})),
        "made": differing(*({name: one.get(name) for name in MADE} for one in (a, b))),
        "splits": differing(*({name: one["items"] for name, one in m.get("splits", {}).items()} for m in (a, b))),
        "columns": differing(a.get("columns", {}), b.get("columns", {})),
        "counts": differing(*(_numbers(one.get("counts", {})) for one in (a, b))),
        "stages": _stages(a.get("stages", []), b.get("stages", [])),
        "exclusions": _exclusions(a.get("exclusions", []), b.get("exclusions", [])),
        "files": _files(a.get("files", {}), b.get("files", {})),
    }
    return {name: part for name, part in found.items() if part}


def nothing_else(found: Mapping) -> bool:
    """Whether no more differs than the release's name and version, and the files that carry them."""
    files = {name for names in found.get("files", {}).values() for name in names}
    return set(found) <= {"release", "files"} and set(found.get("release", {})) <= NAMING and files <= TELLING


def differing(a: Mapping, b: Mapping) -> dict[str, list]:
    """{name: [in a, in b]}; None where one lacks it."""
    return {name: [a.get(name), b.get(name)] for name in sorted({*a, *b}) if a.get(name) != b.get(name)}


def _numbers(counts: Mapping) -> dict[str, int]:
    return {name: value for name, value in counts.items() if isinstance(value, int)}


def _stages(a: Sequence[Mapping], b: Sequence[Mapping]) -> dict:
    before, after = ({stage["name"]: stage for stage in stages} for stages in (a, b))
    found = {
        "added": [name for name in after if name not in before],
        "removed": [name for name in before if name not in after],
        "changed": {name: both for name in before if name in after and (both := _stage(before[name], after[name]))},
    }
    return {name: part for name, part in found.items() if part}


def _stage(a: Mapping, b: Mapping) -> dict:
    settings = differing(_settings(a), _settings(b))
    before, after = _instructions(a), _instructions(b)
    return {
        **({"settings": settings} if settings else {}),
        **({"instructions": [max(one, default=None) for one in (before, after)]} if before != after else {}),
    }


def _settings(stage: Mapping) -> dict:
    """Of the items that a stage could not ask about their number is enough."""
    found = {name: value for name, value in stage.items() if name not in BESIDE}
    return found | ({"not_suitable": len(found["not_suitable"])} if "not_suitable" in found else {})


def _instructions(stage: Mapping) -> dict[int, str]:
    return {one["version"]: one.get("text", "") for one in stage.get("instructions", [])}


def _exclusions(a: Sequence[Mapping], b: Sequence[Mapping]) -> dict:
    before, after = ({one["annotator"]: one for one in lines} for lines in (a, b))
    found = {
        "added": [after[who] for who in sorted(after) if who not in before],
        "removed": [before[who] for who in sorted(before) if who not in after],
        "changed": [
            {**after[who], "before": before[who].get("reason")}
            for who in sorted({*before} & {*after})
            if before[who].get("reason") != after[who].get("reason")
        ],
    }
    return {name: part for name, part in found.items() if part}


def _files(a: Mapping, b: Mapping) -> dict[str, list[str]]:
    found = {
        "added": sorted(set(b) - set(a)),
        "removed": sorted(set(a) - set(b)),
        "changed": sorted(name for name in set(a) & set(b) if a[name]["sha256"] != b[name]["sha256"]),
    }
    return {name: names for name, names in found.items() if names}
