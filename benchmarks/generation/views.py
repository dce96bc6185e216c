"""The pages for making captions with a language model and for generating candidate images."""

from typing import Any

from django import forms
from django.conf import settings
from django.forms.boundfield import BoundWidget
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.construction.prompts import EXAMPLES, KINDS
from benchmarks.generation import caption_order, images
from benchmarks.jobs.orders import OrderForm, default_of
from benchmarks.jobs.views import asked_before, benchmark_order_page
from benchmarks.permissions import StaffRequest


class CaptionForm(OrderForm):
    """Only endpoints that the server's administrator named can be chosen, because the worker connects to them from
    inside the network. The share of captions to keep is in percent."""

    takes, not_asked = caption_order.CaptionOrder, ("share", "parallel", "timeout")
    address = forms.ChoiceField(
        required=False,
        label="Where the model runs",
        help_text="Your administrator can add endpoints of other providers.",
    )
    percent = forms.FloatField(
        min_value=0.01, max_value=100, initial=100 * default_of(caption_order.CaptionOrder, "share"),
        label="Best captions to keep, in percent", help_text="By the mean of both scores. Only with a classifier.",
    )  # fmt: skip

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        address = self.fields["address"]
        assert isinstance(address, forms.ChoiceField)
        own = ("", "a model on this server’s workers")
        address.choices = [own, *((one, one) for one in settings.LLM_ENDPOINTS)]

    def values(self) -> dict[str, Any]:
        given = super().values()
        prompt = given["prompt"] if given["prompt"].strip() else ""
        return given | {"prompt": prompt, "share": self.cleaned_data["percent"] / 100}


def _initial(request: StaffRequest, benchmark: str) -> dict[str, Any]:
    """Return the fields of an earlier job, so that its answers can be used again."""
    if asked := asked_before(request, caption_order.KIND):
        return asked["order"] | {"percent": 100 * asked["order"]["share"]}
    return {"name": f"{benchmark[:100]}, generated"}


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def captions_new(request: StaffRequest, pk: int) -> HttpResponse:
    """Show the form. Its button *Estimate* shows questions, tokens and cost without starting anything."""
    benchmark = permissions.benchmark_for(request.user, pk)
    form = CaptionForm(request.POST or None, initial=_initial(request, benchmark.name))
    return benchmark_order_page(
        request, "generation/new.html", form, benchmark, caption_order.queue_captions, caption_order.estimate_for,
        kinds=_kinds(form),
    )  # fmt: skip


def _kinds(form: CaptionForm) -> dict[str, list[tuple[BoundWidget, str, str]]]:
    """Return the kinds of caption in groups: the checkbox of each, its effect, and an example."""
    negatives = "hard negatives, as in SugarCrepe: no longer true of the image"
    positives = "second positives, as in VISLA and Hard Positive Truth: still true of the image"
    groups: dict[str, list[tuple[BoundWidget, str, str]]] = {negatives: [], positives: []}
    for box in form["kinds"]:
        kind = KINDS[str(box.data["value"])]
        title, example = kind.says.partition(" (")[0], " → ".join(EXAMPLES[kind.name][0][:: len(kind.lines)])
        group, _, change = title.replace(" in which ", " with ", 1).partition(" with ")
        groups[negatives if group == "hard negatives" else positives].append((box, change or title, example))
    return groups


class ImagesForm(OrderForm):
    """Images to generate; the worker checks whether the pipeline exists."""

    takes = images.ImagesOrder


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def images_new(request: StaffRequest, pk: int) -> HttpResponse:
    benchmark = permissions.benchmark_for(request.user, pk, change=True)
    form = ImagesForm(request.POST or None, initial=asked_before(request, images.KIND))
    return benchmark_order_page(request, "generation/new_images.html", form, benchmark, images.queue_images)
