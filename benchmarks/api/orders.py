"""Jobs that run models on a benchmark: scoring, asking, training and generating, with their pages' forms."""

from collections.abc import Callable
from typing import Any

from rest_framework import serializers

from benchmarks import permissions
from benchmarks.api.commands import JobCommand
from benchmarks.api.forms import OrderBody, as_sent, valid
from benchmarks.generation import caption_order, images
from benchmarks.generation import views as generation_views
from benchmarks.jobs import jobs
from benchmarks.jobs.orders import OrderForm
from benchmarks.models import Job
from benchmarks.scoring import ask, score
from benchmarks.scoring import views as scoring_views
from benchmarks.training import train
from benchmarks.training import views as training_views
from benchmarks.training.released import to_train_on


class _ModelJob(JobCommand):
    """An order for a benchmark: `form` is the page's, and `queue` creates the job."""

    form: type[OrderForm]
    queue: Callable[..., Job]
    changes = False  # the benchmark

    def permit(self) -> None:
        self.benchmark = permissions.benchmark_for(self.user, self.kwargs["pk"], change=self.changes)

    def about(self) -> dict[str, Any]:
        """Return the arguments of the form."""
        return {}

    def order(self, given: dict[str, Any]) -> Any:
        return valid(self.form(as_sent(self.form(**self.about()), given), **self.about())).order

    def act(self, given: dict[str, Any]) -> Any:
        job = self.queue(benchmark=self.benchmark, order=self.order(given), by=self.by, created_by=self.user)
        jobs.dispatch(job)
        return job


class EstimateData(serializers.Serializer):
    """A rough estimate: four characters of English count as one token."""

    questions = serializers.IntegerField()
    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    cost = serializers.FloatField(help_text="By the prices in the body.")


class _Estimate(_ModelJob):
    """Computes an `estimate` without starting anything."""

    gives, status = EstimateData, 200
    estimate: Callable[..., Any]

    def act(self, given: dict[str, Any]) -> Any:
        return self.estimate(self.benchmark, self.order(given))

    def location(self, made: Any) -> str:
        return ""


class ScoreBody(OrderBody):
    order = score.ScoreOrder


class Score(_ModelJob):
    """Score the benchmark with a model. The job's `report` has the id of the `run`."""

    command, takes = "score", ScoreBody
    form, queue = scoring_views.ScoreForm, staticmethod(score.queue_score)


class AskBody(OrderBody):
    order, without = ask.AskOrder, tuple(scoring_views.AskForm.not_asked)


class Ask(_ModelJob):
    """Ask a model at an endpoint the benchmark's questions. The server's administrator configures the endpoints."""

    command, takes = "ask", AskBody
    form, queue = scoring_views.AskForm, staticmethod(ask.queue_ask)


class AskEstimate(_Estimate, Ask):
    """Estimate requests and cost of asking, without questions already answered."""

    command, estimate = "estimate_ask", staticmethod(ask.estimate_for)


class TrainBody(OrderBody):
    order = train.TrainOrder


class Train(_ModelJob):
    """Train a model on the benchmark, or on the training side of one of its releases."""

    command, takes = "train", TrainBody
    form, queue = training_views.TrainForm, staticmethod(train.queue_train)

    def about(self) -> dict[str, Any]:
        return {"initial": {}, "releases": [one.title for one in to_train_on(self.benchmark, self.user)]}


class CaptionsBody(OrderBody):
    order, without = caption_order.CaptionOrder, ("parallel", "timeout")


class Captions(_ModelJob):
    """Generate captions with a language model, as a new benchmark."""

    command, takes = "generate_captions", CaptionsBody
    form, queue = generation_views.CaptionForm, staticmethod(caption_order.queue_captions)

    def order(self, given: dict[str, Any]) -> Any:
        return super().order(given | ({"percent": 100 * given["share"]} if "share" in given else {}))


class CaptionsEstimate(_Estimate, Captions):
    """Estimate requests and cost of generating the captions."""

    command, estimate = "estimate_captions", staticmethod(caption_order.estimate_for)


class ImagesBody(OrderBody):
    order = images.ImagesOrder


class Images(_ModelJob):
    """Generate candidate images for the benchmark's negative captions."""

    command, takes, changes = "generate_images", ImagesBody, True
    form, queue = generation_views.ImagesForm, staticmethod(images.queue_images)
