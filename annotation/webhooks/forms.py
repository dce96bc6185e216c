"""The forms of a webhook's page."""

from django import forms

from annotation.models import Study, Webhook
from annotation.webhooks.endpoints import types_of
from benchmarks.models import Benchmark
from benchmarks.seen import SeenForm


class WebhookForm(SeenForm):
    """Adds or changes a webhook. Without any type chosen, it gets all events."""

    url = forms.CharField(
        label="Address", max_length=500, widget=forms.URLInput(attrs={"autocomplete": "off"}),
        help_text="An https:// address of your program that this server can reach.",
    )  # fmt: skip
    types = forms.MultipleChoiceField(label="Events", required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, data=None, *, owner: Study | Benchmark, webhook: Webhook | None = None):
        # Before the base class looks for errors
        types = forms.MultipleChoiceField(
            label="Events", required=False, widget=forms.CheckboxSelectMultiple, choices=list(types_of(owner).items())
        )
        self.base_fields = {**type(self).base_fields, "types": types}  # type: ignore[misc]  # Django copies them
        super().__init__(data, initial={"url": webhook.url, "types": webhook.types} if webhook else None)


class SinceForm(forms.Form):
    since = forms.DateTimeField(
        label="Since", widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    )
