"""The protocols that come as files, and protocols from files of one's own."""

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
    """The file's text. KeyError if the library has no such protocol."""
    if name not in names():
        raise KeyError(name)
    return (FOLDER / f"{name}.yaml").read_text()


@cache
def shipped(name: str) -> ProtocolFile:
    """KeyError if the library has no such protocol."""
    return read_stored(text_of(name), name)


def read_stored(text: str, name: str) -> ProtocolFile:
    """The protocol in a text that is known to have no problems."""
    return read_protocol(text, f"{name}.yaml", ProblemLog())


def named_or_file(given: str, log: ProblemLog) -> ProtocolFile:
    """A protocol of the library by its name, or the one in the file at that path. Raises Unreadable."""
    return read_protocol(text_of_named_or_file(given, log), Path(given).name, log)


def text_of_named_or_file(given: str, log: ProblemLog) -> str:
    """The text of a protocol of the library by its name, or that of the file at that path. Raises Unreadable."""
    path = Path(given)
    if path.suffix not in ENDINGS and given in names():
        return text_of(given)
    if not path.is_file():
        advice = f"Give the path of a file, or one of the library: {', '.join(names())}."
        log.error("NO_SUCH_PROTOCOL", given, None, "", advice)
        raise Unreadable
    try:
        with path.open(encoding="utf-8-sig") as stream:
            return stream.read(LONGEST + 1)  # one more than can be read
    except UnicodeDecodeError:
        log.error("WRONG_ENCODING", path.name, None, "", "Save the file as UTF-8.")
        raise Unreadable from None
