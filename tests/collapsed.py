"""HTML without the whitespace that no browser shows, so that a test of what a page says needs not know how its template
is broken into lines (CSS Text 3, §4.1.1)."""

import functools
import re

_BLOCKS = (
    "html|head|body|title|meta|link|main|header|footer|nav|section|article|aside|div|form|fieldset|legend"
    "|label|h1|h2|h3|h4|h5|h6|p|ul|ol|li|dl|dt|dd|figure|figcaption|blockquote|details|summary|dialog|template"
    "|noscript|table|caption|thead|tbody|tfoot|tr|th|td|select|option|textarea|pre|script|style|svg|rect|line"
    "|text|circle|hr|br"
)
_TAG = re.compile(r"<(?:\"[^\"]*\"|'[^']*'|[^'\">])*>")
_KEPT = re.compile(r"(<(pre|textarea|script|style)\b.*?</\2>)", re.DOTALL)
_EDGE = rf"<[/!]?(?:doctype|{_BLOCKS})\b(?:\"[^\"]*\"|'[^']*'|[^'\">])*>"
_INSIDE_TAG = re.compile(r"""("[^"]*"|'[^']*')|\s+""")
_BEFORE = re.compile(rf" +(?={_EDGE})")
_AFTER = re.compile(rf"({_EDGE}) +")
_OPENED = re.compile(rf"( |{_EDGE})(<(?!/)(?:\"[^\"]*\"|'[^']*'|[^'\">])*>) +")
_CLOSED = re.compile(rf" +(</\w+>)(?= |{_EDGE}|$)")
_BUTTON = re.compile(r"(<button\b(?:\"[^\"]*\"|[^\">])*>) +| +(?=</button>)")


@functools.lru_cache(20_000)
def _tag(tag: str) -> str:
    return _INSIDE_TAG.sub(lambda part: part[1] or ("" if tag[part.end() :] in (">", "/>") else " "), tag)


def _part(html: str) -> str:
    html = re.sub(r"\s+", " ", _TAG.sub(lambda match: _tag(match[0]), html))
    before = None
    while html != before:
        before = html
        html = _CLOSED.sub(r"\1", _OPENED.sub(r"\1\2", html))
        html = _AFTER.sub(r"\1", _BEFORE.sub("", html))
    return _BUTTON.sub(r"\1", html)


def collapsed(html: str) -> str:
    """`html` with runs of whitespace as one space, and none at the edges of blocks; pre and textarea as they are."""
    parts = _KEPT.split(html)
    return "".join(part if at % 3 == 1 else _part(part) for at, part in enumerate(parts) if at % 3 != 2).strip()
