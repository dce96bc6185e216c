"""The managers' page of a study's results, and the page that everybody with the address can read."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template import loader
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation import permissions
from annotation.dashboard import results_page
from annotation.models import Role, SharedResults
from annotation.studies import sharing
from benchmarks import audit
from benchmarks.accounts import limits
from benchmarks.permissions import StaffRequest, staff_only
from benchmarks.tables import page_or_csv


@require_safe
@staff_only
def study_results(request: StaffRequest, pk: int) -> HttpResponse:
    """Show people and models in one table, releases, the report, exports; `?csv=` is the table's file."""
    study = permissions.study_for(request.user, pk)
    context = {"section": "studies", **results_page.contents(request, study)}
    return page_or_csv(request, "dashboard/results.html", context, f"people-and-models-study-{pk}")


@require_POST
@staff_only
def study_share(request: StaffRequest, pk: int) -> HttpResponse:
    """Turn the page to share on or, with `to=off`, off."""
    study = permissions.study_for(request.user, pk, Role.MANAGER)
    if request.POST.get("to") == "off":
        sharing.stop_sharing(study=study, by=audit.named(request.user))
        messages.success(request, "The page to share is off, and its address no longer works.")
    else:
        sharing.share(study=study, by=audit.named(request.user))
        messages.success(request, "The shared page is now on.")
    return redirect("study-results", pk)


@never_cache
@require_safe
def shared_results(request: HttpRequest, shared: str) -> HttpResponse:
    """Show the results, read-only and without login. Renders without the request: no session or user is read."""
    if limits.too_many_looks(request):
        return HttpResponse("There have been too many requests from your network. Try again in an hour.", status=429)
    found = get_object_or_404(SharedResults.objects.select_related("study__benchmark"), token=shared)
    html = loader.get_template("dashboard/shared.html").render(results_page.shared(found.study))
    return HttpResponse(html, headers={"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"})
