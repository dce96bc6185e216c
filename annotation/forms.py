"""What the pages of a study ask for, but the setting up of one (setup_forms.py)."""

from django import forms


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


class InstructionsForm(ErrorsAtFields):
    hinted = frozenset({"text"})

    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 22}))
