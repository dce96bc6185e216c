"""The zip of an export, for the study's page and the API."""

from functools import partial

from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from benchmarks.models import Job
from benchmarks.storage.files import kept
from benchmarks.views.ranges import ranged


def download_export(request: HttpRequest, job: Job) -> HttpResponseBase:
    """Return the zip of a finished export, or a redirect to it in the bucket. Raises Http404 if it is gone."""
    path, size = job.report["file"], job.report["bytes"]
    name = path.rpartition("/")[2]
    try:
        if address := kept.signed(path, name):
            return HttpResponseRedirect(address)
        return ranged(request, partial(kept.open, path), size, name, f"export-{job.pk}-{size}")
    except FileNotFoundError:
        raise Http404("The file of this export is no longer in storage.") from None
