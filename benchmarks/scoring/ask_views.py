"""The page for asking an endpoint a benchmark's questions."""

from typing import cast

from django import forms
from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from benchmarks import permissions
from benchmarks.audit import named
from benchmarks.jobs.orders import OrderForm
from benchmarks.jobs.views import asked_before, order_page
from benchmarks.models import Job
from benchmarks.permissions import StaffRequest
from benchmarks.records import Refused
from benchmarks.scoring import ask


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
    user, template = request.user, "scoring/ask.html"
    if "estimate" in request.POST and form.is_valid():
        try:
            found = ask.estimate_for(benchmark, form.order)
        except Refused as refusal:
            form.add_error(None, refusal.problems[0].advice)
        else:
            context = {"section": "benchmarks", "form": form, "benchmark": benchmark, "estimate": found}
            return render(request, template, context)

    def queue() -> Job:
        return ask.queue_ask(benchmark=benchmark, order=form.order, by=named(user), created_by=user)

    return order_page(request, template, form, queue, benchmark=benchmark)
