"""The page for turning judgments made elsewhere into a study."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from annotation.imported_ratings.forms import RatingsForm
from annotation.imported_ratings.order import queue_ratings
from benchmarks import permissions
from benchmarks.jobs.views import answers_page
from benchmarks.permissions import StaffRequest


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def ratings_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk)
    return answers_page(request, "imported_ratings/new.html", RatingsForm, benchmark, queue_ratings)
