"""What the pages of a study ask for."""

from django import forms

from annotation.models import Stage, Study, TieRule
from annotation.plans import StagePlan
from annotation.protocols.registry import PROTOCOLS
from benchmarks.models import Benchmark, Item

TIES = {
    TieRule.DROP: "drop the item as an unresolved tie",
    TieRule.FIRST: "take the kind of answer that came first",
    TieRule.NONE: "count it as None",
}


def limits(model, name: str) -> dict[str, int]:
    """The model field's own bounds, as a form field takes them."""
    bounds = {validator.code: validator.limit_value for validator in model._meta.get_field(name).validators}
    return {name: bounds[name] for name in ("min_value", "max_value") if name in bounds}


class ErrorsAtFields(forms.Form):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            described = [f"{name}-hint"] if name in self.hinted else []
            if name in self.errors:
                field.widget.attrs["aria-invalid"] = "true"
                described.append(f"{name}-error")
            if described:
                field.widget.attrs["aria-describedby"] = " ".join(described)

    hinted: frozenset[str] = frozenset()


class StudyForm(ErrorsAtFields):
    hinted = frozenset({"name", "overlap", "quota", "lease_seconds", "pay_per_hour", "instructions"})

    name = forms.CharField(max_length=Study._meta.get_field("name").max_length)
    benchmark = forms.ModelChoiceField(Benchmark.objects.all(), empty_label=None)
    protocol = forms.ChoiceField(choices=[(protocol.name, protocol.title) for protocol in PROTOCOLS.values()])
    overlap = forms.IntegerField(initial=2, **limits(Stage, "overlap"))
    tie_rule = forms.ChoiceField(choices=TIES.items(), initial=TieRule.DROP)
    quota = forms.IntegerField(required=False, **limits(Stage, "quota"))
    lease_seconds = forms.IntegerField(initial=600, **limits(Stage, "lease_seconds"))
    pay_per_hour = forms.DecimalField(initial=0, max_digits=7, decimal_places=2, min_value=0)
    currency = forms.CharField(initial="USD", min_length=3, max_length=3)
    auto_advance = forms.BooleanField(required=False)
    instructions = forms.CharField(widget=forms.Textarea(attrs={"rows": 16}))

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if Study.objects.filter(name=name).exists():
            raise forms.ValidationError("There is a study of this name already.")
        return name

    def clean_currency(self) -> str:
        return self.cleaned_data["currency"].upper()

    def clean_benchmark(self) -> Benchmark:
        benchmark = self.cleaned_data["benchmark"]
        if not Item.objects.filter(benchmark=benchmark).exists():
            raise forms.ValidationError("This benchmark has no items.")
        return benchmark

    def plan(self) -> dict:
        """What `studies.create_study` takes."""
        given = dict(self.cleaned_data)
        of_study = {name: given.pop(name) for name in ("name", "benchmark", "pay_per_hour", "currency")}
        stage = StagePlan(given.pop("protocol"), instructions=given.pop("instructions"), settings=given)
        return {**of_study, "stages": [stage]}


class InstructionsForm(ErrorsAtFields):
    hinted = frozenset({"text"})

    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 22}))
