"""Our allauth adapter: records logins and chooses the messages shown.

Passwords are checked by our own login page (views.py); allauth continues from there with second factors.
"""

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.core.internal.httpkit import clean_client_ip
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from benchmarks import audit
from benchmarks.accounts.login_page import login_page
from benchmarks.permissions import client_address

NO_ADDRESS = "0.0.0.0"  # for a socket


class AccountAdapter(DefaultAccountAdapter):
    error_messages = DefaultAccountAdapter.error_messages | {
        "incorrect_password": "The password is wrong.",
        "too_many_login_attempts": "Too many attempts. Try again in a few minutes.",
        "rate_limited": "Too many attempts. Try again in a few minutes.",
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        return clean_client_ip(client_address(request)) or NO_ADDRESS

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_login_stages(self) -> list[str]:
        return ["allauth.mfa.stages.AuthenticateStage"]

    def respond_user_inactive(self, request: HttpRequest, user) -> HttpResponse:
        return login_page(request, why="This account is closed. Ask an admin for access.", status=403)

    def login(self, request: HttpRequest, user) -> None:
        ways = [record.get("type") or record["method"] for record in get_authentication_records(request, user)]
        with transaction.atomic():
            super().login(request, user)
            audit.record(by=audit.named(user), verb="logged in", subject=user, ways=ways)

    def add_message(self, request, level, message_template=None, message_context=None, extra_tags="", message=None):
        said = {
            "mfa/messages/totp_activated.txt": "Your authenticator app is set up.",
            "mfa/messages/totp_deactivated.txt": "Your authenticator app has been removed.",
            "mfa/messages/webauthn_added.txt": "The passkey has been added.",
            "mfa/messages/webauthn_removed.txt": "The passkey has been removed.",
            "socialaccount/messages/account_connected.txt": "Your account is connected.",
            "socialaccount/messages/account_connected_updated.txt": "Your account is connected.",
            "socialaccount/messages/account_connected_other.txt": "Another account is already connected to it.",
        }.get(message_template or "", message)
        if said:
            messages.add_message(request, level, said, extra_tags=extra_tags)
