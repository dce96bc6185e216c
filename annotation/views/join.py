"""Joining a study by an invitation: the study's own link, or that of one stage."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from annotation import studies, turns
from annotation.access import invited
from annotation.models import Study, StudyState
from annotation.protocols.registry import PROTOCOLS
from annotation.views.plain import page, private, text

PROLIFIC = {"PROLIFIC_PID": "prolific_pid", "STUDY_ID": "prolific_study", "SESSION_ID": "prolific_session"}


@csrf_exempt
@private
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, invite: str) -> HttpResponse:
    study, stage = invited(invite)
    known = _known(study, text(request.GET, "PROLIFIC_PID"))
    if known:
        return redirect("judge", known.token)
    if study.state != StudyState.OPEN:
        return page("stopped", study=study)
    if request.method == "POST":
        who = {name: text(request.POST, field)[:64] for field, name in PROLIFIC.items()}
        name = text(request.POST, "name")[:120]
        return redirect("judge", studies.join(study=study, stage=stage, by="invite", name=name, **who).token)
    stage = stage or study.stages.get(position=1)
    given = {field: text(request.GET, field)[:64] for field in PROLIFIC if field in request.GET}
    context = {"stage": stage, "protocol": PROTOCOLS[stage.protocol], "total": turns.total(None, stage), "given": given}
    return page("join", study=study, **context)


def _known(study: Study, prolific_pid: str):
    return study.annotators.filter(prolific_pid=prolific_pid[:64]).first() if prolific_pid else None
