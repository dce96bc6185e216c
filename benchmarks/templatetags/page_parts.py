"""What pages are made of: their heads, cards, and choices of what they show."""

from collections.abc import Iterable

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from benchmarks.tables import bdi

register = template.Library()
register.filter("bdi", bdi)


class Heading(template.Node):
    """The title of a page, what it is about, and what can be done there."""

    def __init__(self, given: list[FilterExpression], about: NodeList, actions: NodeList):
        self.given, self.about, self.actions = given, about, actions

    def render(self, context: Context) -> SafeString:
        title, name = (*(part.resolve(context) for part in self.given), "")[:2]
        about, actions = self.about.render(context).strip(), self.actions.render(context).strip()
        return format_html(
            '<div class="head"><div><h1{}>{}</h1>{}</div>{}</div>',
            format_html(' id="{}"', name) if name else "",
            title,
            mark_safe(f'<p class="meta">{about}</p>' if about else ""),
            mark_safe(f'<div class="actions">{actions}</div>' if actions else ""),
        )


@register.tag
def heading(parser: Parser, token: Token) -> Heading:
    """`{% heading "Releases" %}What they are{% actions %}<a …>New release</a>{% endheading %}`

    The title perhaps with an id; the line below it and what can be done may lack.
    """
    given = [parser.compile_filter(part) for part in token.split_contents()[1:]]
    about, actions = parser.parse(("actions", "endheading")), NodeList()
    if parser.next_token().contents == "actions":
        actions = parser.parse(("endheading",))
        parser.delete_first_token()
    return Heading(given, about, actions)


@register.simple_block_tag
def card(content: SafeString, name: str, title: str, note: str = "", css: str = "", id: str = "") -> SafeString:
    """`{% card "files-title" "Files" note="newest first" css="spaced" %}…{% endcard %}`, which its title names."""
    head = format_html('<h2 id="{}">{}</h2>', name, title)
    if note:
        head = format_html('<div class="card-head">{}<span class="quiet">{}</span></div>', head, note)
    place = format_html(' id="{}"', id) if id else ""
    classes = f"card {css}".strip()
    return format_html('<section{} class="{}" aria-labelledby="{}">{}{}</section>', place, classes, name, head, content)


@register.inclusion_tag("components/_select.html")
def select(
    name: str, label: str, *, options: Iterable = (), values: Iterable = (), chosen: object = None, none: str = ""
) -> dict[str, object]:
    """A choice among `options` (value and words) or plain `values`; `none`: the words for none of them."""
    return {"name": name, "label": label, "options": options, "values": values, "chosen": chosen, "none": none}
