"""The tag with which pages of a study show its places."""

from django import template

from annotation.dashboard.rail import rail

register = template.Library()


@register.inclusion_tag("components/_rail.html", takes_context=True)
def study_rail(context: template.Context) -> dict:
    """The places of the page's `study`; a page that has the study's `next` step has it computed once."""
    return rail(context["request"], context["study"], context.get("next"))
