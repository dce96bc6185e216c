"""The protocols that come as files, and protocols from a user's own files."""

from functools import cache
from pathlib import Path

from annotation.protocols.reading import LONGEST, read_protocol
from annotation.protocols.schema import ProtocolFile
from benchmarks.formats.base import ProblemLog, Unreadable

FOLDER = Path(__file__).resolve().parent / "library"
ENDINGS = (".yaml", ".yml", ".json")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def text_of(name: str) -> str:
    """Return the file's text. KeyError if the library has no such protocol."""
    if name not in names():
        raise KeyError(name)
    return (FOLDER / f"{name}.yaml").read_text()


@cache
def shipped(name: str) -> ProtocolFile:
    """Return the library's protocol with this name. KeyError if there is none."""
    return read_stored(text_of(name), name)


def read_stored(text: str, name: str) -> ProtocolFile:
    """Return the protocol in a text known to be free of problems."""
    return read_protocol(text, f"{name}.yaml", ProblemLog())


def named_or_file(given: str, log: ProblemLog) -> ProtocolFile:
    """Return the library's protocol with that name, or the one in the file at that path. Raises Unreadable."""
    return read_protocol(text_of_named_or_file(given, log), Path(given).name, log)


def text_of_named_or_file(given: str, log: ProblemLog) -> str:
    """Return the text of the library's protocol of that name, or of the file at that path. Raises Unreadable."""
    path = Path(given)
    if path.suffix not in ENDINGS and given in names():
        return text_of(given)
    if not path.is_file():
        advice = f"Give the path of a file, or the name of a library protocol: {', '.join(names())}."
        log.error("NO_SUCH_PROTOCOL", given, None, "", advice)
        raise Unreadable
    try:
        with path.open(encoding="utf-8-sig") as stream:
            return stream.read(LONGEST + 1)  # one character over the limit
    except UnicodeDecodeError:
        log.error("WRONG_ENCODING", path.name, None, "", "Save the file as UTF-8.")
        raise Unreadable from None
