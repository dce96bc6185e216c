"""Exports and releases: made by the worker, listed, and fetched in ranges."""

from typing import Any

from django.db.models import QuerySet
from django.http.response import HttpResponseBase
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import serializers
from rest_framework.exceptions import NotAcceptable
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import permissions
from annotation.api.studies import StudyCommand
from annotation.exports import job as export_job
from annotation.exports.downloads import download_export
from annotation.models import Release, Role
from annotation.releases import downloads, lifecycle
from annotation.releases.listing import release_state, releases_of
from annotation.releases.plan import FORMS, PUBLIC, SHARD_LIMITS, SHARD_MB, SPLIT_NAMES, USUAL_FORMS, WORDS, Plan
from benchmarks.api.commands import Body, Command, JobCommand, refuse_filters
from benchmarks.api.endpoints import NO_STORAGE, REFUSALS, Call, Counted, Endpoint, OffsetFilters, ordering
from benchmarks.api.errors import RefusalData, conflict, invalid, wrong_field
from benchmarks.api.serializers import JobData
from benchmarks.jobs import jobs
from benchmarks.jobs.orders import MOST_SEED
from benchmarks.models import Job

BYTES = "application/octet-stream"


class Download(Endpoint):
    """A file, whole or in ranges, whatever `Accept` says; refusals are JSON."""

    def finalize_response(self, request: Request, response, *args, **kwargs):
        if not isinstance(response, Response) and "Content-Type" in response.headers:
            response["Content-Type"] = BYTES
        return super().finalize_response(request, response, *args, **kwargs)

    def perform_content_negotiation(self, request: Request, force: bool = False):
        try:
            return super().perform_content_negotiation(request, force)
        except NotAcceptable:
            return JSONRenderer(), JSONRenderer.media_type

    def call(self, method: str) -> Call:
        answers: dict[Any, object] = {status: why for status, why in REFUSALS.items() if status != 406}
        for status, says in ((200, "The file."), (206, "The range.")):
            answers[status, BYTES] = OpenApiResponse(OpenApiTypes.BINARY, says)
        answers[302] = OpenApiResponse(description="The file is in the bucket, at `Location` for a short time.")
        answers[304] = OpenApiResponse(description="You already have it: its ETag is in `If-None-Match`.")
        answers[416] = OpenApiResponse(description="The file ends before this range starts.")
        answers[503] = OpenApiResponse(RefusalData, NO_STORAGE)
        headers = [
            OpenApiParameter(name, OpenApiTypes.STR, "header", required=False, description=says)
            for name, says in (("Range", "`bytes=1000-`"), ("If-Range", "The ETag of the part that you have."))
        ]
        return Call(self.operation, answers, parameters=headers)


# Exports


class ExportList(JobCommand, StudyCommand, ListAPIView):
    """The study's exports, newest first: jobs whose `report` has the size of the file. POST makes one."""

    operation, serializer_class, filters, pagination_class = "exports", JobData, OffsetFilters, Counted
    command = "make_export"

    def get_queryset(self) -> QuerySet[Job]:
        return export_job.exports_of(self.study)

    def act(self, given: dict[str, Any]) -> Job:
        job = export_job.queue_export(study=self.study, by=self.by, created_by=self.user)
        jobs.dispatch(job)
        return job


class ExportFile(Download):
    """The zip of a finished export."""

    operation = "export_file"

    def get(self, request: Request, pk: int, job: int) -> HttpResponseBase:
        refuse_filters(request)
        return download_export(request._request, permissions.export_for(self.user, pk, job))


# Releases


class SplitsBody(Body):
    """Whole percentages that add up to 100."""

    def get_fields(self) -> dict[str, Any]:
        return {name: serializers.IntegerField(min_value=1, max_value=100, required=False) for name in SPLIT_NAMES}


class WordsBody(Body):
    """What only the producer can state; it is included in the documents."""

    def get_fields(self) -> dict[str, Any]:
        about: dict[str, Any] = {"required": False, "allow_blank": True, "max_length": 20_000}
        return {word.name: serializers.CharField(help_text=word.hint, **about) for word in WORDS}


class ReleaseBody(Body):
    name = serializers.CharField(max_length=100, help_text="Letters, digits, dots, underscores and hyphens.")
    version = serializers.CharField(max_length=20, help_text="Two or three numbers: `1.0`.")
    splits = SplitsBody(required=False, help_text="By default all items go to test.")
    seed = serializers.IntegerField(min_value=0, max_value=MOST_SEED, default=0)
    forms = serializers.ListField(
        child=serializers.ChoiceField(FORMS), default=[*USUAL_FORMS], help_text="Beside Parquet."
    )
    shard_mb = serializers.IntegerField(min_value=SHARD_LIMITS[0], max_value=SHARD_LIMITS[1], default=SHARD_MB)
    public = serializers.ListField(
        child=serializers.ChoiceField([*PUBLIC]), default=[], help_text="What is public in addition to the minimum."
    )
    stages = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=1000), default=[], help_text="Positions; empty for all."
    )
    words = WordsBody(required=False)


