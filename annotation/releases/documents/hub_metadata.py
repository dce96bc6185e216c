"""The YAML at the head of a dataset card, which a hub and its loader read. Pure."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.exports.markdown import yaml_text
from annotation.releases.documents.facts import Facts

with Path(__file__).with_name("licences.csv").open(encoding="utf-8", newline="") as file:
    LICENCES = {row["spdx"]: row["hub"] for row in csv.DictReader(file)}  # both in lower case
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
CROWDS = re.compile(r"\b(prolific|mechanical turk|mturk|toloka|crowdworkers?|crowd workers?|crowdsourc\w*)\b", re.I)
EXPERTS = re.compile(r"\bexperts?\b", re.I)
SOURCES = {  # a source's name in words → a hub's name for data made from it
    "coco": "coco", "sugarcrepe": "sugarcrepe", "bivlc": "bivlc", "visla": "visla", "winoground": "winoground",
    "visual genome": "visual_genome", "flickr30k": "flickr30k", "vl-checklist": "vl-checklist", "aro": "aro",
}  # fmt: skip
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
TAGS = ("vision-language", "compositionality", "hard-negatives", "image-text-retrieval")
JUDGMENTS, ROWS = "judgments.parquet", "rows"  # its only split


def yaml_head(facts: Facts) -> str:
    """Return the block between the `---` lines, without them; it leaves out whatever was not stated."""
    entries = {
        "pretty_name": facts.plan.title,
        **licence(facts.stated("licence")),
        "language": _languages(facts.stated("language")),
        "annotations_creators": _creators(facts),
        "source_datasets": _sources(facts.stated("collection")),
        "task_categories": _categories(set(facts.manifest["columns"].values())),
        "size_categories": [next((name for most, name in SIZES if facts.items < most), "n>1M")],
        "tags": [*tags(facts), *(["human-validated"] if facts.people > facts.simulated else [])],
        "configs": _configs(facts),
    }
    return "\n".join(line for name, value in entries.items() if value for line in _entry(name, value))


def tags(facts: Facts) -> list[str]:
    """Return the tags; only the first if all roles are the producers' own."""
    parts = {part.partition("-")[0] for part in facts.manifest["columns"].values()}
    return list(TAGS if parts & {"caption:positive", "caption:negative"} else TAGS[:1])


def _entry(name: str, value: Any) -> Iterator[str]:
    """Yield `name: value`; a list's dashes are below the name."""
    if not isinstance(value, list):
        yield f"{name}: {yaml_text(value)}"
        return
    yield f"{name}:"
    for one in value:
        lines = (
            [line for key, part in one.items() for line in _entry(key, part)]
            if isinstance(one, dict)
            else [yaml_text(one)]
        )
        yield from (f"{'- ' if not number else '  '}{line}" for number, line in enumerate(lines))


def licence(stated: str) -> dict[str, str]:
    """Return a hub's own id, or another licence by its name."""
    small = "-".join(stated.lower().split())
    known = LICENCES.get(small, small)  # a hub's own id, such as `odbl`, also works
    if not small:
        return {}
    if known in LICENCES.values():
        return {"license": known}
    return {"license": "other", "license_name": small}


def _languages(stated: str) -> list[str]:
    found = [word for word in re.split(r"[\s,;]+", stated) if LANGUAGE.fullmatch(word)]
    return list(dict.fromkeys(found))


def _creators(facts: Facts) -> list[str]:
    """Return only what was stated, or what the annotators' own lines show."""
    if facts.people and facts.people == facts.simulated:
        return ["machine-generated"]
    stated = f"{facts.stated('platform')} {facts.stated('demographics')}"
    kinds = {"crowdsourced": CROWDS, "expert-generated": EXPERTS}
    return [name for name, pattern in kinds.items() if pattern.search(stated)]


def _sources(stated: str) -> list[str]:
    found = (name for word, name in SOURCES.items() if re.search(rf"\b{word}\b", stated, re.I))
    return sorted(f"extended|{name}" for name in found)


def _categories(parts: set[str]) -> list[str]:
    if "image:positive" not in parts:  # images in roles of the producers' own may be for any task
        return [] if any(part.startswith("image:") for part in parts) else ["sentence-similarity"]
    return ["image-to-text", "text-to-image"] if "image:negative" in parts else ["image-to-text"]


def _configs(facts: Facts) -> list[dict]:
    """Return the splits, and the judgments: the only other table, since one loader opens all that a card names, and
    that loader is parquet's.
    The files' hash is included because a loader caches what it has read under a hash of this YAML, and would otherwise
    take a later release in a folder of the same name for an earlier one.
    """
    hashed = f"Release {facts.plan.version}; its files have SHA-256 {facts.fingerprint}"
    configs = {"default": [{"split": name, "path": f"data/{name}-*.parquet"} for name in facts.loadable]}
    if facts.loadable and facts.rows(JUDGMENTS):
        configs["judgments"] = [{"split": ROWS, "path": JUDGMENTS}]
    return [
        {"config_name": name, "description": hashed, "data_files": files} for name, files in configs.items() if files
    ]
