"""An annotator's own leaving, and coming back."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotation import participants
from annotation.access import Desk
from annotation.views.judge import at_desk
from annotation.views.plain import page
from benchmarks import events


@require_http_methods(["GET", "POST"])
@at_desk
def leave(request: HttpRequest, here: Desk) -> HttpResponse:
    """Asked first, also without script."""
    gone = here.annotator.left_at or here.annotator.excluded_at
    if request.method == "GET" and not gone:
        return page("leave", here, study=here.stage.study, done=here.done)
    if not gone:
        participants.leave(annotator=here.annotator, by=events.named(here.annotator))
    return redirect("judge", here.annotator.token)


@require_POST
@at_desk
def come_back(request: HttpRequest, here: Desk) -> HttpResponse:
    participants.come_back(annotator=here.annotator, by=events.named(here.annotator))
    return redirect("judge", here.annotator.token)
