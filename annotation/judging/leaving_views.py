"""An annotator's own leaving, and coming back."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotation.judging.responses import page
from annotation.judging.views import at_desk
from annotation.participants import lifecycle as participant_lifecycle
from annotation.permissions import Desk
from benchmarks import audit


@require_http_methods(["GET", "POST"])
@at_desk
def leave(request: HttpRequest, here: Desk) -> HttpResponse:
    """Asked first, also without script."""
    gone = here.annotator.left_at or here.annotator.excluded_at
    if request.method == "GET" and not gone:
        return page("leave", here, study=here.stage.study, done=here.done)
    if not gone:
        participant_lifecycle.leave(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)


@require_POST
@at_desk
def come_back(request: HttpRequest, here: Desk) -> HttpResponse:
    participant_lifecycle.come_back(annotator=here.annotator, by=audit.named(here.annotator))
    return redirect("judge", here.annotator.token)
