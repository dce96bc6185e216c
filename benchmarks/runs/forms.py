"""What the pages ask for that take predictions and reported figures in."""

from django import forms

from benchmarks.jobs.upload_fields import FilesField, check_length, fits, named_once
from benchmarks.models import Run
from benchmarks.predictions.kinds import KINDS
from benchmarks.predictions.reading import join_or
from benchmarks.predictions.registry import endings
from benchmarks.runs.import_predictions import TAKEN
from benchmarks.runs.paper_tables import tables_for

KIND_CHOICES = [(kind.name, kind.title) for kind in TAKEN]


class Described(forms.Form):
    """A form whose fields name their errors to screen readers."""

    def full_clean(self) -> None:
        super().full_clean()
        for name, field in self.fields.items():
            if name in (self._errors or {}):
                field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"{name}-error"}


def on_one_line(text: str) -> str:
    if not text.isprintable():
        raise forms.ValidationError("Write this on one line, without control characters.")
    return text


class PredictionsForm(Described):
    model = forms.CharField(max_length=Run._meta.get_field("title").max_length)
    source = forms.CharField(max_length=Run._meta.get_field("source").max_length)
    files = FilesField(allow_empty_file=True)
    kind = forms.ChoiceField(choices=KIND_CHOICES)
    skip_incomplete = forms.BooleanField(required=False)
    blind = forms.BooleanField(required=False)

    def clean_model(self) -> str:
        return on_one_line(self.cleaned_data["model"])

    def clean_source(self) -> str:
        return on_one_line(self.cleaned_data["source"])

    def clean_files(self) -> list:
        return named_once(self.cleaned_data["files"])

    def clean(self) -> dict:
        cleaned = super().clean()
        kind = KINDS.get(cleaned.get("kind", ""))
        wrong = [one.name for one in cleaned.get("files", []) if kind and not fits(one.name, tuple(endings(kind)))]
        if wrong:
            advice = f"Predictions on {kind.title} end in {join_or(endings(kind))}, not “{wrong[0]}”."
            self.add_error("files", advice)
        return cleaned


class ReportedForm(Described):
    """A file of figures, or tables that Winnow carries; one of the two."""

    kind = forms.ChoiceField(choices=KIND_CHOICES)
    tables = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    file = forms.FileField(required=False, allow_empty_file=True)

    def __init__(self, *args, kind: str, **kwargs):
        super().__init__(*args, **kwargs)
        asked = self.data.get("kind") if self.is_bound else kind
        self.offered = tables_for(asked if asked in KINDS else kind)
        self.fields["tables"].choices = [(table.name, table.title) for table in self.offered]

    def clean_file(self):
        file = self.cleaned_data["file"]
        if file:
            check_length(file.name)
            if not fits(file.name, (".csv", ".json")):
                raise forms.ValidationError("Reported figures are a .csv or a .json file.")
        return file

    def clean(self) -> dict:
        cleaned = super().clean()
        if not self.errors and bool(cleaned.get("file")) == bool(cleaned.get("tables")):
            raise forms.ValidationError("Choose tables or give a file, one of the two.")
        return cleaned
