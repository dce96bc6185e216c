"""The form for a new study itself, and for the part of the benchmark it asks about."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from annotation.designs import part
from annotation.models import Study, StudyState, StudyTemplate
from annotation.studies import role_counts
from annotation.studies.instructions import LANGUAGES
from annotation.studies.role_counts import RoleCounts
from annotation.studies.setup_forms import TextField, checked, cleaned, offer, several, switch
from benchmarks import queries
from benchmarks.models import Benchmark, Item
from benchmarks.naming import kind_name
from benchmarks.records import ItemRecord

MOST_TYPES = 100  # on the page


def _read(read: Callable[[str], object], text: str) -> str:
    """Return the text, if it can be read. Raises ValidationError."""
    try:
        read(text)
    except part.WrongPart as refusal:
        raise forms.ValidationError(str(refusal)) from None
    return text


class StudyForm(forms.Form):
    name = forms.CharField(
        label="Study name", max_length=Study._meta.get_field("name").max_length,
        help_text="Members see it in lists, reports and releases; annotators too, unless you enter a title for them.",
    )  # fmt: skip
    title = forms.CharField(
        label="Title for annotators", max_length=120, required=False,
        help_text="Annotators see it instead of the name. It should not hint at the answers.",
    )  # fmt: skip
    benchmark = forms.ModelChoiceField(Benchmark.objects.all(), empty_label=None)
    pay_per_hour = forms.DecimalField(
        label="Pay per hour", max_digits=7, decimal_places=2, min_value=0,
        help_text="0: unpaid. Annotators see any pay before they join; the plan includes it. Winnow pays nobody.",
    )  # fmt: skip
    currency = forms.CharField(min_length=3, max_length=3)
    language = forms.ChoiceField(
        choices=LANGUAGES.items(), initial="en", required=False,
        help_text="The language of your own texts and of the captions. Annotators can read all pages in six languages.",
    )  # fmt: skip
    consent = TextField(
        3, label="Consent", required=False,
        help_text="In Markdown. Annotators agree to it when they join, and again if it changes. Empty: no consent.",
    )  # fmt: skip
    paused = switch("Start paused: nobody can join until you open the study")

    part_types = several("Only items of these types")
    part_roles = forms.CharField(label="Only items with these numbers of parts", required=False, widget=RoleCounts)
    part_attributes = forms.CharField(
        label="Only items with these attributes", required=False,
        help_text="For example style=oil|ink: the attribute, then the values to keep.",
    )  # fmt: skip
    part_keys = TextField(
        3, label="Only items with these keys", required=False, help_text="One key per line; paste or choose a file."
    )
    part_sample = forms.IntegerField(
        label="Random sample for all stages", required=False, min_value=1,
        help_text="Drawn once from these items; a stage’s own sample is drawn from this one. Leave empty to use all.",
    )  # fmt: skip

    save_as = forms.CharField(
        label="Name of the template",
        max_length=StudyTemplate._meta.get_field("name").max_length,
        required=False,
        help_text="All managers can start new studies from it. It has every setting on this page except the study’s "
        "name and benchmark.",
    )

    saves_template = False
    has_stages = True  # more than one, since a single stage's own sample does the same
    OF_STEP = {
        "texts": ("name", "title", "language", "consent", "paused", "save_as"),
        "question": ("benchmark", NON_FIELD_ERRORS),
    }
    PART = ("part_types", "part_roles", "part_attributes", "part_keys", "part_sample")

    def step_of(self, name: str) -> str:
        return next((step for step, names in self.OF_STEP.items() if name in names), "people")

    def offer_parts(self, benchmark: str, first: ItemRecord | None) -> None:
        """Offer the types and subtypes of the benchmark's items, and the roles in the `first`."""
        self.fields["benchmark"].queryset = queries.on_offer(benchmark)  # type: ignore[attr-defined]
        self.fields["part_roles"].widget.roles = role_counts.of_item(first)  # type: ignore[attr-defined]
        found = queries.kinds(Item.objects.filter(benchmark=int(benchmark or 0)))
        types = Counter[str]()
        for kind in found:
            types[kind["type"]] += kind["count"]
            types[f"{kind['type']}/{kind['subtype']}"] += kind["count"] if kind["subtype"] else 0
        named = sorted((one, count) for one, count in types.items() if count and one)
        words = [(one, f"{kind_name(*one.split('/', 1))} ({count:,})") for one, count in named[:MOST_TYPES]]
        offer(self, "part_types", words)

    @property
    def of_part(self) -> list[forms.BoundField]:
        has_types = bool(self.fields["part_types"].choices)  # type: ignore[attr-defined]
        fields = [self[name] for name in self.PART if has_types or name != "part_types"]
        return [one for one in fields if self.has_stages or one.name != "part_sample" or one.value()]

    @property
    def part_is_open(self) -> bool:
        return any(field.errors or field.value() for field in self.of_part)

    def chosen_part(self) -> part.Part:
        """Return the choice of items, as far as the input is valid."""
        given = self.cleaned_data if self.is_bound else cleaned(self, self.initial)
        return part.part_of(**{name.removeprefix("part_"): given[name] for name in self.PART if given.get(name)})

    def clean_part_roles(self) -> str:
        return role_counts.readable(self.cleaned_data["part_roles"])

    def clean_part_attributes(self) -> str:
        return _read(part.read_attributes, self.cleaned_data["part_attributes"])

    def clean_part_keys(self) -> str:
        return _read(part.read_keys, self.cleaned_data["part_keys"])

    def become_template(self) -> None:
        """Turn the form into a template's, which has no study name or benchmark."""
        self.saves_template = True
        self.fields["name"].required = self.fields["benchmark"].required = False
        self.fields["save_as"].required = True

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        if not self.saves_template and Study.objects.filter(name=name).exists():
            raise forms.ValidationError("A study with this name already exists. Choose another name.", "name_taken")
        return name

    def clean_consent(self) -> str:
        return checked(self.cleaned_data["consent"])

    def clean_currency(self) -> str:
        return self.cleaned_data["currency"].upper()

    def clean_language(self) -> str:
        return self.cleaned_data["language"] or "en"

    def clean_benchmark(self) -> Benchmark:
        benchmark = self.cleaned_data["benchmark"]
        if not self.saves_template and not benchmark.present.exists():
            raise forms.ValidationError("This benchmark has no items. Choose another one.")
        return benchmark

    def of_study(self) -> dict:
        """Return the arguments of `studies.lifecycle.create_study` except the stages."""
        given: dict[str, Any] = {name: value for name, value in self.cleaned_data.items() if name not in self.PART}
        given["part"] = self.chosen_part()
        state = StudyState.PAUSED if given.pop("paused") else StudyState.OPEN
        del given["save_as"]
        return {**given, "state": state}
