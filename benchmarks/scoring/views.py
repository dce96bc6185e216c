"""The pages for scoring a benchmark with a model, and for asking an endpoint its questions."""

from typing import cast

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.jobs.orders import OrderForm
from benchmarks.jobs.views import asked_before, benchmark_order_page
from benchmarks.models import TrainedModel
from benchmarks.permissions import StaffRequest
from benchmarks.scoring import ask, score

LISTED = 100  # trained models to choose from
MODELS = (
    ("ViT-B-32-quickgelu", "a CLIP architecture of open_clip, with weights"),
    ("hf-hub:ORG/MODEL", "a CLIP model from the Hugging Face Hub"),
    ("local-dir:FOLDER", "a CLIP model in the server’s model folder"),
    ("vqa:ID", "an image-text model, asked whether the image shows the caption; slower"),
    ("itm:ID", "a model with an image-text-matching head; slower"),
    ("sentence-transformers:ID", "sees only captions: how much they give away"),
    ("language-model:ID", "sees only captions, as likely sentences"),
    ("detector:FOLDER", "a model that was trained here"),
)


class ScoreForm(OrderForm):
    """The worker checks whether the model exists: this process does not know open_clip."""

    takes, kinds = score.ScoreOrder, MODELS

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.fields["model"].widget.attrs |= {"list": "models", "placeholder": MODELS[0][0]}
        self.fields["pretrained"].widget.attrs |= {"list": "weights", "placeholder": "openai"}


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def score_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk)
    asked = asked_before(request, *score.MEASURES)
    if "seeds" in asked:
        asked.setdefault("measure", score.RETRIEVAL)  # of jobs from before there were order tasks
    form = ScoreForm(request.POST or None, initial={"model": request.GET.get("model", "")} | asked)
    trained = TrainedModel.objects.all()[:LISTED]
    return benchmark_order_page(request, "scoring/new.html", form, benchmark, score.queue_score, trained=trained)


class AskForm(OrderForm):
    """The worker connects from inside the network, so that only endpoints which the administrator has named can be
    chosen."""

    takes, not_asked = ask.AskOrder, ("parallel", "timeout")
    address = forms.ChoiceField(
        label="Endpoint", help_text="The server’s administrator sets which addresses can be chosen."
    )

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        addresses = cast("forms.ChoiceField", self.fields["address"])
        addresses.choices = [(address, address) for address in settings.LLM_ENDPOINTS]


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def ask_new(request: StaffRequest, pk: int) -> HttpResponse:
    """The form; with `estimate`, what asking would take and cost."""
    benchmark, asked = permissions.benchmark_for(request.user, pk), asked_before(request, ask.KIND).get("order", {})
    form = AskForm(request.POST or None, initial=asked)
    return benchmark_order_page(request, "scoring/ask.html", form, benchmark, ask.queue_ask, estimate=ask.estimate_for)
