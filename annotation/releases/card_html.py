"""The dataset card of a release as HTML of a page. Pure."""

from collections.abc import MutableMapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict


class _CardRenderer(RendererHTML):
    """Renders tags as the pages have them: each method is the rule of a kind of token, as markdown-it finds them."""

    def heading_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        """Below the headings of the page."""
        return '<h3 class="top">' if tokens[idx].tag == "h1" else "<h4>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return "</h3>\n" if tokens[idx].tag == "h1" else "</h4>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f'<pre tabindex="0"><code>{escapeHtml(tokens[idx].content)}</code></pre>\n'

    def table_open(self, *_: object) -> str:
        return '<div class="scroll" tabindex="0" role="group" aria-label="Table">\n<table class="figures">\n'

    def table_close(self, *_: object) -> str:
        return "</table>\n</div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f'<th scope="col"{_number(tokens[idx])}>' if tokens[idx + 1].content else "<td>"

    def th_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return "</th>\n" if tokens[idx - 1].content else "</td>\n"

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f"<td{_number(tokens[idx])}>"

    def strong_open(self, *_: object) -> str:
        return "<b>"

    def strong_close(self, *_: object) -> str:
        return "</b>"

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f'<a href="{escapeHtml(str(tokens[idx].attrs["href"]))}" rel="nofollow noreferrer">'


def _number(token: Token) -> str:
    return ' class="number"' if token.attrs.get("style") == "text-align:right" else ""


_MARKDOWN = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}, renderer_cls=_CardRenderer)
_MARKDOWN.enable("table").disable("image")


def card_html(card: str) -> str:
    """Safe HTML of README.md, without the YAML at its head: raw HTML and images stay text."""
    return _MARKDOWN.render(card.partition("\n---\n")[2])
