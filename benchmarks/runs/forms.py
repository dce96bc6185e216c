"""Forms for the pages that import predictions and reported scores."""

from django import forms

from benchmarks.jobs.columns import AnswersForm
from benchmarks.jobs.forms import check_length, fits
from benchmarks.predictions.columns import PredictionsMapping
from benchmarks.predictions.kinds import KINDS
from benchmarks.runs.import_predictions import TAKEN, PredictionsOrder
from benchmarks.runs.published_tables import tables_for

KIND_CHOICES = [(kind.name, kind.title) for kind in TAKEN]


class PredictionsForm(AnswersForm):
    takes, mapped = PredictionsOrder, PredictionsMapping


class ReportedForm(forms.Form):
    """Either a file of scores, or tables included in Winnow."""

    kind = forms.ChoiceField(choices=KIND_CHOICES)
    tables = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    file = forms.FileField(required=False, allow_empty_file=True)

    def __init__(self, *args, kind: str, **kwargs):
        super().__init__(*args, **kwargs)
        asked = self.data.get("kind") if self.is_bound else kind
        self.offered = tables_for(asked if asked in KINDS else kind)
        tables = self.fields["tables"]
        assert isinstance(tables, forms.ChoiceField)
        tables.choices = [(table.name, table.title) for table in self.offered]

    def clean_file(self):
        file = self.cleaned_data["file"]
        if file:
            check_length(file.name)
            if not fits(file.name, (".csv", ".json")):
                raise forms.ValidationError("Provide reported scores as a .csv or .json file.")
        return file

    def clean(self) -> None:
        given = self.cleaned_data
        if not self.errors and bool(given.get("file")) == bool(given.get("tables")):
            raise forms.ValidationError("Choose either tables or a file.")
