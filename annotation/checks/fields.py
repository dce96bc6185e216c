"""Form fields for checks and qualification, shared with the forms that set up a study."""

from django import forms

from annotation.models import OnFailure
from annotation.wording import exact

FAILURES = {OnFailure.FLAG: "may continue; you are warned", OnFailure.SCREEN_OUT: "is screened out"}


class PercentField(forms.FloatField):
    """A share, shown and entered in percent."""

    def __init__(self, max_value: float = 100, **rest):
        super().__init__(min_value=0, max_value=max_value, **rest)
        self.widget.attrs["step"] = "any"

    def clean(self, value):
        percent = super().clean(value)
        return None if percent is None else percent / 100

    def has_changed(self, initial, data):
        shown = self.prepare_value(initial)
        return super().has_changed(float(shown) if isinstance(initial, float) else shown, data)

    def prepare_value(self, value):
        return exact(round(value * 100, 9)) if isinstance(value, float) else value
