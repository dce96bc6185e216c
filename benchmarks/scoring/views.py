"""Pages to score a benchmark with a model, and to ask an endpoint its questions."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.jobs.orders import OrderForm
from benchmarks.jobs.views import asked_before, benchmark_order_page
from benchmarks.models import TrainedModel
from benchmarks.permissions import StaffRequest
from benchmarks.scoring import ask, score
from workers.models.model_name import FOLDER, HUB

START = {"model": "ViT-B-32-quickgelu", "pretrained": "openai"}  # small, and its weights are public
LISTED = 100  # trained models to choose from
CLIP, SENTENCE, TRAINED = "open_clip", "sentence-transformers", "trained"
KINDS = {  # prefixes of models' names (except for the first and the last), with the kind and what its name is
    CLIP: ("CLIP", "An architecture of open_clip and its weights: ViT-B-32-quickgelu with openai."),
    HUB: ("CLIP from the Hugging Face Hub", "An id: laion/CLIP-ViT-B-32-laion2B-s34B-b79K."),
    FOLDER: ("CLIP on this server", "A folder in the server’s model folder."),
    "vqa": (
        "Image-text model",
        "Is asked whether the image shows the caption; slower. Its name on the Hugging Face Hub, or a folder.",
    ),
    "itm": (
        "Image-text matching",
        "A model with a head for it, such as BLIP; slower. Its name on the Hugging Face Hub, or a folder.",
    ),
    SENTENCE: (
        "Sentence encoder",
        "Sees only captions, to test how much they give away. Its name on the Hugging Face Hub, or a folder.",
    ),
    "language-model": (
        "Language model",
        "Sees only captions, to test which is likelier. Its name on the Hugging Face Hub, or a folder.",
    ),
    TRAINED: ("Trained here", "Choose one of the models that were trained on this server."),
}


class ScoreForm(OrderForm):
    """A model by its kind and name on the page, or by its whole name in the API. The worker checks whether the model
    exists, because this process does not load open_clip."""

    takes = score.ScoreOrder
    kind = forms.ChoiceField(label="Kind of model", required=False, widget=forms.RadioSelect)
    trained = forms.ChoiceField(label="Trained model", required=False)

    def __init__(self, data=None, initial: Mapping[str, Any] = MappingProxyType({})):
        super().__init__(data, initial=initial)
        trained = [(model.asked, model.name) for model in TrainedModel.objects.all()[:LISTED]]
        cast("forms.ChoiceField", self.fields["trained"]).choices = trained
        cast("forms.ChoiceField", self.fields["kind"]).choices = [
            (kind, format_html('<b>{}</b> <span class="hint">{}</span>', *words))
            for kind, words in KINDS.items()
            if trained or kind != TRAINED
        ]
        self.fields["trained"].required = self.data.get("kind") == TRAINED
        self.fields["model"].required = not self.fields["trained"].required
        self.fields["model"].widget.attrs["placeholder"] = "laion/CLIP-ViT-B-32-laion2B-s34B-b79K"
        self.fields["pretrained"].widget.attrs |= {"list": "weights", "placeholder": "openai"}

    def clean(self) -> None:
        """Make the whole name of the model; fields that its kind does not use were hidden."""
        given, kind = self.cleaned_data, self.cleaned_data.get("kind")
        if kind == TRAINED:
            given["model"] = given.get("trained", "")
        elif kind and kind != CLIP and "model" in given:
            given["model"] = f"{kind}:{given['model'].removeprefix(f'{kind}:')}"
        if kind:
            given |= {name: "" for name, of in (("pretrained", CLIP), ("prompt", SENTENCE)) if kind != of}


def in_parts(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the initial values of the page's form, given the whole name of a model."""
    asked = asked if asked.get("model") else {**asked, **START}
    kind, colon, name = (whole := asked.get("model", "")).partition(":")
    if any(whole == model.asked for model in TrainedModel.objects.all()[:LISTED]):
        return {**asked, "kind": TRAINED, "trained": whole, "model": ""}
    return {**asked, "kind": kind, "model": name} if colon and kind in KINDS else {**asked, "kind": CLIP}


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def score_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk)
    asked = asked_before(request, *score.MEASURES)
    if "seeds" in asked:
        asked.setdefault("measure", score.RETRIEVAL)  # from jobs before there were order tasks
    form = ScoreForm(request.POST or None, initial=in_parts({"model": request.GET.get("model", "")} | asked))
    return benchmark_order_page(request, "scoring/new.html", form, benchmark, score.queue_score)


class AskForm(OrderForm):
    """The worker connects from inside the network, so only endpoints configured by the administrator can be chosen."""

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
    """Show the form; with `estimate`, the estimated requests and cost of asking."""
    benchmark, asked = permissions.benchmark_for(request.user, pk), asked_before(request, ask.KIND).get("order", {})
    form = AskForm(request.POST or None, initial=asked)
    return benchmark_order_page(request, "scoring/ask.html", form, benchmark, ask.queue_ask, estimate=ask.estimate_for)
