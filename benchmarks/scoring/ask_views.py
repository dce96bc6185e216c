"""The page for asking an endpoint a benchmark's questions."""

from typing import cast

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs.forms import DescribedForm
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest
from benchmarks.records import Refused
from benchmarks.scoring import ask
from workers.models.model_name import LONGEST


class AskForm(DescribedForm):
    """The endpoint, one of those that the administrator has named, its model and its prices."""

    address = forms.ChoiceField()
    model = forms.CharField(max_length=LONGEST)
    prompt_price = forms.FloatField(min_value=0, max_value=1e6, initial=0)
    answer_price = forms.FloatField(min_value=0, max_value=1e6, initial=0)
    max_tokens = forms.IntegerField(min_value=1, max_value=4096, initial=ask.TOKENS)

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        addresses = cast("forms.ChoiceField", self.fields["address"])
        addresses.choices = [(address, address) for address in settings.LLM_ENDPOINTS]
        self.fields["model"].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}

    def order(self) -> ask.AskOrder:
        said = self.cleaned_data
        prices = (said["prompt_price"], said["answer_price"])
        return ask.AskOrder(said["address"], said["model"], prices, said["max_tokens"])


@require_http_methods(["GET", "HEAD", "POST"])
@permissions.staff_only
def ask_new(request: StaffRequest, pk: int) -> HttpResponse:
    """The form; with `estimate`, what asking would take and cost."""
    benchmark, asked = permissions.benchmark_for(request.user, pk), asked_before(request, ask.KIND).get("order", {})
    asked |= dict(zip(("prompt_price", "answer_price"), asked.get("prices", ()), strict=False))
    form = AskForm(request.POST or None, initial=asked)
    user, template = request.user, "scoring/ask.html"
    if "estimate" in request.POST and form.is_valid():
        try:
            found = ask.estimate_for(benchmark, form.order())
        except Refused as refusal:
            form.add_error(None, refusal.problems[0].advice)
        else:
            context = {"section": "benchmarks", "form": form, "benchmark": benchmark, "estimate": found}
            return render(request, template, context)

    def queue() -> Job:
        return ask.queue_ask(benchmark=benchmark, order=form.order(), by=named(user), created_by=user)

    return order_page(request, template, form, queue, benchmark=benchmark)
