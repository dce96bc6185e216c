"""The parts of pages: heads, cards, and choices of what to show."""

from collections.abc import Iterable

from django import template
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from benchmarks.naming import kind_name
from benchmarks.tables import bdi

register = template.Library()
register.filter("bdi", bdi)


ACTIONS = "<!-- actions -->"  # separates a heading's text from its actions
ELEMENTS = {
    "css": ("css/", '<link rel="stylesheet" href="{}">'),
    "js": ("js/pages/", '<script type="module" src="{}"></script>'),
}

register.simple_tag(lambda: mark_safe(ACTIONS), name="actions")


@register.simple_block_tag
def heading(content: SafeString, title: str, name: str = "") -> SafeString:
    """`{% heading "Releases" %}What they are{% actions %}<a …>New release</a>{% endheading %}`"""
    about, actions = (part.strip() for part in content.partition(ACTIONS)[::2])
    return format_html(
        '<div class="head"><div><h1{}>{}</h1>{}</div>{}</div>',
        format_html(' id="{}"', name) if name else "",
        title,
        mark_safe(f'<p class="meta">{about}</p>' if about else ""),
        mark_safe(f'<div class="actions">{actions}</div>' if actions else ""),
    )


@register.simple_tag
def assets(*names: str) -> SafeString:
    """Load assets beyond those of every page: `{% assets "lists.css" "htmx" "copies.js" %}`, also from components."""
    return mark_safe("\n    ".join(map(_asset, names)))


def _asset(name: str) -> SafeString:
    kind = name.rpartition(".")[2]
    if kind not in ELEMENTS:
        return render_to_string(f"components/_{name}.html")
    folder, element = ELEMENTS[kind]
    return format_html(element, static(folder + name))


@register.simple_block_tag
def card(
    content: SafeString, name: str, title: str, note: str = "", css: str = "", id: str = "", folds: bool = False,
) -> SafeString:  # fmt: skip
    """`{% card "files-title" "Files" note="newest first" css="spaced" %}…{% endcard %}`, which its title names. One
    that `folds` can be closed on a phone.
    """
    head = format_html('<h2 id="{}">{}</h2>', name, title)
    if note:
        head = format_html('<div class="card-head">{}<span class="quiet">{}</span></div>', head, note)
    if folds:
        shows = format_html('<summary>Show<span class="visually-hidden"> {}</span></summary>', title)
        content = format_html('<details class="phone-fold" open>{}{}</details>', shows, content)
    place = format_html(' id="{}"', id) if id else ""
    classes = f"card {css}".strip()
    return format_html('<section{} class="{}" aria-labelledby="{}">{}{}</section>', place, classes, name, head, content)


@register.inclusion_tag("components/_select.html")
def select(
    name: str, label: str, *, options: Iterable = (), values: Iterable = (), kinds: Iterable[str] = (),
    chosen: object = None, none: str = "", form: str = "",
) -> dict[str, object]:  # fmt: skip
    """Return a choice among `options` (value and words), plain `values`, or types of items; `none`: the words for none;
    `form` is the id of a form elsewhere on the page.
    """
    options = options or [(one, kind_name(one)) for one in kinds]
    found = {"name": name, "label": label, "options": options, "values": values, "chosen": chosen, "none": none}
    return {**found, "form": form}
