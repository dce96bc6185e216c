"""The page on which a reader reports an error, and the managers' list of reports."""

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template import loader
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from annotation import permissions
from annotation.models import ReaderReport, ReportDoor, Role
from annotation.models.reader_reports import Answered
from annotation.reader_reports import reports
from annotation.reader_reports.address import address_of
from benchmarks.accounts import limits
from benchmarks.audit import named
from benchmarks.permissions import StaffRequest, benchmark_for, may_change_benchmark, staff_only
from benchmarks.records import Refused

PAGE = 50
LONGEST, LONGEST_KEY = 1_000, 200  # characters


@csrf_exempt  # everybody may report, so no session is read
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def report_error(request: HttpRequest, door: str) -> HttpResponse:
    """Show the form for `?item=ID`. The page doesn't show anything of the study, nor whether the item exists."""
    to = get_object_or_404(ReportDoor.objects.select_related("study"), token=door)
    if not to.open and not request.user.is_authenticated:
        return redirect_to_login(request.get_full_path())
    sent = request.POST if request.method == "POST" else request.GET
    key, text = (sent.get(name, "").replace("\0", "").strip() for name in ("item", "text"))
    wrong = "" if key and len(key) <= LONGEST_KEY else "Enter the item’s id."
    if request.method != "POST":
        return _page(key=key[:LONGEST_KEY])
    if not wrong and not 0 < len(text) <= LONGEST:
        wrong = f"Say what is wrong, in at most {LONGEST:,} characters."
    if wrong:
        return _page(status=422, key=key[:LONGEST_KEY], text=text[:LONGEST], wrong=wrong)
    if limits.too_many_reports(request):
        wait = "There have been too many reports from your network. Try again in an hour."
        return _page(status=429, key=key, text=text, wrong=wait)
    try:
        reports.report(study=to.study, key=key, text=text)
    except reports.TooMany:
        return _page(status=503, key=key, text=text, wrong="Many reports are still waiting. Try again in a few days.")
    return _page(thanks=True, key=key)


def _page(status: int = 200, **context) -> HttpResponse:
    """Render the page without the request, so that no session, user or messages are read."""
    html = loader.get_template("reader_reports/report.html").render({"longest": LONGEST, **context})
    return HttpResponse(html, status=status, headers={"Referrer-Policy": "no-referrer"})


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def study_reader_reports(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the reports, open ones first. A POST sets who may report."""
    needs = Role.MANAGER if request.method == "POST" else Role.VIEWER
    study = permissions.study_for(request.user, pk, needs)
    if request.method == "POST":
        who = request.POST.get("who", "")
        reports.set_door(study=study, exists=who != "nobody", is_open=who == "everybody", by=named(request.user))
        messages.success(request, "Saved.")
        return redirect("study-reader-reports", pk)
    found = (
        ReaderReport.objects.filter(study=study)
        .select_related("item", "answered_by")
        .prefetch_related("item__captions", "item__item_images__image")
        .order_by(F("answered_at").desc(nulls_first=True), "-pk")
    )
    context = {
        "section": "studies", "study": study, "address": address_of(study),
        "door": ReportDoor.objects.filter(study=study).first(),
        "may_change": may_change_benchmark(request.user, study.benchmark),
        "page": Paginator(found, PAGE).get_page(request.GET.get("page")),
    }  # fmt: skip
    return render(request, "reader_reports/list.html", context)


@require_POST
@staff_only
def reader_report_answer(request: StaffRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(ReaderReport, pk=pk)
    study = permissions.study_for(request.user, found.study_id, Role.MANAGER)
    answer = request.POST.get("answer", "")
    if answer == Answered.WITHDRAWN:
        benchmark_for(request.user, study.benchmark_id, change=True)
    if answer in Answered.values:
        try:
            reports.answer(report=found, answer=Answered(answer), by=named(request.user), answered_by=request.user)
        except Refused as refusal:
            messages.error(request, refusal.problems[0].advice)
    return redirect("study-reader-reports", study.pk)
