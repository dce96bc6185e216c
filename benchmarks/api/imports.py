"""Imports and predictions: files in a request, or uploads sent in chunks, checked by the pages' own forms."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail, ValidationError

from benchmarks import permissions
from benchmarks.api.commands import JobCommand
from benchmarks.api.endpoints import NO_STORAGE
from benchmarks.api.forms import OrderBody, put, valid
from benchmarks.formats.base import ORIGIN
from benchmarks.formats.registry import FORMATS
from benchmarks.imports.forms import ImportForm
from benchmarks.imports.order import LONGEST, Options
from benchmarks.imports.views import queue_from_form
from benchmarks.jobs import jobs, kept_uploads
from benchmarks.jobs.columns import AnswersForm, queue_answers
from benchmarks.jobs.kept_forms import KeptFilesForm
from benchmarks.jobs.kept_uploads import Upload
from benchmarks.models import Job
from benchmarks.runs.forms import PredictionsForm
from benchmarks.runs.import_predictions import PredictionsOrder, queue_predictions
from workers import outside_json

MANIFEST = "items.jsonl"
MOST_ITEMS = 100_000
ONE_SOURCE = "Give either `items` or `data`."
FormOf = TypeVar("FormOf", bound=KeptFilesForm)
NO_FORMAT_OF_ITEMS = "`items` are rows of Winnow's manifest. Leave `format` out, or give the file as `data`."


class UploadsField(serializers.ListField):
    """Accepts ids of the user's finished uploads; the value is the uploads themselves."""

    def __init__(self, **rest):
        super().__init__(child=serializers.CharField(max_length=32), **{"required": False, **rest})

    def to_internal_value(self, data) -> list[Upload]:
        return [self._upload(id) for id in super().to_internal_value(data)]

    def _upload(self, id: str) -> Upload:
        found = kept_uploads.find(self.context["view"].user, id)
        if found is None:
            says = f"You have no upload {id}. Uploads are kept for a day, or until they have been imported."
            raise ValidationError(ErrorDetail(says, "unknown_upload"))
        if not found.complete:
            says = (
                f"{found.received:,} of the {found.size:,} bytes of “{found.name}” have arrived. Send the rest first."
            )
            raise ValidationError(ErrorDetail(says, "upload_incomplete"))
        return found


class FilesField(serializers.ListField):
    def __init__(self, **rest):
        child = serializers.FileField(allow_empty_file=True)
        super().__init__(child=child, **{"required": False, **rest})


class ItemsField(serializers.ListField):
    """Rows of the manifest; as JSON if sent in a form."""

    def __init__(self, **rest):
        super().__init__(child=serializers.DictField(), required=False, min_length=1, max_length=MOST_ITEMS, **rest)

    def get_value(self, dictionary) -> Any:
        if not isinstance(dictionary, QueryDict):
            return super().get_value(dictionary)
        return dictionary.get(str(self.field_name), serializers.empty)

    def to_internal_value(self, data) -> list:
        if isinstance(data, str):
            try:
                data = outside_json.read(data)
            except ValueError:
                raise ValidationError("This is not JSON.") from None
        return super().to_internal_value(data)


class ImportBody(OrderBody):
    order = Options
    name = serializers.CharField(
        max_length=LONGEST, help_text="The benchmark's name. If it exists, the items are added to it."
    )
    format = serializers.ChoiceField([*FORMATS], default="jsonl", help_text="docs/reference/formats.md has them all.")
    mapping = serializers.JSONField(
        required=False, help_text="For format `own`: the meaning of each column (docs/guide/imports.md#a-mapping)."
    )
    items = ItemsField(
        help_text="Rows of the manifest (`jsonl`) instead of `data`. A problem's row counts them from 1."
    )
    data: serializers.ListField = UploadsField(  # type: ignore[assignment]  # the class removes its fields
        help_text="Files in the format: ids of uploads."
    )
    second: serializers.ListField = UploadsField(help_text="Files of the second side, in formats with two.")
    images: serializers.ListField = UploadsField(help_text="One archive, or image files: ids of uploads.")
    first_origin = serializers.CharField(required=False, max_length=ORIGIN)
    second_origin = serializers.CharField(required=False, max_length=ORIGIN)

    def validate(self, given: dict) -> dict:
        if ("items" in given) == bool(given.get("data")):
            raise ValidationError({"items": [ErrorDetail(ONE_SOURCE, "required")]})
        if "items" in given and given["format"] != "jsonl":
            raise ValidationError({"format": [NO_FORMAT_OF_ITEMS]})
        return given


