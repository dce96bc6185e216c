"""The dataset card of a release as HTML for a page. Pure."""

from collections.abc import MutableMapping, Sequence

from markdown_it.common.utils import escapeHtml
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from annotation.markdown import PageRenderer, markdown


class _CardRenderer(PageRenderer):
    table = '<table class="figures">'

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        """Put the card's headings below those of the page."""
        return '<h3 class="top">' if tokens[idx].tag == "h1" else "<h4>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return "</h3>\n" if tokens[idx].tag == "h1" else "</h4>\n"

    def strong_open(self, *_: object) -> str:
        return "<b>"

    def strong_close(self, *_: object) -> str:
        return "</b>"

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f'<a href="{escapeHtml(str(tokens[idx].attrs["href"]))}" rel="nofollow noreferrer">'


_MARKDOWN = markdown(_CardRenderer).disable("image")


def card_html(card: str) -> str:
    """Return README.md as safe HTML, without the YAML at its head: raw HTML and images stay text."""
    return _MARKDOWN.render(card.partition("\n---\n")[2])
