"""Consent of somebody who has a link of their own already: asked for before their first screen."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotation import participants
from annotation.access import Desk
from annotation.views.judge import at_desk
from benchmarks import events


@require_POST
@at_desk
def consent(request: HttpRequest, here: Desk) -> HttpResponse:
    """Who does not agree leaves; their link lets them think again."""
    verbs = {"yes": participants.agree, "no": participants.leave}
    verb = verbs.get(request.POST.get("consent", ""))
    if verb is not None:
        verb(annotator=here.annotator, by=events.named(here.annotator))
    return redirect("judge", here.annotator.token)
