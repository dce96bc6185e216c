"""Markdown as HTML for our pages: what release cards, instructions and guides render alike. Pure."""

from collections.abc import MutableMapping, Sequence

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict


class PageRenderer(RendererHTML):
    """Each method is the rule for a kind of token; markdown-it finds them by name."""

    table = "<table>"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f'<pre tabindex="0"><code>{escapeHtml(tokens[idx].content)}</code></pre>\n'

    def table_open(self, *_: object) -> str:
        return f'<div class="scroll" tabindex="0" role="group" aria-label="Table">\n{self.table}\n'

    def table_close(self, *_: object) -> str:
        return "</table>\n</div>\n"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f'<th scope="col"{_number(tokens[idx])}>' if tokens[idx + 1].content else "<td>"

    def th_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return "</th>\n" if tokens[idx - 1].content else "</td>\n"

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: MutableMapping) -> str:
        return f"<td{_number(tokens[idx])}>"


def _number(token: Token) -> str:
    """Return a class that aligns a column of numbers, since the content security policy forbids styles."""
    return ' class="number"' if token.attrs.get("style") == "text-align:right" else ""


def markdown(renderer: type[PageRenderer]) -> MarkdownIt:
    """Return a parser with tables whose renderer shows raw HTML as text."""
    return MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}, renderer_cls=renderer).enable("table")
