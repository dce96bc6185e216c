"""What the documents of a release are made of, put together once: plan, manifest, figures, counts. Pure."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from annotation.exports.files import content_hash
from annotation.releases.plan import SPLIT_NAMES, Plan

DOCUMENTS = ("README.md", "croissant.json", "data_statement.md", "statistics.json")
UNKNOWN = "not stated"
REASONS = {
    "no_image_fits": "no image fits",
    "cannot_judge": "could not be judged",
    "tie_unresolved": "a tie",
    "check_item": "used as a check or for practice",
    "not_sampled": "not drawn",
    "not_suitable": "lacks something that the question needs",
    "ambiguous_both": "both images fit",
    "ambiguous_generated": "the generated image fits as well or better",
}


@dataclass(frozen=True)
class Facts:
    """`manifest` is the release's as far as it is known: all of its files but the documents."""

    folder: Path
    plan: Plan
    manifest: Mapping
    figures: Mapping
    statistics: Mapping

    def said(self, word: str) -> str:
        """What the producer said of it, or ""."""
        return self.plan.words.get(word, "").strip()

    @property
    def title(self) -> str:
        return self.plan.title

    @property
    def items(self) -> int:
        return self.statistics["whole"]["items"]

    @property
    def parts(self) -> set[str]:
        """What stands in the split's columns."""
        return set(self.manifest["columns"].values())

    @property
    def splits(self) -> list[str]:
        return [name for name in SPLIT_NAMES if name in self.manifest["splits"]]

    @property
    def loadable(self) -> list[str]:
        """Splits that have items: the `datasets` library opens none of a card that names an empty one."""
        return [name for name in self.splits if name in self.statistics["splits"]]

    def rows(self, file: str) -> int:
        return self.manifest["files"].get(file, {}).get("rows") or 0

    @property
    def stages(self) -> list[Mapping]:
        """Settings, in order."""
        return sorted(self.manifest["stages"], key=lambda stage: stage["position"])

    @property
    def funnel(self) -> Mapping:
        return self.figures.get("funnel", {})

    @cached_property
    def fingerprint(self) -> str:
        """Of every file but the documents."""
        return content_hash(self.manifest["files"], without=DOCUMENTS)

    @cached_property
    def annotators(self) -> list[dict]:
        return list(self._lines("annotators.jsonl"))

    @property
    def people(self) -> int:
        return len(self.annotators)

    @property
    def simulated(self) -> int:
        return sum(line.get("simulated", False) for line in self.annotators)

    @cached_property
    def licences(self) -> list[tuple[str, int]]:
        """Of the images: licence → how many, the most frequent first; "" where none is given."""
        found = Counter(line.get("licence") or "" for line in self._lines("images.jsonl"))
        return sorted(found.items(), key=lambda row: (-row[1], row[0]))

    def _lines(self, name: str) -> Iterator[dict]:
        with (self.folder / name).open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def reason(code: str) -> str:
    return REASONS.get(code, code.replace("_", " "))
