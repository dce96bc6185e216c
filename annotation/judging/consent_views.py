"""Consent of somebody who has a link of their own already: asked for before their first screen."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotation.judging.views import at_desk
from annotation.participants import lifecycle as participant_lifecycle
from annotation.permissions import Desk
from benchmarks import audit


@require_POST
@at_desk
def consent(request: HttpRequest, here: Desk) -> HttpResponse:
    """Who does not agree leaves; their link lets them think again."""
    verbs = {"yes": participant_lifecycle.agree, "no": participant_lifecycle.leave}
    verb = verbs.get(request.POST.get("consent", ""))
    if verb is not None:
        verb(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)
