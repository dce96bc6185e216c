"""The forms of the account page."""

from django import forms
from django.contrib.auth.models import User

from benchmarks.notifications.kinds import KINDS, offered
from benchmarks.notifications.subscriptions import chosen
from benchmarks.seen import SeenForm


class EmailForm(SeenForm):
    """The e-mail address and, if this installation sends any, the messages to send to it."""

    email = forms.EmailField(required=False, max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    kinds = forms.MultipleChoiceField(label="Notifications", required=False, widget=forms.CheckboxSelectMultiple)

    def __init__(self, user: User, data=None):
        super().__init__(data, initial={"email": user.email, "kinds": chosen(user)})
        kinds = self.fields["kinds"]
        assert isinstance(kinds, forms.MultipleChoiceField)
        kinds.choices = [(kind.name, kind.label) for kind in KINDS.values()]
        if not offered():
            del self.fields["kinds"]

    def clean(self) -> None:
        given = self.cleaned_data
        if given.get("kinds") and not given.get("email") and "email" not in self.errors:
            self.add_error("email", "Enter the address that notifications should go to.")


class TokenForm(forms.Form):
    """A new token's rights and expiry."""

    DAYS = (("30", "30 days"), ("90", "90 days"), ("365", "one year"))

    days = forms.ChoiceField(label="Expires after", choices=DAYS, initial="90", required=False)
    writes = forms.BooleanField(label="May change data, not just read", required=False)

    def clean_days(self) -> int:
        return int(self.cleaned_data["days"] or 90)
