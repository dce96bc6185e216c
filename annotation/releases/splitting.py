"""Items' splits in earlier versions of a release. `benchmarks.construction.splitting` assigns the others. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from annotation.releases.export_reader import hashes
from benchmarks.construction.splitting import SPLIT_NAMES, Unit


@dataclass(frozen=True, slots=True)
class Earlier:
    """Splits of earlier versions, by item and by image content: an image may reappear under another item."""

    items: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)

    def add(self, lines: Iterable[Mapping]) -> None:
        """Add the items.jsonl of a version later than those already added."""
        for line in lines:
            self.items[line["id"]] = line["split"]
            self.images.update(dict.fromkeys(hashes(line), line["split"]))

    def split_of(self, unit: Unit) -> str:
        """Return the split of a new item that has images of earlier splits, the last of them; empty if it has none."""
        if unit.key in self.items:
            return self.items[unit.key]
        earlier = (self.images[one] for one in unit.hashes if one in self.images)
        return max(earlier, key=SPLIT_NAMES.index, default="")
