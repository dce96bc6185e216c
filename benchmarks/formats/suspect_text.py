"""Text that looks like other text, or that was damaged before the import. Pure.

Nothing is corrected: a note points to the problem.
"""

import re
import unicodedata

LOST = "\ufffd"  # decoders' replacement for invalid bytes
# Letters drawn like Latin ones in most fonts: the part of Unicode's confusables.txt (UTS 39) likely in captions.
_LIKE_LATIN = {
    "АВЕКМНОРСТУХІЈЅԌԚԜ": "ABEKMHOPCTYXIJSGQW",  # Cyrillic
    "аеорсухіјѕԁһԛԝӏѵ": "aeopcyxijsdhqwlv",
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ": "ABEZHIKMNOPTYX",  # Greek
    "αγινορυ": "ayivopu",
    "ՍՕհյոսցօ": "UOhjnugo",  # Armenian
    "‘’‚‛ʼ′`´": "'" * 8,
    "“”„‟«»″": '"' * 7,
    "‐‑‒–—−": "-" * 6,
}
_FOLDED = {ord(one): like for drawn, latin in _LIKE_LATIN.items() for one, like in zip(drawn, latin, strict=True)}
# Scripts whose letters look alike; other scripts mix in ordinary words, as Latin and Han do in “T恤” (UTS 39, 5.2).
_SCRIPTS = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN"}

# Windows-1252 has printable characters where Latin-1 has controls: a character → the byte it was read from.
_BYTES = {ord(bytes([byte]).decode("cp1252", "ignore") or chr(byte)): byte for byte in range(0x80, 0xA0)}
_AFTER = "[\x80-\xbf]"  # continuation bytes of a UTF-8 character
# Characters that don't follow a letter in sound text: not the closing quotes, dashes, spaces of “CAFÉ”, »É«, é ».
_ODD = "[\x80-\x84\x86-\x90\x95\x98\x9a\x9c-\x9f\xa1-\xaa\xac-\xba\xbc-\xbf]"
_MISREAD = re.compile(
    f"\xc2{_AFTER}"  # Â°
    f"|(?<=[a-z])[\xc3-\xdf]{_AFTER}"  # voilÃ , with a capital inside a word
    f"|\xc3{_ODD}"  # Ã©
    f"|[\xc4-\xdf]{_ODD}(?=[a-z]|[\xc4-\xdf]{_AFTER})"  # Å¡koda, ÐºÐ¾Ñ‚; not NESCAFÉ®
    f"|[\xe0-\xef](?:{_ODD}{_AFTER}|[\x80-\x9f]{_ODD})"  # â€™, æ—¥
    f"|[\xf0-\xf4]{_AFTER}{{3}}"  # an emoji
)


def skeleton(text: str) -> str:
    """Return what the text looks like: equal for texts that readers cannot tell apart, but case-sensitive."""
    if not text.isascii():
        seen = unicodedata.normalize("NFD", text)  # the table is looked up without accents
        text = "".join(one for one in seen if unicodedata.category(one) != "Cf")
    return " ".join(text.translate(_FOLDED).split())


def mixed_word(text: str) -> tuple[str, list[str]] | None:
    """Return the first word mixing similar-looking scripts, and the scripts: `rеd` has a Cyrillic е."""
    for word in () if text.isascii() else re.findall(r"[^\W\d_]+", text):
        scripts = {unicodedata.name(one, "").partition(" ")[0] for one in word} & _SCRIPTS
        if len(scripts) > 1:
            return word, sorted(script.capitalize() for script in scripts)
    return None


def damaged(text: str) -> tuple[str, str] | None:
    """Return the first damaged part of the text and its original: “Ã©” is the UTF-8 of “é” read as Latin-1 or
    Windows-1252; for U+FFFD, whose original is unknown, it is "".
    """
    if text.isascii():
        return None
    if LOST in text:
        return LOST, ""
    found = _MISREAD.search(text.translate(_BYTES))  # one character for each, so positions stay the same
    return found and (text[found.start() : found.end()], found[0].encode("latin-1").decode("utf-8", "replace"))
