"""The pages for a stage's checks, practice and comprehension questions. Only managers may see their answers."""

from collections.abc import Mapping

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from annotation import permissions
from annotation.checks import attention_checks, parsing, qualification, setup
from annotation.checks.fields import FAILURES, PercentField
from annotation.checks.gold_items import CannotSet
from annotation.checks.parsing import Known
from annotation.dashboard import checks_page
from annotation.designs.plan import NO_CHECKS
from annotation.models import Kind, Role, Stage, Strategy
from annotation.protocols.registry import protocol_named
from benchmarks import audit, queries
from benchmarks.models import Benchmark
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.seen import SeenForm, latest

PAGE, MOST_DRAWN = 30, 200  # items on a page, and in a random choice
NOUNS = {Kind.CHECK: "checks", Kind.PRACTICE: "practice"}


class SettingsForm(SeenForm):
    check_rate = PercentField(
        50, label="Checks (% of an annotator’s tasks)", help_text="0 to 50. Around 10 is usual; 0 means no checks."
    )
    practice_pass = PercentField(label="Practice pass mark (%)", help_text="The share of correct answers.")
    practice_tries = forms.IntegerField(
        min_value=1, max_value=20, label="Attempts",
        help_text="Tries at practice. Comprehension questions always allow at least two.",
    )  # fmt: skip
    on_failure = forms.ChoiceField(label="After the last failed attempt, the annotator", choices=FAILURES.items())


class QuestionsForm(SeenForm):
    text = forms.CharField(required=False, label="Questions", widget=forms.Textarea(attrs={"rows": 8}))

    def clean_text(self) -> list[dict]:
        try:
            return parsing.read_questions(self.cleaned_data["text"])
        except parsing.Unreadable as error:
            raise forms.ValidationError(error.reasons) from None


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
    questions = {"text": parsing.write_questions(stage.comprehension)}
    made = (("settings", SettingsForm, settings), ("questions", QuestionsForm, questions))
    found: dict[str, forms.Form] = {
        name: form(sent if name == do else None, initial=start, auto_id=f"{name}-%s") for name, form, start in made
    }
    for name in ("check_rate", "practice_pass") if protocol_named(stage.protocol).form else ():
        del found["settings"].fields[name]
    return found


def _do(request: StaffRequest, stage: Stage, do: str, bound: Mapping[str, forms.Form]) -> str:
    """Carry out the action and return a sentence that describes the result. Raises CannotSet."""
    by = audit.named(request.user)
    if do == "remove":
        return _remove(stage, _ids(request, "task"), by)
    if do not in bound:
        return "Nothing was changed."
    given = bound[do].cleaned_data
    setup.revise(stage=stage, by=by, **({"comprehension": given["text"]} if do == "questions" else given))
    return f"The {do} have been saved."


def _remove(stage: Stage, tasks: list[int], by: str) -> str:
    gone, retired = attention_checks.remove_checks(stage=stage, tasks=tasks, by=by)
    return f"Removed {gone}, retired {retired}."


def _ids(request: StaffRequest, name: str) -> list[int]:
    return [int(pk) for pk in request.POST.getlist(name) if pk.isascii() and pk.isdecimal() and len(pk) < 19]


def _page(request: StaffRequest, stage: Stage, bound: Mapping[str, forms.Form], status: int = 200) -> HttpResponse:
    found, practice = attention_checks.table(stage), stage.tasks.filter(kind=Kind.PRACTICE).order_by("-live", "pk")
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "forms": bound,
        "checks": checks_page.picked_rows(stage, found),
        "no_checks": NO_CHECKS if protocol_named(stage.protocol).form else "",
        "picked": checks_page.picked(stage, Kind.CHECK),
        "practice": checks_page.picked_rows(stage, ((task, None) for task in practice)),
        "people": checks_page.people_table(stage),
        "comprehension_tries": qualification.tries_of(stage, "comprehension"),
    }  # fmt: skip
    return render(request, "checks/checks.html", context, status=status)


