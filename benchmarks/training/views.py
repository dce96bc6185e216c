"""The page for training a model on a benchmark, with the presets, an estimate and the models trained so far."""

from django import forms
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.jobs.orders import OrderForm
from benchmarks.jobs.views import asked_before, benchmark_order_page
from benchmarks.models import Benchmark, TrainedModel
from benchmarks.permissions import StaffRequest
from benchmarks.training import train
from benchmarks.training.released import to_train_on
from workers.models.presets import PRESETS

SHOWN = 20  # trained models


class TrainForm(OrderForm):
    """Offers the releases that the user may train on, and a default base model."""

    takes = train.TrainOrder

    def __init__(self, *args, releases: list[str], initial: dict, **kwargs):
        super().__init__(*args, initial={"model": "ViT-B-32-quickgelu", "pretrained": "openai"} | initial, **kwargs)
        choices = [("", "The whole benchmark"), *((title, title) for title in releases)]
        described = self.fields["release"]
        self.fields["release"] = forms.ChoiceField(
            required=False, choices=choices, label=described.label, help_text=described.help_text
        )


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def train_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk)
    asked = asked_before(request, train.KIND)
    asked |= _changes(asked["settings"]) if asked else {}
    form = TrainForm(
        request.POST or None, initial=asked, releases=[one.title for one in to_train_on(benchmark, request.user)]
    )
    return benchmark_order_page(
        request, "training/new.html", form, benchmark, train.queue_train,
        presets=presets_for(benchmark), trained=TrainedModel.objects.all()[:SHOWN],
    )  # fmt: skip


def _changes(settings: dict) -> dict:
    """Return a job's preset and the settings that differ from it, because empty fields are the preset's."""
    usual = PRESETS[settings["preset"]].settings.as_json()
    other = {name for name in train.CHANGES if settings.get(name, usual[name]) != usual[name]}
    other |= {"epochs"} if settings["image_epochs"] != usual["image_epochs"] else set()
    found = {name: settings[name] for name in ("preset", *other)}
    return found | ({"rates": ", ".join(map(str, found["rates"]))} if "rates" in found else {})


def presets_for(benchmark: Benchmark) -> list[dict]:
    """Return each preset with its numbers, and its duration on the benchmark at the pace of its last training."""
    return [
        {"preset": preset, "settings": preset.settings, "seconds": train.estimate(benchmark, preset.settings)}
        for preset in PRESETS.values()
    ]
