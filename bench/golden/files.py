"""What is kept of a file: its size and hash as it is, and its content without what no two runs share."""

import hashlib
import io
import json
from pathlib import Path

TEXT = {".json", ".jsonl", ".csv", ".tsv", ".md", ".txt", ".html", ".xml", ".bib", ".cff", ".yaml", ".yml"}


class Recorder:
    """Writes below `out`; `normal` is a Normaliser."""

    def __init__(self, out: Path, normal):
        self.out, self.normal = out, normal

    def text(self, name: str, text: str) -> None:
        path = self.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.normal(text).rstrip("\n") + "\n", encoding="utf-8")

    def json(self, name: str, value: object) -> None:
        self.text(name, json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True))

    def content(self, name: str, content: bytes) -> None:
        """Of a text, what it says; of a table, its rows; of anything else, its hash."""
        suffix = Path(name).suffix
        if suffix == ".json":
            self.text(name, json.dumps(json.loads(content), ensure_ascii=False, indent=1))
        elif suffix in TEXT:
            self.text(name, content.decode("utf-8", errors="backslashreplace"))
        elif suffix == ".parquet":
            self.text(f"{name}.rows", _rows(content))
        else:
            self.text(f"{name}.sha256", _digest(content))

    def folder(self, name: str, folder: Path) -> None:
        """A list of all files with size and hash, and the content of each that is no picture or archive."""
        listed = []
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            relative, content = path.relative_to(folder).as_posix(), path.read_bytes()
            listed.append(f"{_digest(content)}  {relative}")
            if path.suffix in TEXT | {".parquet"}:
                self.content(f"{name}/{relative}", content)
        self.text(f"{name}.files", "\n".join(listed))


def _digest(content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()} {len(content):>10}"


def _rows(content: bytes) -> str:
    import pyarrow.parquet as pq

    table = pq.read_table(io.BytesIO(content))
    lines = [str(table.schema)]
    return "\n".join(lines + [json.dumps(row, ensure_ascii=False, default=_told) for row in table.to_pylist()])


def _told(value: object) -> str:
    return _digest(value) if isinstance(value, bytes) else str(value)
