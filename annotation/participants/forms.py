"""What the page of participants asks for."""

from django import forms

from annotation.studies.forms import ErrorsAtFields
from annotation.wording import REASON_LENGTH

MOST_BYTES = 5_000_000


class CodesForm(ErrorsAtFields):
    completion_code = forms.CharField(max_length=40, label="Finished")
    screened_out_code = forms.CharField(max_length=40, label="Screened out")
    no_consent_code = forms.CharField(max_length=40, label="Did not agree")


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=REASON_LENGTH,
        error_messages={"required": "Say why, in a few words; it is stored with the decision."},
    )


class ReturnedForm(ErrorsAtFields):
    file = forms.FileField(label="Prolific's export (CSV)")

    def clean_file(self):
        sent = self.cleaned_data["file"]
        if sent.size > MOST_BYTES:
            raise forms.ValidationError("The file is larger than 5 MB.")
        return sent
