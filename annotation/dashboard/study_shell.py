"""The template tag for the rail of a study's pages."""

from django import template

from annotation.dashboard.rail import rail

register = template.Library()


@register.inclusion_tag("components/_rail.html", takes_context=True)
def study_rail(context: template.Context) -> dict:
    """Return the places of the page's `study`; if the page has the study's `next` step, it is not computed again."""
    return rail(context["request"], context["study"], context.get("next"))
