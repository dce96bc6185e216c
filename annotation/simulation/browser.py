"""A headless browser that opens pages, reads their forms and submits them. Standard library only.

Simulated annotators use it, so they get the same addresses, forms and responses as people without JavaScript.
"""

import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode, urljoin, urlsplit

TRIES = 3
REDIRECTS = {301, 302, 303, 307, 308}


class Unreachable(Exception):
    """No server responds at that address."""


@dataclass
class Form:
    """`values` are its hidden inputs' values."""

    action: str
    values: dict[str, str] = field(default_factory=dict)
    others: list[str] = field(default_factory=list)  # other addresses that its buttons send it to


@dataclass
class Page:
    url: str
    status: int
    forms: list[Form]
    state: str  # `data-state` of the page's article: waiting, done …; empty if it has none
    html: str = ""

    def form(self, name: str) -> Form | None:
        """Return the form that has a hidden input with that name."""
        return next((form for form in self.forms if name in form.values), None)


class FormReader(HTMLParser):
    def __init__(self, url: str):
        super().__init__()
        self.url = url
        self.forms: list[Form] = []
        self.state = ""
        self.inside = False

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        if tag == "article":
            self.state = given.get("data-state", "")
        elif tag == "form":
            self.inside = True
            self.forms.append(Form(urljoin(self.url, given.get("action", ""))))
        elif self.inside and tag == "input" and given.get("type") == "hidden":
            self.forms[-1].values[given["name"]] = given.get("value", "")
        elif self.inside and tag == "button" and "formaction" in given:
            self.forms[-1].others.append(urljoin(self.url, given["formaction"]))

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "form"


class Visitor:
    """One persistent connection, like one person's browser. Threads must not share it at the same time."""

    def __init__(self, base: str, timeout: float = 30):
        parts = urlsplit(base)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.base = base
        self.connection = kind(parts.netloc, timeout=timeout)

    def open(self, path: str) -> Page:
        return self._follow("GET", urljoin(self.base, path), None)

    def send(self, url: str, values: Mapping[str, object]) -> Page:
        """POST a form, again after a lost connection; a submission's key makes that safe."""
        return self._follow("POST", url, urlencode(values))

    def _follow(self, method: str, url: str, body: str | None) -> Page:
        while True:
            status, location, text = self._ask(method, url, body)
            if status not in REDIRECTS:
                break
            method, url, body = "GET", urljoin(url, location), None
        reader = FormReader(url)
        reader.feed(text)
        return Page(url, status, reader.forms, reader.state, text)

    def _ask(self, method: str, url: str, body: str | None) -> tuple[int, str, str]:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
        for attempt in range(TRIES):
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                return answer.status, answer.getheader("Location", ""), answer.read().decode()
            except (http.client.HTTPException, OSError) as error:
                self.connection.close()
                if attempt == TRIES - 1:
                    raise Unreachable(f"No server responds at {self.base} ({error}).") from error
        raise AssertionError("unreachable")

    def close(self) -> None:
        self.connection.close()
