"""The common parts of folders, zips and tars: safe names, lookup of files, limits on reading."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from workers import limits
from workers.archives import names

NESTED = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".7z", ".rar", ".jar")
TOO_MANY = f"Use at most {limits.MAX_FILES:,} files; split the benchmark into several imports."


@dataclass(frozen=True, slots=True)
class Refusal:
    code: str
    entry: str
    advice: str


class ArchiveRefused(Exception):
    """The files cannot be used. `code`, `entry` and `advice` are those of the first refusal; `refusals` has the first
    100, and `count` is their total number."""

    def __init__(self, code: str, entry: str, advice: str, refusals: tuple[Refusal, ...] = (), count: int = 1):
        # A damaged archive's names and messages may contain anything; unstorable text would fail the reporting job
        self.code, self.entry, self.advice = code, names.printable(entry), names.printable(advice, 1_000)
        self.refusals = refusals or (Refusal(code, self.entry, self.advice),)
        self.count = count
        super().__init__(f"{code} · {self.entry} · {self.advice}")


class Budget:
    """Counts the bytes read from an archive, whatever its headers say."""

    def __init__(self, archive_bytes: int):
        allowed = limits.FREE_BYTES + limits.MAX_RATIO * archive_bytes
        self.left = min(allowed, limits.MAX_UNPACKED_BYTES)

    def take(self, count: int, entry: str) -> None:
        self.left -= count
        if self.left < 0:
            advice = "The archive unpacks to far more than its size. Pack only the images, without other large files."
            raise ArchiveRefused("ARCHIVE_TOO_LARGE", entry, advice)


def unreadable(entry: str, why: str | Exception) -> ArchiveRefused:
    advice = f"Create the archive again; this part cannot be read ({str(why) or 'it is cut off'})."
    return ArchiveRefused("ARCHIVE_UNREADABLE", entry, advice)


class EntryNames:
    """Takes entries one by one, and collects safe names, clashes and problems."""

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}  # NFC name → the archive's spelling, in its order
        self.ignored: list[str] = []
        self.refusals: list[Refusal] = []
        self.count = 0
        self._seen: dict[str, str] = {}

    def refuse(self, code: str, entry: str, advice: str) -> None:
        self.count += 1
        if len(self.refusals) < 100:
            self.refusals.append(Refusal(code, names.printable(entry), advice))

    def add(self, entry: str) -> None:
        """Add a plain file's name."""
        if len(self.stored) + len(self.ignored) >= limits.MAX_FILES:
            raise ArchiveRefused("TOO_MANY_FILES", entry, TOO_MANY)
        if advice := names.unsafe(entry):
            self.refuse("UNSAFE_PATH", entry, advice)
        elif names.is_system_file(entry):
            self.ignored.append(entry)
        elif entry.lower().endswith(NESTED):
            self.refuse(
                "NESTED_ARCHIVE", entry, "Unpack the inner archive first: archives inside archives are not opened."
            )
        else:
            self._keep(entry)

    def add_folder(self, entry: str) -> None:
        """Add a folder's own entry: only its name matters."""
        if names.normal(entry) and (advice := names.unsafe(entry.rstrip("/"))):
            self.refuse("UNSAFE_PATH", entry, advice)

    def _keep(self, entry: str) -> None:
        key = names.clash_key(entry)
        if key in self._seen:
            other = names.printable(self._seen[key])
            advice = f"Rename one: on some computers “{other}” is the same name (capitals, accents, dots)."
            self.refuse("NAME_CLASH", entry, advice)
        else:
            self._seen[key] = entry
            self.stored[names.normal(entry)] = entry

    def check(self) -> None:
        """Raise ArchiveRefused if any entry was refused."""
        if self.refusals:
            first = self.refusals[0]
            raise ArchiveRefused(first.code, first.entry, first.advice, tuple(self.refusals), self.count)


class Source:
    """Files by name. `names` are safe, in NFC, in the source's order; `ignored` are omitted system files.

    `find` resolves every name: to the exact name (compared in NFC), or, if all files are in one top folder, to the name
    inside that folder: `0001.jpg` finds `val2017/0001.jpg`. `other_encoding`: some names are not in UTF-8, and may have
    been decoded wrongly.
    """

    other_encoding = False

    def __init__(self, title: str, listed: EntryNames):
        listed.check()
        self.title = title
        self.names = list(listed.stored)
        self.ignored = listed.ignored
        self._stored = listed.stored
        tops = {name.split("/")[0] if "/" in name else "" for name in self.names}
        self._top = tops.pop() if len(tops) == 1 else ""

    def find(self, name: str) -> str | None:
        """Return the name in `names` that this one refers to, or None."""
        name = names.normal(name)
        if name in self._stored:
            return name
        inside = f"{self._top}/{name}"
        return inside if self._top and inside in self._stored else None

    def missing(self, wanted: Iterable[str]) -> list[str]:
        return [name for name in dict.fromkeys(wanted) if self.find(name) is None]

    def unused(self, wanted: Iterable[str]) -> list[str]:
        """Return the files that no wanted name refers to."""
        used = {self.find(name) for name in wanted}
        return [name for name in self.names if name not in used]

    def stream(self, wanted: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (wanted name, bytes) of each wanted file found, in the source's order, one in memory at a time.

        Names that refer to the same file each get it. Raises ArchiveRefused.
        """
        asked: dict[str, list[str]] = {}
        for name in dict.fromkeys(wanted):
            if (found := self.find(name)) is not None:
                asked.setdefault(found, []).append(name)
        for found, data in self._contents(asked):
            for name in asked[found]:
                yield name, data

    def read(self, name: str) -> bytes:
        """Return one file's bytes. Raises KeyError if there is none. In a tar this reads everything before it."""
        for _, data in self.stream([name]):
            return data
        raise KeyError(name)

    def _contents(self, asked: dict[str, list[str]]) -> Iterator[tuple[str, bytes]]:
        """Yield (name in `names`, bytes) of the requested files, in the source's order."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing unless overridden."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
