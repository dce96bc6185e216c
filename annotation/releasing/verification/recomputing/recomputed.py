"""All of figures.json, computed again from the other files: as far as it is public, and nothing beside it.

`recompute` and `figures` are of the same shape, so that `differences` says where they are not the same.
"""

import json
from pathlib import Path

from annotation.releasing.verification.recomputing import annotator_pages, baselines, outcomes, papers
from annotation.releasing.verification.recomputing.funnels import funnel
from annotation.releasing.verification.recomputing.reading import Files
from annotation.releasing.verification.recomputing.stages import Stage


def read_stages(files: Files) -> list[Stage]:
    return [Stage(files, settings) for settings in files.manifest["stages"]]


def recompute(folder: Path) -> dict:
    """Everything that figures.json has, and what came of each task (`outcomes`). KeyError, ValueError or OSError where
    the files cannot be read.
    """
    files = Files(folder)
    stages, reported = read_stages(files), papers.papers(files)
    found = {
        "funnel": funnel(files, stages),
        "stages": [stage.figures() | paper(reported, stage.name) for stage in stages],
        "baselines": baselines.baselines(files),
        "outcomes": outcomes.outcome_rows(stages),
    }
    if "annotators" in files.public:
        found["annotators"] = annotator_pages.annotators(files, stages)
    return found


def paper(reported: dict[str, dict], name: str) -> dict:
    return {"paper": reported[name]} if name in reported else {}


def figures(folder: Path) -> dict:
    """What the files say."""
    found = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    return found | {"outcomes": outcomes.told(Files(folder))}
