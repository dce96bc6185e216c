"""The page for the settings of a study and one of its stages: what can change, why the rest cannot, and links to other
settings.
"""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.designs import part
from annotation.models import Kind, Role, Stage, Study, Task
from annotation.pipeline.stage_rules import rule_in_words
from annotation.protocols.registry import protocol_named
from annotation.studies import members
from annotation.studies.instructions import LANGUAGES, texts
from annotation.studies.settings import INSTEAD
from annotation.studies.settings_form import StudySettingsForm
from benchmarks import audit
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.seen import latest
from benchmarks.transactions import retry_deadlocks


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_settings(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the settings; `?stage=2` chooses a stage, by default the first."""
    chosen = permissions.stage_for(request.user, pk, request.GET.get("stage", ""), Role.MANAGER)
    study = chosen.study
    form = _form(request, study, chosen)
    if form.is_bound and not form.errors:
        changed = form.changed_labels()
        messages.success(request, f"Saved: {', '.join(changed)}." if changed else "Nothing was changed.")
        return redirect(reverse("study-settings", args=[pk], query={"stage": chosen.position}))
    context = {"section": "studies", "study": study, "form": form, **_contents(study, form, chosen)}
    context["tabs"] = [(one, f"stage={one.position}#stage") for one in study.stages.order_by("position")]
    context["copy"] = reverse("study-new", query={"copy": study.pk, "benchmark": study.benchmark_id})
    return render(request, "studies/settings.html", context, status=422 if form.errors else 200)


@retry_deadlocks
def _form(request: StaffRequest, study: Study, stage: Stage) -> StudySettingsForm:
    """Return the form with the stage's current settings, saved if the request sends a valid form."""
    with latest(study, request):
        stages = [one for one in stages_of(study) if one == stage]
        form = StudySettingsForm(request.POST or None, study=study, stages=stages)
        if form.is_valid() and not form.save(audit.named(request.user)):
            transaction.set_rollback(True)
    return form


def stages_of(study: Study) -> list[Stage]:
    stages = list(study.stages.order_by("position"))
    for stage in stages:
        stage.study = study
    return stages


def _contents(study: Study, form: StudySettingsForm, stage: Stage) -> dict:
    instructions = stage.instructions.order_by("-version")[0]
    known = Task.objects.filter(stage=stage, kind__in=[Kind.CHECK, Kind.PRACTICE], live=True)
    kinds = list(known.values_list("kind", flat=True))
    return {
        "not_done": "The settings were not saved", "instead": INSTEAD,
        "part": part.in_short(study.part, study.benchmark.items.count()) or "all items",
        "stage": stage, "fields": form.of_stage(stage), "locked": form.locked(), "instructions": instructions,
        "languages": ", ".join(LANGUAGES[code] for code in texts(instructions, study.language)),
        "protocol": protocol_named(stage.protocol),
        "rule": rule_in_words(stage), "checks": kinds.count(Kind.CHECK), "practice": kinds.count(Kind.PRACTICE),
        "members": members.members_of(study), "webhooks": study.webhooks.with_deliveries(),
    }  # fmt: skip