class ReleaseData(serializers.ModelSerializer):
    state = serializers.SerializerMethodField(
        help_text="`frozen`, or the state of its job: `queued`, `running`, `failed`, `cancelled`."
    )
    title = serializers.CharField(source="__str__", help_text="Name and version.")
    plan = serializers.DictField()
    summary = serializers.DictField(help_text="Counts, splits and files; empty until it is frozen.")
    job = serializers.IntegerField(source="job_id", allow_null=True, help_text="The job making it: /api/v1/jobs/….")

    class Meta:
        model = Release
        fields = [
            "id", "study", "name", "version", "title", "state", "plan", "summary", "size", "sha256", "content", "job",
            "created_at", "frozen_at",
        ]  # fmt: skip

    def get_state(self, release: Release) -> str:
        return release_state(release)


class ReleaseFilters(OffsetFilters):
    ordering = ordering("name", "created_at", "frozen_at")
    name = serializers.CharField(required=False)
    version = serializers.CharField(required=False)


class ReleaseList(StudyCommand, ListAPIView):
    """The study's releases, newest first, frozen or not. POST makes one; its `job` shows its progress."""

    operation, serializer_class, filters, pagination_class = "releases", ReleaseData, ReleaseFilters, Counted
    command, takes, gives, status = "make_release", ReleaseBody, ReleaseData, 202
    conflicts = "There is already a release with this name and version, or another study has releases with this name."

    def get_queryset(self) -> QuerySet[Release]:
        return releases_of(self.study)

    def act(self, given: dict[str, Any]) -> Release:
        positions = set(self.study.stages.values_list("position", flat=True))
        chosen = set(given["stages"])
        if unknown := chosen - positions:
            says = f"The study has the stages 1 to {len(positions)}, not {', '.join(map(str, sorted(unknown)))}."
            raise invalid([wrong_field("stages", says)])
        settings = {name: value for name, value in given.items() if value or name != "splits"}
        plan = Plan(**settings | {"stages": [] if chosen == positions else chosen})  # as the page stores "all"
        if problems := plan.problems():
            raise invalid([wrong_field(name, sentence) for name, sentence in problems.items()])
        release = _or_conflict(lambda: lifecycle.freeze(study=self.study, plan=plan, by=self.by, created_by=self.user))
        assert release.job
        jobs.dispatch(release.job)
        release.refresh_from_db()
        return release

    def location(self, made: Release) -> str:
        return reverse("api-release-detail", args=[made.pk])


def _or_conflict(verb):
    try:
        return verb()
    except lifecycle.CannotFreeze as why:
        code = "NAME_TAKEN" if isinstance(why, lifecycle.NameTaken) else "CANNOT_FREEZE"
        problems = [wrong_field(name, sentence, code) for name, sentence in why.problems.items()]
        raise conflict(why, code, problems) from None


class ReleaseDetail(Endpoint, RetrieveAPIView):
    """A release: its plan, its progress and its contents."""

    operation, serializer_class = "release", ReleaseData

    def get_object(self) -> Release:
        refuse_filters(self.request)
        return permissions.release_for(self.user, self.kwargs["pk"])


class ReleaseFile(Download):
    """The zip of a frozen release."""

    operation = "release_zip"

    def get(self, request: Request, pk: int, name: str = "") -> HttpResponseBase:
        refuse_filters(request)
        return downloads.download(request._request, permissions.release_for(self.user, pk), name)


class ReleaseMember(ReleaseFile):
    """One file of a frozen release, by its path in the release's folder, such as `README.md`."""

    operation = "release_file"


class ReleaseCommand(Command):
    def permit(self) -> None:
        self.release = permissions.release_for(self.user, self.kwargs["pk"], Role.MANAGER)


class ReleaseAgain(JobCommand, ReleaseCommand):
    """Try again to make a release that failed."""

    command, conflicts = "retry_release", "It is frozen or still being made."

    def act(self, given: dict[str, Any]) -> Job:
        job = _or_conflict(lambda: lifecycle.try_again(release=self.release, by=self.by, created_by=self.user))
        jobs.dispatch(job)
        return job


class DiscardedData(serializers.Serializer):
    discarded = serializers.CharField(help_text="The name and version, which can be used again.")


class ReleaseDiscard(ReleaseCommand):
    """Discard a release that failed."""

    command, gives, status = "discard_release", DiscardedData, 200
    conflicts = "It is frozen or still being made."

    def act(self, given: dict[str, Any]) -> dict:
        _or_conflict(lambda: lifecycle.discard(release=self.release, by=self.by))
        return {"discarded": str(self.release)}
