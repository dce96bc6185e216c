"""Read text files strictly: the encoding, the size of lines and files, and forbidden characters."""

import codecs
import re
import unicodedata
from collections.abc import Iterator
from typing import BinaryIO

from benchmarks.formats import limits
from benchmarks.formats.base import ProblemLog, Unreadable

CHUNK = 2**16
BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
ZIP, OLD_EXCEL = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"  # how these files begin
WORKBOOK = "This is an Excel workbook. Save it as CSV UTF-8."
BREAK = re.compile(r"\r\n|\r|\n")
SURROGATE = re.compile("[\ud800-\udfff]")


JOINERS = "\u200c\u200d"  # needed in Persian words and many emoji


def on_one_line(text: str) -> str | None:
    """Return a name with plain spaces in place of others; None if it has a line break, a control character, or another
    invisible character that would change how surrounding text is shown."""
    plain = "".join(" " if unicodedata.category(one) == "Zs" else one for one in text).strip()
    hidden = ("Cc", "Cf", "Cs", "Zl", "Zp")
    wrong = any(unicodedata.category(one) in hidden and one not in JOINERS for one in plain)
    return None if wrong or (plain and not plain.strip(JOINERS)) else plain


def chunks(stream: BinaryIO, file: str, log: ProblemLog, cap: int = limits.MAX_FILE_BYTES) -> Iterator[str]:
    """Yield the text in pieces, decoded as UTF-8, or as UTF-16 if it has that byte-order mark, which is dropped.

    Never falls back to another encoding: ENCODING names row and byte and guesses the encoding. FILE_TOO_LARGE past
    `cap` bytes. Both end the reading.
    """
    data, offset, encoding = beginning(stream, file, log)
    decoder = codecs.getincrementaldecoder(encoding)()
    row, last = 1, ""  # position in the text decoded so far; `offset` counts the bytes
    while True:
        waiting = len(decoder.getstate()[0])
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(encoding)
            row += breaks(good, last)
            byte, around = offset - waiting + error.start, error.object[max(0, error.start - 40) : error.start + 40]
            advice = f"Byte {byte} is not {encoding.upper()}; it looks like {guessed(around)}. Save the file as UTF-8."
            log.error("ENCODING", file, row, "", advice)
            raise Unreadable from error
        yield text
        if not data:
            return
        row, last = row + breaks(text, last), text[-1:]
        offset += len(data)
        if offset > cap:
            log.error("FILE_TOO_LARGE", file, row, "", f"Use at most {cap:,} bytes per file; split it.")
            raise Unreadable
        data = stream.read(CHUNK)


def beginning(stream: BinaryIO, file: str, log: ProblemLog) -> tuple[bytes, int, str]:
    """Return the first bytes without their mark, the mark's length, and the encoding it indicates."""
    data = stream.read(CHUNK)
    if not data:
        log.error("EMPTY_FILE", file, None, "", "The file is empty. Export it again.")
        raise Unreadable
    if is_workbook(data):
        log.error("WRONG_TYPE", file, None, "", WORKBOOK)
        raise Unreadable
    mark, encoding = next(((mark, name) for mark, name in BOMS if data.startswith(mark)), (b"", "utf-8"))
    data = data[len(mark) :]
    if not mark:
        refuse_utf16_without_mark(data, file, log)
    return data, len(mark), encoding


def is_workbook(data: bytes) -> bool:
    """Return whether data begins like an Excel file, whatever its name: a zip with certain names, in any order, or the
    older OLE container.
    """
    names = (b"[Content_Types].xml", b"xl/", b"docProps/")
    return data.startswith(OLD_EXCEL) or (data.startswith(ZIP) and any(name in data for name in names))


def breaks(text: str, last: str) -> int:
    """Count line ends in a piece of text; a `\n` after a `\r` that ended the previous piece was counted with it."""
    return len(BREAK.findall(text)) - (last == "\r" and text.startswith("\n"))


def refuse_utf16_without_mark(data: bytes, file: str, log: ProblemLog) -> None:
    """Refuse UTF-16 without a mark; in mostly Latin text, it has a NUL in every second byte."""
    sample = data[:4096]
    if len(sample) < 4:
        return
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) > 0.4 * len(sample) / 2 and min(even, odd) < 0.1 * max(even, odd):
        guess = "UTF-16 BE" if even > odd else "UTF-16 LE"
        advice = f"Byte 0: this looks like {guess} without its mark. Save the file as UTF-8."
        log.error("ENCODING", file, 1, "", advice)
        raise Unreadable


def guessed(data: bytes) -> str:
    """Return the likeliest 8-bit encoding: Korean if most non-ASCII bytes form complete Hangul syllables."""
    high = sum(byte > 127 for byte in data)
    hangul = sum("가" <= character <= "힣" for character in data.decode("cp949", "replace"))
    return "cp949 (Korean)" if hangul >= 2 and hangul * 2 >= high * 0.6 else "Windows-1252 or Latin-1"


def lines(
    stream: BinaryIO, file: str, log: ProblemLog, most: int | None = None, cap: int = limits.MAX_FILE_BYTES
) -> Iterator[str]:
    """Yield physical lines with their ends (`\\n`, `\\r\\n` or `\\r`), at most `most` (by default an import's limit).
    Logs LINE_TOO_LONG and TOO_MANY_ROWS.
    """
    rest, row, seen = "", 0, 0  # the first `seen` characters of the rest do not end a line
    most = most or limits.MAX_LINES
    for chunk in chunks(stream, file, log, cap):
        rest += chunk
        end = 0
        for match in BREAK.finditer(rest, seen, len(rest) - rest.endswith("\r")):  # a final \r may be half of \r\n
            line, row, end = rest[end : match.end()], row + 1, match.end()
            if row > most:
                log.error("TOO_MANY_ROWS", file, row, "", f"Use at most {most:,} lines; split the file.")
                raise Unreadable
            refuse_long_line(len(line), row, file, log)
            yield line
        rest = rest[end:]
        seen = max(0, len(rest) - 1)
        refuse_long_line(len(rest), row + 1, file, log)
    if rest:
        yield rest


def refuse_long_line(length: int, row: int, file: str, log: ProblemLog) -> None:
    if length > limits.MAX_LINE:
        advice = f"A line may have at most {limits.MAX_LINE:,} characters; check that the file has line breaks."
        log.error("LINE_TOO_LONG", file, row, "", advice)
        raise Unreadable


def read_whole(stream: BinaryIO, file: str, log: ProblemLog) -> str:
    """Return the whole text of a file that must be read at once."""
    return "".join(chunks(stream, file, log, limits.MAX_JSON_BYTES))


def storable(value: str, file: str, row: int | None, column: str, log: ProblemLog) -> bool:
    """Return whether the text has only characters that can be stored and shown; log any problems."""
    before = log.count
    if "\0" in value:
        log.error("NUL_CHARACTER", file, row, column, "Remove the NUL character (U+0000).")
    if SURROGATE.search(value):
        log.error("BAD_UNICODE", file, row, column, "This is half of a surrogate pair. Write the whole character.")
    if len(value) > limits.MAX_FIELD:
        log.error("FIELD_TOO_LONG", file, row, column, f"Use at most {limits.MAX_FIELD:,} characters.")
    return log.count == before
