"""Forms that correct one item, or take a file of corrections."""

from collections.abc import Mapping
from typing import Any

from django import forms

from benchmarks.corrections.correct import MOST_REASON, Change, parts_of
from benchmarks.formats import limits
from benchmarks.jobs.forms import FilesField, fits
from benchmarks.models import Action, Caption, Item, ItemImage
from benchmarks.naming import role_name
from benchmarks.records import role_order

PICTURE = "picture-"


class ItemForm(forms.Form):
    """A text field for each caption and a file field for each image of the item. `changes` has the differences."""

    reason = forms.CharField(
        max_length=MOST_REASON, label="Reason", help_text="It is kept with the correction, and releases show it."
    )

    def __init__(self, *args, item: Item, **kwargs):
        super().__init__(*args, **kwargs)
        self.item = item
        self.parts = dict(sorted(parts_of(item).items(), key=lambda pair: role_order(pair[1].role)))
        own: dict[str, forms.Field] = {}
        for place, part in self.parts.items():
            kind = "captions" if isinstance(part, Caption) else "images"
            label = role_name(part.role, kind)
            if [one.role for one in self.parts.values() if isinstance(one, type(part))].count(part.role) > 1:
                label += f" {part.position + 1}"
            if isinstance(part, Caption):
                area = forms.Textarea(attrs={"rows": 2, "dir": "auto"})
                own[place] = forms.CharField(
                    initial=part.text, required=False, max_length=limits.MAX_CAPTION, strip=False, widget=area,
                    label=label.capitalize(),
                )  # fmt: skip
                own[f"old-{place}"] = forms.CharField(
                    initial=part.text, required=False, strip=False, widget=forms.HiddenInput
                )
            else:
                only = forms.FileInput(attrs={"accept": "image/*"})  # the worker checks the type
                own[PICTURE + place] = forms.FileField(required=False, label=f"New {label} picture", widget=only)
        self.fields = own | self.fields

    def clean(self):
        super().clean()
        given = self.cleaned_data
        for field in self.texts() if not {"withdraw", "restore"} & set(self.data) else ():
            if not given.get(field.name, "-").strip() and given.get(f"old-{field.name}"):
                self.add_error(field.name, "A caption cannot be empty.")
        return given

    def texts(self) -> list[forms.BoundField]:
        return [self[place] for place, part in self.parts.items() if isinstance(part, Caption)]

    def before(self) -> list[forms.BoundField]:
        return [self[f"old-{place}"] for place, part in self.parts.items() if isinstance(part, Caption)]

    def pictures(self) -> list[forms.BoundField]:
        return [self[PICTURE + place] for place, part in self.parts.items() if isinstance(part, ItemImage)]

    def changes(self, action: str = "") -> list[Change]:
        """Return the changes of a valid form; `action`: the button pressed, if it concerns the whole item."""
        given: Mapping[str, Any] = self.cleaned_data
        about = {"item": self.item.key, "reason": given["reason"]}
        if action:
            return [Change(action=Action(action), **about)]
        found = []
        for place, part in self.parts.items():
            if isinstance(part, Caption):
                # Browsers send CRLF for line breaks that are stored as LF
                new, old = (given[name].replace("\r\n", "\n") for name in (place, f"old-{place}"))
                if new != old:
                    found.append(Change(action=Action.CAPTION, place=place, new=new, old=old, **about))
            elif file := given[PICTURE + place]:
                found.append(Change(action=Action.IMAGE, place=place, new=file.name, **about))
        return found


class CorrectionsForm(forms.Form):
    file = forms.FileField(label="File of corrections")
    images = FilesField(required=False, label="New pictures", allow_empty_file=True)

    def clean_file(self):
        file = self.cleaned_data["file"]
        if not fits(file.name, (".csv", ".jsonl")):
            raise forms.ValidationError("Choose a .csv or .jsonl file.")
        return file
