"""File names in archives and columns: which are safe, and which are equivalent."""

import re
import unicodedata

SYSTEM = {".ds_store", "thumbs.db", "desktop.ini", "__macosx", ".spotlight-v100", ".trashes", ".fseventsd"}


def unsafe(name: str) -> str:
    """Return why this name may not be used, as advice; empty for a safe relative name."""
    if "\\" in name:
        return "Use / between folders, not \\, and use a name relative to the images folder."
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "Use a name relative to the images folder, without a leading / or a drive letter."
    if ".." in name.split("/"):
        return "Remove .. from the name: the file must be in the images folder."
    if any(unicodedata.category(character) == "Cc" for character in name):
        return "Remove the control characters from the name."
    if any(unicodedata.category(character) == "Cs" for character in name):
        return "Save the name in UTF-8."
    return "" if normal(name) else "Give the file a name."


def normal(name: str) -> str:
    """Return the name in Unicode form NFC, without `.` and empty parts: `./é.jpg` is `é.jpg` in any form of é."""
    parts = unicodedata.normalize("NFC", name).split("/")
    return "/".join(part for part in parts if part not in ("", "."))


def clash_key(name: str) -> str:
    """Return a key, equal for names that some file system treats as one: ignores case, trailing dots and spaces."""
    parts = normal(name).casefold().split("/")
    return unicodedata.normalize("NFC", "/".join(part.rstrip(". ") for part in parts))


def is_system_file(name: str) -> bool:
    """Return whether an operating system left this file: `.DS_Store`, `__MACOSX/…`, `._photo.jpg`, `Thumbs.db`."""
    parts = name.lower().split("/")
    return any(part in SYSTEM for part in parts) or parts[-1].startswith("._")


def printable(text: str, most: int = 300) -> str:
    """Return the text in a form that can be stored and shown: without NUL or lone surrogates, of limited length."""
    return text[:most].encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