# Picking


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_checks_pick(request: StaffRequest, pk: int, position: int) -> HttpResponse:
    """Handle `?as=practice&benchmark=2&q=cup&type=swap&known=on&page=3`, or `?draw=10` for items with a known answer.

    Pressing an answer posts the item with it; without answers, the items' known answers are right.
    """
    stage = permissions.stage_for(request.user, pk, position, Role.MANAGER)
    kind = Kind.PRACTICE if request.GET.get("as") == Kind.PRACTICE else Kind.CHECK
    refused = forms.Form(request.POST)
    if request.method == "POST":
        try:
            return redirect(_pick(request, stage, kind))
        except CannotSet as refusal:
            refused.add_error(None, str(refusal).split("\n"))
    elif protocol_named(stage.protocol).form:
        return redirect("study-checks", pk, position)
    context = {
        "section": "studies", "study": stage.study, "stage": stage, "kind": kind, "form": refused,
        "nouns": NOUNS[kind], "picked": checks_page.picked(stage, kind), **_to_pick(request, stage),
    }  # fmt: skip
    return render(request, "checks/pick.html", context, status=422 if request.method == "POST" else 200)


def _pick(request: StaffRequest, stage: Stage, kind: Kind) -> str:
    """Set or remove what was pressed; return the address to continue from. Raises CannotSet."""
    by, items = audit.named(request.user), _ids(request, "item")
    here = f"{request.get_full_path()}#item-{items[0]}" if len(items) == 1 else request.get_full_path()
    if tasks := _ids(request, "task"):
        messages.success(request, _remove(stage, tasks, by))
        return here
    known = Known(request.POST.getlist("answer"), request.POST.get("note", "").strip())
    said = checks_page.departure(stage, items, done=True)
    made = setup.set_known(stage=stage, kind=kind, items=items, known=known, by=by)
    keys = list(dict.fromkeys(task.item.key for task in made))
    what = f"“{keys[0]}” is" if len(keys) == 1 else f"{len(keys):,} items are"
    messages.success(
        request, f"{what} {'a check' if kind == Kind.CHECK and len(keys) == 1 else NOUNS[kind]} now. {said}"
    )
    return here if len(items) == 1 else reverse("study-checks", args=[stage.study_id, stage.position])


def _to_pick(request: StaffRequest, stage: Stage) -> dict[str, object]:
    """Return the items the address asks for, as rows, with what picking them takes out of the study."""
    asked, own = request.GET, stage.study.benchmark
    benchmarks = Benchmark.objects.order_by("name")
    if stage.strategy == Strategy.AUDIT:
        benchmarks = benchmarks.exclude(pk=own.pk)
    chosen = benchmarks.filter(pk=permissions.whole_number(asked.get("benchmark"), 18) or own.pk).first()
    benchmark = chosen or benchmarks.first()
    if benchmark is None:
        return {"rows": []}
    found = queries.search(setup.pickable(stage, benchmark), asked.get("q", "").strip()[:200])
    found = found.filter(type=asked["type"]) if asked.get("type") else found
    draw = min(permissions.whole_number(asked.get("draw"), 4) or 0, MOST_DRAWN)
    if draw or asked.get("known"):
        found = setup.with_known_answer(stage, found)
    drawn = setup.drawn(stage, found, draw) if draw else []
    found = found.filter(pk__in=drawn) if draw else found
    page = Paginator(queries.with_material(found.order_by("position")), MOST_DRAWN if draw else PAGE)
    shown = page.get_page(asked.get("page"))
    items = list(shown.object_list)
    return {
        "rows": checks_page.rows_to_pick(stage, items), "page": shown, "asked": asked,
        "draw": draw, "drawn": drawn, "benchmark": benchmark, "benchmarks": benchmarks.values_list("pk", "name"),
        "types": [one for one in benchmark.items.order_by("type").values_list("type", flat=True).distinct() if one],
        "leave": checks_page.departure(stage, drawn if draw else None if benchmark == own else ()),
        "knowledge": [("on", "known")],
    }  # fmt: skip
