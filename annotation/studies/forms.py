"""The forms of a study's pages, except those for setting one up (studies/setup_forms.py)."""

from django import forms

from annotation.models import Member, Role


class ErrorsAtFields(forms.Form):
    hinted: frozenset[str] = frozenset()

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            described = [f"{name}-hint"] if name in self.hinted else []
            if name in self.errors:
                field.widget.attrs["aria-invalid"] = "true"
                described.append(f"{name}-error")
            if described:
                field.widget.attrs["aria-describedby"] = " ".join(described)


class InstructionsForm(ErrorsAtFields):
    hinted = frozenset({"text"})

    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 22}))


class RoleForm(forms.Form):
    """Changes a member's role."""

    role = forms.ChoiceField(choices=Role.choices)

    def __init__(self, data=None, *, member: Member):
        super().__init__(data, initial={"role": member.role}, auto_id=f"%s-{member.pk}")
        self.fields["role"].label = f"Role of {member.user}"


class MemberForm(ErrorsAtFields):
    """Adds a person with an account in a role. The first role on offer permits least."""

    ROLES = (
        (Role.VIEWER, "sees figures, agreement, disagreements and releases"),
        (Role.MANAGER, "runs the study: invites, instructs, adjudicates, excludes and exports; sees identities"),
        (Role.OWNER, "does all of that, changes the members, and can delete the study"),
    )

    name = forms.CharField(label="User name", max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"}))
    role = forms.ChoiceField(choices=Role.choices)
