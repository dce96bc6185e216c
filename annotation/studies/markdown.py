"""Render instructions and consent, which managers write in Markdown, as safe HTML.

HTML in the text stays text. Links lead to the web or an e-mail address. An image must be uploaded to the stage first;
the text gives its name and a description: `![a hand with six fingers](six-fingers)`.
"""

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from annotation.markdown import PageRenderer, markdown

WEB = ("https://", "http://", "mailto:")
BLOCKS = ("paragraph", "heading", "bullet_list", "ordered_list", "blockquote", "table")  # each has its own direction
EXAMPLES = ("blockquote", "tr")  # parts of the material, which browsers must not translate
KEPT = 512  # rendered texts
LONGEST = 20_000  # characters, as in a protocol file; markdown-it can take quadratic time
UNKNOWN = "No uploaded image is named “{name}”. Upload it under “Images”, or use the name of an image already there."


class Picture(NamedTuple):
    """An uploaded image as it is served."""

    name: str
    url: str
    width: int
    height: int


class _Renderer(PageRenderer):
    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        alt = self.renderInlineAsText(tokens[idx].children, options, env)
        found = env["pictures"].get(tokens[idx].attrs["src"])
        if found is None:
            return escapeHtml(alt)
        size = (found.width, found.height)
        return format_html('<img src="{}" alt="{}" width="{}" height="{}">', found.url, alt, *size)

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        """Open links in a new tab, so that nobody loses their screen."""
        address = str(tokens[idx].attrs["href"])
        attributes = f' href="{escapeHtml(address)}" target="_blank" rel="noopener noreferrer"'
        return f"<a{attributes if _leads_to_the_web(address) else ''}>"

    def table_open(self, *_: object) -> str:
        """Render the table without a label, which would be in English."""
        return '<div class="scroll" tabindex="0"><table dir="auto">\n'


def _leads_to_the_web(address: str) -> bool:
    return address.lower().startswith(WEB)


_MARKDOWN = markdown(_Renderer)
# An indented line stays an ordinary line, for example, so plain text reads as it was written.
_MARKDOWN.disable(["code", "lheading", "reference"])
_MARKDOWN.validateLink = lambda url: True  # type: ignore[method-assign]  # the renderer decides, and `problems` reports


def to_html(text: str, pictures: Iterable[Picture] = (), level: int = 2) -> SafeString:
    """Return a text as HTML. `level` is the level of its highest headings; an image not among `pictures` is replaced by
    its description.
    """
    return _rendered(text, tuple(pictures), level)


@lru_cache(maxsize=KEPT)
def _rendered(text: str, pictures: tuple[Picture, ...], level: int) -> SafeString:
    env: MutableMapping = {"pictures": {picture.name: picture for picture in pictures}}
    tokens = _MARKDOWN.parse(text, env)
    for token in tokens:
        kind, _, end = token.type.rpartition("_")
        if kind == "heading":
            token.tag = f"h{min(6, level - 1 + int(token.tag[1:]))}"
        if kind in BLOCKS and end == "open":
            token.attrSet("dir", "auto")
        if kind in EXAMPLES and end == "open":
            token.attrSet("translate", "no")
    return mark_safe(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, env))  # our renderer escapes everything


def has_images(text: str) -> bool:
    """Return whether the text may have an image, without parsing it."""
    return "![" in text


def problems(text: str, names: Iterable[str], unknown: str = UNKNOWN) -> list[str]:
    """List what is wrong with the text's length, images and links, a sentence each. `names` are the uploaded images;
    `unknown` is the sentence for any other `name`.
    """
    if len(text) > LONGEST:
        return [f"Shorten this text to {LONGEST:,} characters; it has {len(text):,}."]
    found: Mapping[str, None] = dict.fromkeys(_problems(text, set(names), unknown))
    return list(found)


def _problems(text: str, names: set[str], unknown: str) -> Iterator[str]:
    env: MutableMapping = {}
    inline = [token for token in _MARKDOWN.parse(text, env) if token.children]
    for token in (child for parent in inline for child in parent.children or ()):
        if token.type == "image":
            name = str(token.attrs["src"])
            if name not in names:
                yield unknown.format(name=name)
            elif not token.content.strip():
                yield f"Describe the image “{name}” for people who cannot see it: ![description]({name})"
        elif token.type == "link_open" and not _leads_to_the_web(str(token.attrs["href"])):
            yield f"The link “{token.attrs['href']}” does not work here. Start it with https:// or mailto:"