class ImportFilesBody(ImportBody):
    """The same with the files themselves."""

    data = FilesField(help_text="Files in the format.")
    second = FilesField(help_text="Files of the second side, in formats with two.")
    images = FilesField(help_text="One archive, or image files, named as in the rows.")


class ImportNew(JobCommand):
    """Import a benchmark, or more items into one, all or nothing; or only check whether that would work.

    Give rows as `items` or files as `data`. The job's `problems` name file, row, field and remedy; its `report` has the
    id of the `benchmark`, the numbers of items and images, and notes.
    """

    command, takes, takes_files = "import_benchmark", ImportBody, ImportFilesBody
    refusals = {503: NO_STORAGE, 507: "The server has no room for the files."}

    fetches = "user"  # for every manager

    def act(self, given: dict[str, Any]) -> Job:
        names = {"data": "items"} if "items" in given else {}
        form = valid(import_form(given), names)
        if names:
            form.cleaned_data["data"][0].name = "items"  # what problems name: the caller has sent no file
        job = queue_from_form(self.user, form, replaces=False)
        jobs.dispatch(job)
        return job


def import_form(given: Mapping[str, Any]) -> ImportForm:
    """Return the import page's form, filled in."""
    if "items" in given:
        lines = "".join(json.dumps(item) + "\n" for item in given["items"])
        given = {**given, "data": [SimpleUploadedFile(MANIFEST, lines.encode())]}
    return filled(ImportForm, given)


def filled(form: type[FormOf], given: Mapping[str, Any]) -> FormOf:
    """Return a page's form, filled in."""
    files: dict[str, Sequence[Upload | UploadedFile]] = {name: given.get(name, ()) for name in form.FILES}
    kept = [one for chosen in files.values() for one in chosen if isinstance(one, Upload)]
    data = QueryDict(mutable=True)
    for name, value in given.items():
        if name == "mapping":
            data[name] = json.dumps(value) if value else ""
        elif name not in {*files, "items"}:
            put(data, name, value)
    for name, chosen in files.items():
        data.setlist(f"{name}_new", [one.id for one in chosen if isinstance(one, Upload)])
    sent = {name: [one for one in chosen if not isinstance(one, Upload)] for name, chosen in files.items()}
    return form(data, MultiValueDict({name: chosen for name, chosen in sent.items() if chosen}), kept=kept)


# Predictions


class PredictionsBody(OrderBody):
    order = PredictionsOrder
    mapping = serializers.JSONField(
        required=False, help_text="For your own table: the meaning of each column (docs/reference/predictions.md)."
    )
    files: serializers.ListField = UploadsField(required=True, min_length=1, help_text="Ids of uploads.")


class PredictionsFilesBody(PredictionsBody):
    """The same with the files themselves."""

    files = FilesField(required=True, min_length=1)


class AnswersNew(JobCommand):
    """Imports answers of models or people to a benchmark: the fields of `form`, and files. `queue` creates the job."""

    form: type[AnswersForm]
    queue: Callable[..., Job]
    refusals = {503: NO_STORAGE, 507: "The server has no room for the files."}

    def permit(self) -> None:
        self.benchmark = permissions.benchmark_for(self.user, self.kwargs["pk"])

    def act(self, given: dict[str, Any]) -> Job:
        form = valid(filled(self.form, given))
        job = queue_answers(self.user, self.benchmark, form, self.queue)
        jobs.dispatch(job)
        return job


class PredictionsNew(AnswersNew):
    """Import a model's answers to the benchmark, all or nothing. The job's `report` has the id of the `run`."""

    command, takes, takes_files = "import_predictions", PredictionsBody, PredictionsFilesBody
    form, queue = PredictionsForm, staticmethod(queue_predictions)
