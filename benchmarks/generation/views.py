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
from benchmarks.jobs.orders import OrderForm, default_of
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest
from benchmarks.records import Refused


class CaptionForm(OrderForm):
    """Only endpoints that the server's administrator named can be chosen, since the worker connects to them from inside
    the network. The share of captions to keep is asked in percent."""

    takes, not_asked = captions.CaptionOrder, ("share", "parallel", "timeout")
    address = forms.ChoiceField(
        required=False, label="Where the model runs",
        help_text="Your administrator names endpoints in `WINNOW_LLM_ENDPOINTS`.",
    )  # fmt: skip
    percent = forms.FloatField(
        min_value=0.01, max_value=100, initial=100 * default_of(captions.CaptionOrder, "share"),
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
    """The fields of an earlier job, so that its answers can be used again."""
    if asked := asked_before(request, captions.KIND):
        return asked["order"] | {"percent": 100 * asked["order"]["share"]}
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
