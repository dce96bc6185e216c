"""The settings form: the study's settings and each stage's, named `overlap_1` and so on."""

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from typing import Any

from django import forms

from annotation.checks import setup
from annotation.checks.gold_items import CannotSet
from annotation.models import Stage, Study
from annotation.studies import settings
from annotation.studies.setup_forms import StageForm
from annotation.studies.study_form import StudyForm
from benchmarks.seen import SeenForm

OF_STUDY = ("name", "title", "consent", "pay_per_hour", "currency")
OF_STAGE = ("overlap", "quota", "tie_rule", "check_rate")
HINTS = {
    "pay_per_hour": "For judgments from now on. Annotators see it before they join.",
    "currency": "Three letters, such as EUR. Can change until the first judgment.",
    "overlap": "Can only grow. Items without an outcome get more; settled items stay settled.",
    "quota": "The most tasks one person can get. Leave empty for no limit.",
    "tie_rule": "Can change until it has settled a tie. Also settles ties waiting for a decision by hand.",
    "check_rate": "The share of tasks with a known answer. Applies from the next task on.",
}


class StudySettingsForm(SeenForm, StudyForm):
    """The form; a `locked` field shows the reason and doesn't accept another value."""

    def __init__(self, data=None, *, study: Study, stages: Sequence[Stage]):
        self.study, self.stages = study, stages
        of_study, of_stages = settings.locked(study), settings.locked_in(stages)
        fields = {name: _field(StudyForm, name, getattr(study, name), of_study) for name in OF_STUDY}
        if of_study.get("currency"):  # has no separate field on the page
            fields["pay_per_hour"].help_text = f"In {study.currency}. {HINTS['pay_per_hour']}"
        for stage in stages:
            for name in OF_STAGE:
                field = _field(StageForm, name, getattr(stage, name), of_stages[stage.pk])
                field.label = f"{field.label}{f', stage {stage.position}' if len(stages) > 1 else ''}"
                fields[f"{name}_{stage.position}"] = field
            _bound(fields[f"overlap_{stage.position}"], stage.overlap, settings.most_judgments(stage))
        self.base_fields = fields  # type: ignore[misc]  # Django copies them into `fields`
        super().__init__(data, initial={name: field.initial for name, field in fields.items()})
        for name, field in self.fields.items() if self.is_bound else ():
            field.widget.attrs["data-stored"] = field.prepare_value(self.initial[name]) or ""

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        return name if name == self.study.name else super().clean_name()

    def clean(self) -> None:
        """Refuse changes of locked fields: a page opened before a field was locked may send another value."""
        for name in self.data.keys() & self.fields.keys():
            field = copy(self.fields[name])
            field.disabled = False
            if field.locked and field.has_changed(self.initial[name], self.data[name]):  # type: ignore[attr-defined]
                self.add_error(name, field.locked)  # type: ignore[attr-defined]

    def of_stage(self, stage: Stage) -> Mapping[str, forms.BoundField]:
        return {name: self[f"{name}_{stage.position}"] for name in OF_STAGE}

    def locked(self) -> list[forms.BoundField]:
        return [field for field in self if field.field.locked]  # type: ignore[attr-defined]

    def changed_labels(self) -> list[str]:
        return [str(self.fields[name].label).lower() for name in self.changed_data if name in self.fields]

    def _changed(self, names: Sequence[str], place: str = "") -> dict[str, Any]:
        return {name: self.cleaned_data[f"{name}{place}"] for name in names if f"{name}{place}" in self.changed_data}

    def save(self, by: str) -> bool:
        """Store the changes; return whether there were any. All or nothing: the caller rolls back."""
        place = ""
        try:
            settings.change_study(study=self.study, by=by, **self._changed(OF_STUDY))
            for stage in self.stages:
                place = f"_{stage.position}"
                given = self._changed(OF_STAGE, place)
                rate = given.pop("check_rate", stage.check_rate)
                settings.change_stage(stage=stage, by=by, **given)
                if rate != stage.check_rate:
                    setup.revise(stage=stage, by=by, check_rate=rate)
        except settings.CannotChange as refusal:
            self.add_error(f"{refusal.name}{place}", str(refusal))
        except CannotSet as refusal:
            self.add_error(f"check_rate{place}", str(refusal))
        return not self.errors


def _field(form: type[forms.Form], name: str, value: object, locks: Mapping[str, str]) -> forms.Field:
    """Return the field of the form for a new study, with the stored value and the restrictions once people judge."""
    field = deepcopy(form.base_fields[name])
    field.initial, field.help_text = value, HINTS.get(name, field.help_text)
    field.locked = locks.get(name, "")  # type: ignore[attr-defined]
    field.disabled = bool(locks.get(name))
    field.shown = dict(getattr(field, "choices", ())).get(value, field.prepare_value(value))  # type: ignore[attr-defined]
    return field


def _bound(field: forms.Field, low: int, high: int) -> None:
    """Restrict the field to these bounds, unless it is locked."""
    if not field.disabled:
        words = settings.WORDS_OF_OVERLAP.format(low=low, high=high)
        wanted = forms.IntegerField(min_value=low, max_value=high, label=field.label, help_text=field.help_text)
        field.validators, field.widget.attrs = wanted.validators, {**wanted.widget.attrs}
        field.error_messages |= {"min_value": words, "max_value": words}
