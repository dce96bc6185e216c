"""The page of a stage's checks, practice and comprehension questions. Only managers may see its answers."""

from collections.abc import Mapping

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.checks import attention_checks, parsing, qualification, setup
from annotation.checks.fields import FAILURES, PercentField
from annotation.checks.gold_items import CannotSet
from annotation.designs.plan import NO_CHECKS
from annotation.measures import pass_rules
from annotation.models import Kind, Role, Stage
from annotation.protocols.registry import protocol_named
from benchmarks import audit
from benchmarks.models import Benchmark
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.seen import SeenForm, latest


class SettingsForm(SeenForm):
    check_rate = PercentField(
        50, label="Checks (% of an annotator's screens)", help_text="0 to 50. Around 10 is usual; 0 means no checks."
    )
    practice_pass = PercentField(label="Practice pass mark (%)", help_text="The share of correct answers.")
    practice_tries = forms.IntegerField(
        min_value=1, max_value=20, label="Attempts", help_text="Comprehension questions allow at least two."
    )
    on_failure = forms.ChoiceField(label="After the last failed attempt, the annotator", choices=FAILURES.items())


class KnownForm(forms.Form):
    benchmark = forms.ModelChoiceField(Benchmark.objects.order_by("name"), empty_label=None, label="Benchmark")
    lines = forms.CharField(required=False, label="Items", widget=forms.Textarea(attrs={"rows": 6}))
    draw_known = forms.IntegerField(
        required=False,
        min_value=1,
        label="Also pick this many at random",
        help_text="From the items with a known answer.",
    )


class QuestionsForm(SeenForm):
    text = forms.CharField(required=False, label="Questions", widget=forms.Textarea(attrs={"rows": 12}))


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_checks(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    do = request.POST.get("do", "")
    if request.method != "POST":
        return _page(request, stage, _forms(stage, do, request.POST))
    try:
        with latest(stage, request):
            bound = _forms(stage, do, request.POST)
            if do in bound and not bound[do].is_valid():
                return _page(request, stage, bound, status=422)
            done = _do(request, stage, do, bound)
        messages.success(request, done)
    except CannotSet as refusal:
        bound[do].add_error(None, str(refusal).split("\n"))
        return _page(request, stage, bound, status=422)
    return redirect("study-checks", pk, position)


def _forms(stage: Stage, do: str, sent: QueryDict) -> dict[str, forms.Form]:
    """The page's forms by action; the submitted one is bound."""
    settings = {name: getattr(stage, name) for name in SettingsForm.base_fields}
    made: dict[str, tuple[type[forms.Form], dict[str, object]]] = {
        "settings": (SettingsForm, settings),
        Kind.CHECK.value: (KnownForm, {"benchmark": stage.study.benchmark_id}),
        Kind.PRACTICE.value: (KnownForm, {"benchmark": stage.study.benchmark_id}),
        "questions": (QuestionsForm, {"text": parsing.write_questions(stage.comprehension)}),
    }
    found = {
        name: form(sent if name == do else None, initial=start, auto_id=f"{name}-%s")
        for name, (form, start) in made.items()
    }
    for name in ("check_rate", "practice_pass") if protocol_named(stage.protocol).form else ():
        del found["settings"].fields[name]
    return found


def _do(request: StaffRequest, stage: Stage, do: str, bound: Mapping[str, forms.Form]) -> str:
    """Carry out the action and return a sentence that describes the result. Raises CannotSet."""
    by = audit.named(request.user)
    if do == "remove":
        tasks = [int(pk) for pk in request.POST.getlist("task") if pk.isascii() and pk.isdecimal() and len(pk) < 19]
        gone, retired = attention_checks.remove_checks(stage=stage, tasks=tasks, by=by)
        return f"Removed {gone}, retired {retired}."
    if do not in bound:
        return "Nothing was changed."
    given = bound[do].cleaned_data
    if do == "questions":
        try:
            setup.revise(stage=stage, by=by, comprehension=parsing.read_questions(given["text"]))
        except parsing.Unreadable as error:
            raise CannotSet(error.reasons) from None
        return "The questions have been saved."
    if do == "settings":
        setup.revise(stage=stage, by=by, **given)
        return "The settings have been saved."
    made = setup.set_known(
        stage=stage, kind=Kind(do), benchmark=given["benchmark"], text=given["lines"], by=by,
        draw_known=given["draw_known"] or 0,
    )  # fmt: skip
    return f"Added {len(made)}."


def _page(request: StaffRequest, stage: Stage, bound: Mapping[str, forms.Form], status: int = 200) -> HttpResponse:
    found, practice = attention_checks.table(stage), stage.tasks.filter(kind=Kind.PRACTICE)
    screens, example, protocol = stage.batch_size or 100, stage.tasks.first(), protocol_named(stage.protocol)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "forms": bound, "checks": found,
        "no_checks": NO_CHECKS if protocol.form else "",
        "live": sum(task.live for task, _ in found),
        "screens": screens, "wanted": pass_rules.number_of_checks(screens, stage.check_rate),
        "practice": [(task, None) for task in practice.select_related("item__benchmark").order_by("pk")],
        "people": setup.screening_results(stage),
        "allowed": [*(example.options if example else []), *(choice.identity for choice in protocol.fixed)],
        "comprehension_tries": qualification.tries_of(stage, "comprehension"),
    }  # fmt: skip
    return render(request, "checks/checks.html", context, status=status)
