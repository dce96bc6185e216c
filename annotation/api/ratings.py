"""Turn judgments made elsewhere into a study on a benchmark."""

from rest_framework import serializers

from annotation.imported_ratings.forms import RatingsForm
from annotation.imported_ratings.order import RatingsOrder, queue_ratings
from benchmarks.api.forms import OrderBody
from benchmarks.api.imports import AnswersNew, FilesField, UploadsField


class RatingsBody(OrderBody):
    order = RatingsOrder
    mapping = serializers.JSONField(required=False, help_text="The meaning of the columns (docs/reference/ratings.md).")
    files: serializers.ListField = UploadsField(
        required=True, min_length=1, max_length=1, help_text="The file of ratings, as an upload's id."
    )


class RatingsFilesBody(RatingsBody):
    """The same, with the file itself."""

    files = FilesField(required=True, min_length=1, max_length=1)


class RatingsNew(AnswersNew):
    """Create a study from judgments made elsewhere, all or nothing. The job's `report` has the id of the
    `study`."""

    command, takes, takes_files = "import_ratings", RatingsBody, RatingsFilesBody
    form, queue = RatingsForm, staticmethod(queue_ratings)
