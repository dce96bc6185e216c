"""Pages as text and as structure, their forms, and the walk from link to link."""

import re
from collections import Counter, deque
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

VOID = {"input", "img", "link", "meta", "br", "hr", "source", "wbr", "col"}
INLINE = {"a", "abbr", "b", "bdi", "code", "data", "em", "i", "kbd", "mark", "q", "s", "small", "span", "strong"}
INLINE |= {"sub", "sup", "time", "tspan", "u", "var"}
MOST = 4  # pages of one kind in a study: of one path with the same names in the query
STATE = {"seen"}  # names in a query that say what a page knows already
PASSING = {*STATE, "csrfmiddlewaretoken"}  # fields whose values no two runs share
NEVER = re.compile(r"/(logout|join|judge|static|i|t)/|.*/try/")  # a rehearsal (try) draws a seed of its own each time


class Page(HTMLParser):
    """`text`: what is read, a line for each block. `structure`: a line for each element with its attributes."""

    def __init__(self, url: str, html: str):
        super().__init__()
        self.url, self.depth = url, 0
        self.text, self.structure, self.links = [], [], []
        self.forms: list[tuple[str, dict[str, str]]] = []  # where a form is sent, and the values of its fields
        self.line, self.silent = "", ""
        self.feed(html)
        self.close()
        self._end_line()

    def handle_starttag(self, tag: str, attributes: list) -> None:
        given = {name: " ".join((value or "").split()) for name, value in attributes}
        self._field(tag, given)
        if given.get("name") in PASSING:
            given["value"] = f"<{given['name']}>"
        told = "".join(f' {name}="{given[name]}"' for name in sorted(given))
        self.structure.append(f"{'  ' * self.depth}<{tag}{told}>")
        self.depth += tag not in VOID
        if tag not in INLINE:
            self._end_line()
        if tag in ("script", "style"):
            self.silent = tag
        self._link(tag, given)

    def _link(self, tag: str, given: dict[str, str]) -> None:
        found = [given["href"]] if tag == "a" and "href" in given else []
        found += [given["hx-get"]] if "hx-get" in given else []
        self.links += [urljoin(self.url, one).partition("#")[0] for one in found]

    def _field(self, tag: str, given: dict[str, str]) -> None:
        name = given.get("name", "")
        if tag == "form":
            self.forms.append((urljoin(self.url, given.get("action", "")), {}))
        elif self.forms and name and (tag == "textarea" or (tag == "input" and given.get("type") != "radio")):
            self.forms[-1][1][name] = given.get("value", "")
        elif self.forms and name and tag == "input":
            self.forms[-1][1].setdefault(name, given.get("value", ""))

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag not in VOID
        self.silent = "" if tag == self.silent else self.silent
        if tag not in INLINE:
            self._end_line()

    def handle_data(self, data: str) -> None:
        if self.silent:
            self.structure += [f"{'  ' * self.depth}{line}" for line in data.split("\n") if line.strip()]
        else:
            self.line += data

    def _end_line(self) -> None:
        if line := " ".join(self.line.split()):
            self.text.append(line)
        self.line = ""

    def form(self, *names: str) -> tuple[str, dict[str, str]]:
        """The form with fields of these names. StopIteration where there is none."""
        return next(form for form in self.forms if set(names) <= set(form[1]))


def walk(client, start: list[str], record: Callable[[str, object], None]) -> int:
    """GET every page that links lead to from `start`, and hand each answer to `record`; MOST of a kind at most.
    Returns how many there were.
    """
    waiting, seen, kinds = deque(start), set(start), Counter()
    count = 0
    while waiting:
        url = waiting.popleft()
        answer = client.get(url, follow=True)
        record(url, answer)
        count += 1
        if not answer.get("Content-Type", "").startswith("text/html"):
            continue
        for link in Page(url, answer.content.decode()).links:
            parts = urlsplit(link)
            query = urlencode([(name, value) for name, value in parse_qsl(parts.query, True) if name not in STATE])
            address = parts.path + (f"?{query}" if query else "")
            if address in seen or parts.netloc or NEVER.match(parts.path) or parts.scheme:
                continue
            seen.add(address)
            kinds[_kind(parts)] += 1
            if kinds[_kind(parts)] <= MOST:
                waiting.append(address)
    return count


def _kind(parts) -> tuple:
    """The path without its numbers but the study's own, the names in the query, and the stage where one is named."""
    _, first, own, *rest = [*parts.path.split("/"), "", ""]
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    path = "/".join(re.sub(r"\d+", "N", part) for part in rest)
    return first, own if first == "studies" else "N", path, tuple(sorted(query)), query.get("stage", "")


def file_name(url: str) -> str:
    """A name of a file for an address."""
    parts = urlsplit(url)
    query = urlencode(parse_qsl(parts.query, keep_blank_values=True)) if parts.query else ""
    name = parts.path.strip("/").replace("/", ".") + (f"@{query}" if query else "")
    return re.sub(r"[^\w.@=&,-]", "_", name)[:150] or "home"
