"""All of figures.json, computed again from the other files: as far as it is public, and nothing beside it.

`recompute` and `figures` are of the same shape, so that `differences` says where they are not the same. Run as a module
with a folder it prints that; an export's folder will do.
"""

import json
import sys
from collections.abc import Callable, Collection
from pathlib import Path

from annotation.releases.verification.differences import differences
from tests.independent import adaptive, annotator_pages, audits, baselines, outcomes, papers
from tests.independent.asked import AskedStage
from tests.independent.funnels import funnel
from tests.independent.reading import Files
from tests.independent.stages import Stage

PARTS = ("funnel", "stages", "baselines", "annotators")


def read_stages(files: Files) -> list[Stage]:
    return [(AskedStage if one["protocol_file"] else Stage)(files, one) for one in files.manifest["stages"]]


def parts(files: Files, stages: list[Stage]) -> dict[str, Callable[[], object]]:
    """How each part of figures.json is computed, of those that are public."""
    found = {
        "funnel": lambda: funnel(files, stages),
        "stages": lambda: of_stages(files, stages),
        "baselines": lambda: baselines.baselines(files),
    }
    if "annotators" in files.public:
        found["annotators"] = lambda: annotator_pages.annotators(files, stages)
    return found


def recompute(folder: Path, only: Collection[str] = PARTS) -> dict:
    """Everything that figures.json has, or `only` these parts, and what came of each task (`outcomes`). KeyError,
    ValueError or OSError where the files cannot be read.
    """
    files = Files(folder)
    stages = read_stages(files)
    found = {name: compute() for name, compute in parts(files, stages).items() if name in only}
    return found | {"outcomes": outcomes.outcome_rows(stages)}


def of_stages(files: Files, stages: list[Stage]) -> list[dict]:
    reported = papers.papers(files)
    return [stage.figures() | paper(reported, stage.name) | audit(stage) | adaptive.figures(stage) for stage in stages]


def audit(stage: Stage) -> dict[str, dict]:
    return {"audit": audits.audit(stage)} if stage.settings["strategy"] == "audit" else {}


def paper(reported: dict[str, dict], name: str) -> dict:
    return {"paper": reported[name]} if name in reported else {}


def figures(folder: Path) -> dict:
    """What the files say."""
    found = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    return found | {"outcomes": outcomes.told(Files(folder))}


def main(folder: Path) -> int:
    found = differences(recompute(folder), figures(folder))
    print("\n".join(found) or "Every figure is the same.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
