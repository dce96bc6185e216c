"""The page for making captions with a language model."""

from typing import Any

from django import forms
from django.conf import settings
from django.forms.boundfield import BoundWidget
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.construction.prompts import KINDS
from benchmarks.generation import captions
from benchmarks.jobs.forms import DescribedForm
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest
from benchmarks.records import Refused
from workers.models.model_name import LONGEST

USUAL = captions.CaptionOrder("", (), "")
AS_ORDERED = (  # fields that an order has under the same name
    "name", "kinds", "address", "model", "temperature", "max_tokens", "seed", "prompt", "plausibility", "grammar",
    "refine", "check", "format_captions", "device",
)  # fmt: skip


class CaptionForm(DescribedForm):
    """What to make. Only endpoints that the server's administrator named can be chosen, since the worker connects to
    them from inside the network."""

    name = forms.CharField(max_length=120)
    kinds = forms.MultipleChoiceField(choices=[(name, name) for name in KINDS], widget=forms.CheckboxSelectMultiple)
    address = forms.ChoiceField(required=False)
    model = forms.CharField(max_length=LONGEST)
    temperature = forms.FloatField(required=False, min_value=0, max_value=2)
    max_tokens = forms.IntegerField(min_value=1, max_value=4096, initial=USUAL.max_tokens)
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=USUAL.seed)
    prompt = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 6}), strip=False)
    plausibility = forms.CharField(max_length=LONGEST, required=False)
    grammar = forms.CharField(max_length=LONGEST, required=False)
    percent = forms.FloatField(min_value=0.01, max_value=100, initial=100 * USUAL.share)
    refine = forms.BooleanField(required=False)
    check = forms.BooleanField(required=False)
    format_captions = forms.BooleanField(required=False, initial=True)
    input_price = forms.FloatField(min_value=0, max_value=1e6, required=False)
    output_price = forms.FloatField(min_value=0, max_value=1e6, required=False)
    device = forms.CharField(max_length=8, initial="auto")

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        address = self.fields["address"]
        assert isinstance(address, forms.ChoiceField)
        own = ("", "a model on this server’s workers")
        address.choices = [own, *((one, one) for one in settings.LLM_ENDPOINTS)]
        for name in ("model", "plausibility", "grammar", "device"):
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        for name in ("temperature", "percent", "input_price", "output_price"):
            self.fields[name].widget.attrs["step"] = "any"

    @property
    def order(self) -> captions.CaptionOrder:
        """What the valid form asks for."""
        given = self.cleaned_data
        prices = (given["input_price"] or 0.0, given["output_price"] or 0.0)
        wanted = {name: given[name] for name in AS_ORDERED}
        wanted["prompt"] = given["prompt"] if given["prompt"].strip() else ""
        return captions.CaptionOrder(**wanted, share=given["percent"] / 100, prices=prices)


def _initial(request: StaffRequest, benchmark: str) -> dict[str, Any]:
    """The fields of an earlier job, so that its answers can be used again."""
    if asked := asked_before(request, captions.KIND):
        order = captions.CaptionOrder(**asked["order"])
        found = {name: getattr(order, name) for name in AS_ORDERED} | {"percent": 100 * order.share}
        return found | dict(zip(("input_price", "output_price"), order.prices, strict=True))
    return {"name": f"{benchmark[:100]}, generated"}


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def captions_new(request: StaffRequest, pk: int) -> HttpResponse:
    """The form. Its button *Estimate* shows the questions, tokens and cost, and starts nothing."""
    benchmark, user = permissions.benchmark_for(request.user, pk), request.user
    form = CaptionForm(request.POST or None, initial=_initial(request, benchmark.name))
    context: dict[str, Any] = {"benchmark": benchmark, "kinds": _kinds(form)}
    if "estimate" in request.POST and form.is_valid():
        try:
            order = captions.check_order(benchmark, form.order)
            context |= {"estimate": captions.estimate_for(benchmark, order)}
        except Refused as refusal:
            form.add_error(None, refusal.problems[0].advice)
        context |= {"section": "benchmarks", "form": form}
        return render(request, "generation/new.html", context, status=422 if form.errors else 200)

    def queue() -> Job:
        return captions.queue_captions(benchmark=benchmark, order=form.order, by=named(user), created_by=user)

    return order_page(request, "generation/new.html", form, queue, **context)


def _kinds(form: CaptionForm) -> list[tuple[BoundWidget, str]]:
    """Each kind's checkbox, and what it makes."""
    return [(box, KINDS[str(box.data["value"])].says) for box in form["kinds"]]
