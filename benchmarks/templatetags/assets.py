"""What a page loads besides what all do, in its head: `{% assets "lists.css" "htmx" "copies.js" %}`."""

from django import template
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

ELEMENTS = {
    "css": ("css/", '<link rel="stylesheet" href="{}">'),
    "js": ("js/pages/", '<script type="module" src="{}"></script>'),
}


@register.simple_tag
def assets(*names: str) -> SafeString:
    """Stylesheets, scripts of pages, and what components list, such as `htmx`."""
    return mark_safe("\n    ".join(_element(name) for name in names))


def _element(name: str) -> SafeString:
    kind = name.rpartition(".")[2]
    if kind not in ELEMENTS:
        return render_to_string(f"components/_{name}.html")
    folder, element = ELEMENTS[kind]
    return format_html(element, static(folder + name))
