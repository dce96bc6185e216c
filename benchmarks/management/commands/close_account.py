"""`manage.py close_account ana`: close the account of somebody who has left; studies and judgments stay."""

from django.core.management.base import BaseCommand

from benchmarks.accounts import accounts
from benchmarks.management.reporting import user_named


class Command(BaseCommand):
    help = "Close an account: its owner is logged out, their API token revoked, and no login accepted."

    def add_arguments(self, parser):
        parser.add_argument("name", help="the login name")
        parser.add_argument("--reopen", action="store_true", help="open a closed account again")

    def handle(self, *, name, reopen, **rest):
        user = user_named(name)
        accounts.set_open(user=user, open=reopen, by="command")
        self.stdout.write(f"{name} can log in again." if reopen else f"{name} can no longer log in.")
