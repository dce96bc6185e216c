"""The forms of a study's pages, except those for setting one up (setup_forms.py, study_form.py)."""

from collections.abc import Iterable
from typing import cast

from django import forms

from annotation.models import Instructions, Member, Role
from annotation.studies import markdown
from annotation.studies.instructions import LANGUAGES
from benchmarks.seen import SeenForm


class InstructionsForm(SeenForm):
    """A new version of instructions. If only the main text changes, `keep` asks which translations are still valid."""

    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 16, "dir": "auto"}))
    keep = forms.MultipleChoiceField(
        label="Keep as they are", required=False, widget=forms.CheckboxSelectMultiple, choices=LANGUAGES.items()
    )

    def __init__(self, data=None, *, current: Instructions, own: str, images: Iterable[str] = ()):
        """`own` is the study's language; others may be left empty. `images` are the names the texts may use."""
        self.own, self.images = own, set(images)
        self.others = [(code, name) for code, name in LANGUAGES.items() if code != own]
        # Before the base class looks for errors: a field added later would never be cleaned.
        fields = {**type(self).base_fields, **{code: self._field(code, name) for code, name in self.others}}
        self.base_fields = fields  # type: ignore[misc]  # Django copies them into `fields`
        super().__init__(data, initial={"text": current.text, **current.translations})
        self.stale: list[str] = []  # languages that would still show the old text
        self.fields["text"].help_text = (
            f"Saving makes version {current.version + 1}. Every annotator must read it before their next screen. Each "
            "judgment keeps the version it was made under."
        )

    @staticmethod
    def _field(code: str, name: str) -> forms.CharField:
        widget = forms.Textarea(attrs={"rows": 12, "lang": code, "dir": "auto"})
        return forms.CharField(label=name, required=False, widget=widget)

    def clean(self) -> None:
        for name in self.cleaned_data.keys() - {"keep"}:
            if wrong := markdown.problems(self.cleaned_data[name], self.images):
                self.add_error(name, wrong)
        if not self.errors:
            self._ask_about_translations()

    def _ask_about_translations(self) -> None:
        given, before = self.words(), {name: text.strip() for name, text in self.initial.items()}
        if given["text"] != before["text"]:
            self.stale = [code for code, text in given["translations"].items() if text == before.get(code)]
        keep = cast(forms.MultipleChoiceField, self.fields["keep"])
        keep.choices = [(code, name) for code, name in self.others if code in self.stale]
        if self.stale and not {"keep_asked", "preview", "upload"} & set(self.data):
            self.add_error(
                "keep",
                "These translations have not changed. Change them above, or tick those that still hold. The others are "
                f"left out: their readers get the {LANGUAGES[self.own]} text.",
            )

    @property
    def in_other_languages(self) -> list[forms.BoundField]:
        return [self[code] for code, _ in self.others]

    def words(self) -> dict:
        """Return the texts as `studies.lifecycle.revise_instructions` takes them."""
        left_out = {*self.stale} - {*self.cleaned_data["keep"]} if "keep_asked" in self.data else set()
        given = {name: self.cleaned_data[name].replace("\r\n", "\n") for name in ("text", *dict(self.others))}
        text = given.pop("text")
        translations = {code: words for code, words in given.items() if words and code not in left_out}
        return {"text": text, "translations": translations}


class RoleForm(SeenForm):
    """A change of a member's role."""

    role = forms.ChoiceField(choices=Role.choices)

    def __init__(self, data=None, *, member: Member):
        super().__init__(data, initial={"role": member.role}, auto_id=f"%s-{member.pk}")
        self.fields["role"].label = f"Role of {member.user}"


class MemberForm(forms.Form):
    """A new member, who has an account, and their role. The first role on offer permits least."""

    ROLES = (
        (Role.VIEWER, "sees results, agreement, disagreements and releases"),
        (Role.MANAGER, "runs the study: invites, instructs, decides by hand, excludes, exports; sees identities"),
        (Role.OWNER, "does all of that, changes the members and can delete the study"),
    )

    name = forms.CharField(
        label="Name or e-mail address", max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    role = forms.ChoiceField(choices=Role.choices)
