"""Links to the documentation inside the app."""

from django import template
from django.urls import reverse

from config.help import START, guide_for

register = template.Library()


@register.simple_tag(takes_context=True)
def guide_url(context: template.Context) -> str:
    """Return the address of the documentation's page about the current page."""
    request = context.get("request")
    match = request.resolver_match if request else None
    page = guide_for((match and match.url_name) or "")
    return reverse("help") if page == START else reverse("help-page", args=[page])
