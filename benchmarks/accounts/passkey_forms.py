"""allauth's forms of passkeys, which refuse with a sentence whatever a browser or an attacker sends."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.mfa.webauthn import forms
from django.core.exceptions import ValidationError

MALFORMED = (AttributeError, KeyError, TypeError, ValueError)  # of fido2, for what is no credential
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


class AddForm(forms.AddWebAuthnForm):
    clean = _refusing(forms.AddWebAuthnForm.clean)


class AuthenticateForm(forms.AuthenticateWebAuthnForm):
    clean_credential = _refusing(forms.AuthenticateWebAuthnForm.clean_credential)


class LoginForm(forms.LoginWebAuthnForm):
    clean_credential = _refusing(forms.LoginWebAuthnForm.clean_credential)


class ConfirmForm(forms.ReauthenticateWebAuthnForm):
    clean_credential = _refusing(forms.ReauthenticateWebAuthnForm.clean_credential)
