"""Tags of a study's pages: its places, and what it needs next."""

from django import template

from annotation.dashboard import home_page
from annotation.dashboard.rail import rail

register = template.Library()


@register.inclusion_tag("components/_rail.html", takes_context=True)
def study_rail(context: template.Context) -> dict:
    """The places of the page's `study`; a page that has the study's `next` step has it computed once."""
    return rail(context["request"], context["study"], context.get("next"))


@register.inclusion_tag("dashboard/_next_step.html", takes_context=True)
def next_step(context: template.Context) -> dict:
    """The next step of the page's `study`, with its button."""
    return {"next": home_page.step_of(context["request"].user, context["study"])}
