"""Second factors and passkeys: allauth's views on our own pages, for staff.

A second factor follows the password or the provider. A passkey is enough by itself, because the device has verified its
owner.
"""

from typing import Any

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.base.views import ReauthenticateView as CodeView
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    LoginWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.debug import sensitive_post_parameters

from benchmarks.accounts.limits import seconds_to_wait
from benchmarks.accounts.login_page import login_page, through, wait_page
from benchmarks.permissions import staff_only

HELD = {"section": "account"}
CONFIRM: dict[str, Any] = {"template_name": "accounts/confirm.html", "extra_context": HELD}


def _removal(what: str) -> dict[str, Any]:
    return {"template_name": "accounts/factor_remove.html", "extra_context": {**HELD, "what": what}}


@sensitive_post_parameters()
def passkey_login(request: HttpRequest) -> HttpResponse:
    if not settings.LOCAL_LOGIN:
        return login_page(request, why=through(), status=403)
    if request.method == "POST" and (wait := seconds_to_wait(request, None)):
        return wait_page(request, wait)
    return LoginWebAuthnView.as_view()(request)


class ConfirmPasskeyView(ReauthenticateWebAuthnView):
    """Show an error on its own page; allauth's view redirects to the login page."""

    def form_invalid(self, form) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form) | {"form": form})


authenticate = sensitive_post_parameters()(AuthenticateView.as_view(template_name="accounts/second_factor.html"))
confirm_password = staff_only(sensitive_post_parameters()(ReauthenticateView.as_view(**CONFIRM)))
confirm_code = staff_only(CodeView.as_view(**CONFIRM))
confirm_passkey = staff_only(ConfirmPasskeyView.as_view(**CONFIRM))
app_add = staff_only(ActivateTOTPView.as_view(template_name="accounts/app_add.html", extra_context=HELD))
app_remove = staff_only(DeactivateTOTPView.as_view(**_removal("app")))
passkey_add = staff_only(AddWebAuthnView.as_view(template_name="accounts/passkey_add.html"))
passkey_remove = staff_only(RemoveWebAuthnView.as_view(**_removal("passkey")))
recovery_codes = staff_only(
    ViewRecoveryCodesView.as_view(
        template_name="accounts/recovery_codes.html", extra_context={**HELD, "separator": "\n"}
    )
)
recovery_codes_new = staff_only(GenerateRecoveryCodesView.as_view(**_removal("codes")))
