"""Judgments that were made elsewhere become a study of a benchmark."""

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.datastructures import MultiValueDict
from rest_framework import serializers

from annotation.imported_ratings.forms import RatingsForm
from annotation.imported_ratings.order import RatingsOrder
from annotation.imported_ratings.views import queue_ratings_from_form
from benchmarks import permissions
from benchmarks.api.commands import JobCommand
from benchmarks.api.errors import form_problems, invalid
from benchmarks.api.imports import NO_STORAGE, FilesField, OrderBody, UploadsField
from benchmarks.jobs import jobs
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.models import Job


class RatingsBody(OrderBody):
    order = RatingsOrder
    mapping = serializers.JSONField(required=False, help_text="Which column is what (docs/reference/ratings.md).")
    files: serializers.ListField = UploadsField(
        required=True, min_length=1, max_length=1, help_text="The file of ratings: the id of an upload."
    )


class RatingsFilesBody(RatingsBody):
    """The same with the file itself."""

    files = FilesField(required=True, min_length=1, max_length=1)


class RatingsNew(JobCommand):
    """Make a study of judgments that were made elsewhere, all or nothing. The job's `report` has the id of the
    `study`."""

    command, takes, takes_files = "import_ratings", RatingsBody, RatingsFilesBody
    refusals = {503: NO_STORAGE, 507: "The server has no room for the files."}

    def permit(self) -> None:
        self.benchmark = permissions.benchmark_for(self.user, self.kwargs["pk"])

    def act(self, given: dict[str, Any]) -> Job:
        chosen = given.pop("files")
        names = [SimpleUploadedFile(one.name, b"") if isinstance(one, Upload) else one for one in chosen]
        data = {name: value for name, value in given.items() if value is not False}
        data |= {"mapping": json.dumps(given["mapping"])} if given.get("mapping") else {}
        form = RatingsForm(data, MultiValueDict({"files": names}))
        if not form.is_valid():
            raise invalid(form_problems(form))
        uploaded = [one for one in chosen if isinstance(one, Upload)]
        job = queue_ratings_from_form(self.user, self.benchmark, form, uploaded)
        jobs.dispatch(job)
        return job
