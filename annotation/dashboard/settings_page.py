"""The page of a study's settings: what can change, why the rest cannot, and the ways to its other settings."""

from collections.abc import Sequence

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.designs import part
from annotation.exports.readme import describe
from annotation.models import Instructions, Kind, Outcome, Role, Stage, Study, Task
from annotation.protocols.decision_rule import ADJUDICATOR
from annotation.protocols.registry import protocol_named
from annotation.studies import deletion, members
from annotation.studies.settings_form import StudySettingsForm
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.seen import latest
from benchmarks.transactions import retry_deadlocks

LANGUAGES = dict(settings.LANGUAGES)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_settings(request: StaffRequest, pk: int) -> HttpResponse:
    study = permissions.study_for(request.user, pk, Role.MANAGER)
    form = _form(request, study)
    if form.is_bound and not form.errors:
        changed = form.changed_labels()
        messages.success(request, f"Saved: {', '.join(changed)}." if changed else "Nothing was changed.")
        return redirect("study-settings", pk)
    context = {"section": "studies", "study": study, "form": form, **_contents(study, form)}
    context["copy"] = reverse("study-new", query={"copy": study.pk, "benchmark": study.benchmark_id})
    return render(request, "studies/settings.html", context, status=422 if form.errors else 200)


@retry_deadlocks
def _form(request: StaffRequest, study: Study) -> StudySettingsForm:
    """The form, saved if the request sends one that is valid."""
    with latest(study, request):
        form = StudySettingsForm(request.POST or None, study=study, stages=stages_of(study))
        if form.is_valid() and not form.save(audit.named(request.user)):
            transaction.set_rollback(True)
    return form


def stages_of(study: Study) -> list[Stage]:
    stages = list(study.stages.order_by("position"))
    for stage in stages:
        stage.study = study
    return stages


def _contents(study: Study, form: StudySettingsForm) -> dict:
    newest = Instructions.objects.filter(stage__study=study).order_by("stage_id", "-version").distinct("stage_id")
    texts = {one.stage_id: one for one in newest}
    known = Task.objects.filter(stage__study=study, kind__in=[Kind.CHECK, Kind.PRACTICE], live=True)
    kinds = list(known.values_list("stage", "kind"))
    return {
        "not_done": "The settings were not saved",
        "part": part.in_short(study.part, study.benchmark.items.count()) or "all items",
        "stages": [
            {
                "stage": stage, "fields": form.of_stage(stage), "instructions": texts[stage.pk],
                "languages": _languages(study, texts[stage.pk]), "protocol": protocol_named(stage.protocol),
                "rule": describe(stage),
                "checks": kinds.count((stage.pk, Kind.CHECK)), "practice": kinds.count((stage.pk, Kind.PRACTICE)),
            }
            for stage in form.stages
        ],
        "members": members.members_of(study), "webhooks": study.webhooks.with_deliveries(),
        "size": deletion.size(study),
        "decisions": Outcome.objects.filter(task__stage__study=study, by=ADJUDICATOR).count(),
    }  # fmt: skip


def _languages(study: Study, text: Instructions) -> str:
    codes: Sequence[str] = [study.language, *text.translations]
    return ", ".join(LANGUAGES[code] for code in dict.fromkeys(codes) if code in LANGUAGES)
