"""The forms of the account page."""

from django import forms
from django.contrib.auth.models import User

from benchmarks.jobs.forms import DescribedForm


class EmailForm(DescribedForm):
    email = forms.EmailField(
        label="E-mail", required=False, max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )

    def __init__(self, user: User, data=None):
        super().__init__(data, initial={"email": user.email})
