"""The numbers of a page: where each stands, how it is written, and with which digits. For tests that hold pages against
figures that were computed elsewhere.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"input", "img", "link", "meta", "br", "hr"}
SILENT = {"script", "style", "select", "time", "code", "bdi"}  # dates, names, what people wrote: no figures
# A number by itself: not of a name (i2t, A-01, item-3), of a date or of a version.
DIGITS = r"[−-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
NUMBER = re.compile(rf"(?<![\w.,/#-]){DIGITS}(?:\s?%|(?![\w-]))")
SCALES = (1, 100, 1 / 60)  # as it is, in percent, minutes in hours


@dataclass
class Node:
    tag: str
    attributes: dict[str, str | None]
    above: "Node | None" = field(default=None, repr=False)
    inside: list = field(default_factory=list, repr=False)

    @property
    def text(self) -> str:
        return "".join(one if isinstance(one, str) else one.text for one in self.inside)

    def up(self) -> Iterator["Node"]:
        node = self
        while node is not None:
            yield node
            node = node.above


class Tree(HTMLParser):
    def __init__(self, page: str):
        super().__init__()
        self.at = self.root = Node("", {})
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list) -> None:
        node = Node(tag, dict(attributes), self.at)
        self.at.inside.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.at.inside.append(Node(tag, dict(attributes), self.at))

    def handle_endtag(self, tag: str) -> None:
        self.at = next((node.above for node in self.at.up() if node.tag == tag), self.at)

    def handle_data(self, text: str) -> None:
        self.at.inside.append(text)


@dataclass(frozen=True)
class Seen:
    """A number as it is written; `exact` has its digits where the page carries them. `part` names the section or the
    live part of the page, `row` the head of the table's row.
    """

    part: str
    row: str
    words: str  # the text that it stands in
    shown: str
    exact: float | None

    def is_one_of(self, known: Iterable[float]) -> bool:
        """To 1e-9 where there are digits, which are then rounded right; else as far as it is written."""
        if self.exact is None:
            return any(self.rounds(value) for value in known)
        near = [value for value in known if abs(value - self.exact) <= 1e-9 * max(1, abs(value))]
        return bool(near) and self.rounds(self.exact)

    def rounds(self, value: float) -> bool:
        """Whether it is the value as it is written here; a whole number without a sign is a count."""
        text = self.shown.rstrip(" %").replace(",", "").replace("−", "-")
        number, places, percent = float(text), len(text.partition(".")[2]), self.shown.endswith("%")
        if self.words.startswith(("<", "under ")):
            return value < number
        if not (places or percent or self.exact is not None):
            return value == number
        scales = (100,) if percent else SCALES
        return any(abs(value * scale - number) <= 0.5 * 10**-places * (1 + 1e-9) for scale in scales)


def numbers(page: str) -> Iterator[Seen]:
    """Of the page's main content, in its order."""
    main = find(Tree(page).root, "main")
    yield from _within(main, "", "")


def find(node: Node, tag: str) -> Node | None:
    if node.tag == tag:
        return node
    return next((found for one in node.inside if isinstance(one, Node) and (found := find(one, tag))), None)


def _within(node: Node, part: str, row: str) -> Iterator[Seen]:
    if node.tag in SILENT or "dot-axis" in (node.attributes.get("class") or ""):
        return
    part = part_of(node) or part
    row = head_of(node) if node.tag == "tr" else row
    exact = digits(node)
    if exact is not None:
        yield from (Seen(part, row, node.text, shown, exact) for shown in NUMBER.findall(node.text)[:1])
        return
    for one in node.inside:
        if isinstance(one, Node):
            yield from _within(one, part, row)
        else:
            yield from (Seen(part, row, said(node), shown, None) for shown in NUMBER.findall(one))
    for shown in NUMBER.findall(node.attributes.get("title") or ""):
        yield Seen(part, row, node.attributes["title"], shown, None)


def said(node: Node) -> str:
    return " ".join(node.text.split())


def part_of(node: Node) -> str:
    if node.tag in ("section", "figure"):
        return node.attributes.get("aria-labelledby") or node.attributes.get("id") or ""
    name = node.attributes.get("id") or ""
    return name if name.startswith("live-") else ""


def head_of(row: Node) -> str:
    head = next((one for one in row.inside if isinstance(one, Node) and one.tag == "th"), None)
    return said(head) if head is not None and head.attributes.get("scope") == "row" else ""


def digits(node: Node) -> float | None:
    told = node.attributes.get("value" if node.tag == "data" else "data-value")
    try:
        return float(told) if told else None
    except ValueError:
        return None


# What is known


def every(*trees: object) -> set[float]:
    """All numbers in these trees of dictionaries and lists."""
    found: set[float] = set()
    for tree in trees:
        if isinstance(tree, bool) or tree is None or isinstance(tree, str):
            continue
        if isinstance(tree, int | float):
            found.add(float(tree))
        else:
            found |= every(*(tree.values() if isinstance(tree, Mapping) else tree))
    return found
