"""The forms on a named stage's page: new annotators, and the items to assign."""

from django import forms

from annotation.assignment import by_name
from annotation.models import Annotator, Stage
from benchmarks import queries
from benchmarks.models import Item
from benchmarks.naming import kind_name


class PeopleForm(forms.Form):
    """Annotators added in advance, one per line."""

    THIS, EVERY = "stage", "study"

    names = forms.CharField(
        label="Names, one per line",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="Only managers see these names; exports use A-01, A-02 … Each annotator gets a personal link.",
    )
    leads_to = forms.ChoiceField(
        label="Their links open", choices=[(THIS, "this stage only"), (EVERY, "every stage of the study")]
    )

    def clean_names(self) -> list[str]:
        names = [name.strip() for name in self.cleaned_data["names"].splitlines() if name.strip()]
        longest = Annotator._meta.get_field("name").max_length
        assert longest is not None
        if any(len(name) > longest for name in names):
            raise forms.ValidationError(f"A name can have at most {longest} characters.")
        return names


class _AnnotatorsField(forms.ModelMultipleChoiceField):
    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, annotator: Annotator) -> str:
        return f"{annotator.pseudonym} {annotator.name}".strip()


class AssignForm(forms.Form):
    """Choose who gets which items. `keys` lists items if `which` is KEYS; a kind is `type/subtype`."""

    KEYS, ALL, FREE = "these", "all", "free"

    def __init__(self, stage: Stage, data=None):
        super().__init__(data)
        self.stage = stage
        self.items = Item.objects.filter(pk__in=stage.tasks.filter(kind="judge", live=True).values("item"))
        self.kinds = {f"{row['type']}/{row['subtype']}": row for row in queries.kinds(self.items)}
        kinds = [
            (kind, f"all {kind_name(row['type'], row['subtype'], 'without a type')} ({row['count']:,})")
            for kind, row in self.kinds.items()
            for kind, row in self.kinds.items()
        ]
        fixed = [(self.KEYS, "these keys"), (self.ALL, "all items of the stage"), (self.FREE, "all unassigned items")]
        people = stage.study.annotators.filter(left_at=None, excluded_at=None)
        self.fields["annotators"] = _AnnotatorsField(people)
        self.fields["which"] = forms.ChoiceField(label="Items", choices=fixed + (kinds if len(kinds) > 1 else []))
        self.fields["keys"] = forms.CharField(
            label="Keys, one per line",
            required=False,
            widget=forms.Textarea(attrs={"rows": 5}),
            help_text="The items’ keys from the import. Used only with “these keys” above.",
        )

    def chosen(self) -> list[str]:
        """Return the keys of the chosen items."""
        which, items = self.cleaned_data["which"], self.items.order_by("position")
        if which == self.KEYS:
            return [key.strip() for key in self.cleaned_data["keys"].splitlines() if key.strip()]
        if which == self.FREE:
            return list(by_name.unassigned(self.stage))
        if which in self.kinds:
            items = items.filter(type=self.kinds[which]["type"], subtype=self.kinds[which]["subtype"])
        return list(items.values_list("key", flat=True))
