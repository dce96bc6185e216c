"""How a malformed (or merely odd) input is described: what builds it in a folder, and the code that it must give."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image as Drawing


@dataclass(frozen=True)
class ImportFiles:
    """What an import is called with."""

    format: str
    path: Path
    images: Path | None = None


@dataclass(frozen=True)
class Case:
    row: int  # in the list of malformed inputs
    code: str | None  # None: it must be accepted
    build: Callable[[Path], ImportFiles]


class Cases(dict[str, Case]):
    def add(self, row: int, code: str | None, build: Callable[[Path], ImportFiles], name: str) -> None:
        assert name not in self, f"two cases are called {name}"
        self[name] = Case(row, code, build)

    def case(self, row: int, code: str | None):
        """Decorates a builder that takes a folder; its name is the case's."""

        def keep(build):
            self.add(row, code, build, build.__name__)
            return build

        return keep


def picture(number: int = 0, format: str = "JPEG", size: tuple[int, int] = (24, 16), **save) -> bytes:
    file = io.BytesIO()
    Drawing.new("RGB", size, (number % 256, 90, 40)).save(file, format, **save)
    return file.getvalue()


def item(number: int = 1, images: list[str] | None = None, **fields) -> dict:
    """A line of the manifest; `images` are file names."""
    captions = [
        {"role": "positive", "text": f"A red cup, {number}."},
        {"role": "negative", "text": f"A blue cup, {number}."},
    ]
    files = [{"role": "candidate", "file": name} for name in images or []]
    return {"id": f"i{number}", "type": "swap", "subtype": "att", "captions": captions, "images": files, **fields}


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def manifest(folder: Path, items: list[dict], images: Path | None = None) -> ImportFiles:
    lines = "".join(json.dumps(made) + "\n" for made in items)
    return ImportFiles("jsonl", written(folder, "items.jsonl", lines), images)


def naming(folder: Path, names: list[str], images: Path) -> ImportFiles:
    """A manifest whose items name these files, nine an item."""
    groups = [names[start : start + 9] for start in range(0, len(names), 9)]
    return manifest(folder, [item(number, group) for number, group in enumerate(groups)], images)
