"""The page that makes a study of judgments that were made elsewhere."""

from collections.abc import Sequence
from functools import partial

from django.contrib.auth.models import User
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from annotation.imported_ratings.forms import RatingsForm
from annotation.imported_ratings.order import queue_ratings
from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs import kept_uploads, uploads
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Benchmark, Job
from benchmarks.permissions import StaffRequest


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def ratings_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk)
    form = RatingsForm(request.POST or None, request.FILES or None, initial=asked_before(request, "ratings"))
    queue = partial(queue_ratings_from_form, request.user, benchmark, form)
    return order_page(request, "imported_ratings/new.html", form, queue, benchmark=benchmark)


def queue_ratings_from_form(
    user: User, benchmark: Benchmark, form: RatingsForm, uploaded: Sequence[Upload] = ()
) -> Job:
    """Keep the file of a valid form, or the one that was `uploaded` before, and queue its import. Raises CannotKeep or
    NoRoom."""
    files = form.cleaned_data["files"]
    with uploads.arriving() as folder:
        if uploaded:
            kept_uploads.link([*uploaded], folder / "data")
        else:
            uploads.keep(files, folder / "data")
    (file,) = uploaded or files
    return queue_ratings(
        benchmark=benchmark, order=form.order, file=folder / "data" / file.name, by=named(user), created_by=user,
        upload=str(folder), kept={"data": [one.id for one in uploaded]} if uploaded else {},
    )  # fmt: skip
