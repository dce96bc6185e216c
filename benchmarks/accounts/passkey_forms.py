"""allauth's passkey forms, which refuse anything invalid from a browser or an attacker with a sentence."""

from collections.abc import Callable
from functools import wraps
from struct import error as StructError
from typing import Any

from allauth.mfa.webauthn import forms
from django.core.exceptions import ValidationError
from django.forms import HiddenInput, JSONField

# Raised by fido2 for invalid credentials
MALFORMED = (AttributeError, LookupError, RecursionError, StructError, TypeError, ValueError)
REFUSED = "This passkey is not accepted here."


def _refusing(clean: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(clean)
    def checked(form: Any) -> Any:
        try:
            return clean(form)
        except ValidationError as error:
            raise ValidationError(REFUSED) if error.code == "incorrect_code" else error from None
        except MALFORMED:
            raise ValidationError(REFUSED) from None

    return checked


class _CredentialField(JSONField):
    """A field that refuses JSON nested too deeply to be read."""

    def __init__(self) -> None:
        super().__init__(widget=HiddenInput)

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except RecursionError:
            raise ValidationError(REFUSED) from None


class AddForm(forms.AddWebAuthnForm):
    credential = _CredentialField()
    clean = _refusing(forms.AddWebAuthnForm.clean)


class AuthenticateForm(forms.AuthenticateWebAuthnForm):
    credential = _CredentialField()
    clean_credential = _refusing(forms.AuthenticateWebAuthnForm.clean_credential)


class LoginForm(forms.LoginWebAuthnForm):
    credential = _CredentialField()
    clean_credential = _refusing(forms.LoginWebAuthnForm.clean_credential)


class ConfirmForm(forms.ReauthenticateWebAuthnForm):
    credential = _CredentialField()
    clean_credential = _refusing(forms.ReauthenticateWebAuthnForm.clean_credential)
