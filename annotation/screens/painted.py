"""Check whether a browser can paint a screen, by what the judging page's scripts rely on in its HTML.

The trial of a protocol file and the simulated crowd have no browser; this finds what an annotator could not see or
answer. tests/browser checks that a screen that passes is painted.
"""

import json
from html.parser import HTMLParser

_SEEN = frozenset(("caption", "text", "says", "token", "candidate"))  # classes of elements that hold the item's words
_FIELDS = frozenset(("input", "select", "textarea"))
_VOID = frozenset(("br", "hr", "img", "input", "link", "meta", "source", "wbr"))


def unpainted(html: str) -> str:
    """Return what keeps a browser from showing a page's or fragment's screen, to complete a sentence; "" if nothing."""
    found = _Screen()
    found.feed(html)
    if not found.lease:
        return "has no screen"
    if not found.heading:
        return "has no heading"
    if found.empty_frames:
        return "has a frame without a picture"
    if not found.shows:
        return "shows nothing of its item"
    if not found.fields:
        return "asks nothing"
    if unknown := found.awaited - found.asked:
        return f"waits for {min(unknown)}, which is not there"
    return ""


class _Screen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.depth = self.hidden = self.frame = 0  # depths of the open element, and where these begin; 0: outside
        self.lease = self.heading = self.shows = False
        self.fields = self.empty_frames = self.pictures = 0
        self.asked: set[str] = set()
        self.awaited: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        classes = set(given.get("class", "").split())
        self.depth += tag not in _VOID
        if tag == "fieldset" and "screen" in classes:
            self.lease = "data-lease" in given
        if not self.lease:
            return
        if tag == "fieldset" and "hidden" in given:
            self.hidden = self.depth
        if "cards" in classes:
            self.frame, self.pictures = self.depth, 0
        self.heading |= tag == "h1"
        self.pictures += tag == "img"
        self.shows |= tag == "img" or bool(classes & _SEEN)
        self.fields += tag in _FIELDS and not self.hidden and given.get("name", "lease") != "lease"
        if "data-name" in given:
            self.asked.add(given["data-name"])
        for listed in json.loads(given.get("data-when") or "{}").values():
            self.awaited |= {address.partition(".")[0] for address in listed}

    def handle_endtag(self, tag: str) -> None:
        if self.depth == self.hidden:
            self.hidden = 0
        if self.depth == self.frame:
            self.empty_frames += not self.pictures
            self.frame = 0
        self.depth -= tag not in _VOID
