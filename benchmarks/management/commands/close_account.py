"""`manage.py close_account ana`: for somebody who has left; their studies and judgments stay."""

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from benchmarks.accounts import accounts


class Command(BaseCommand):
    help = "Close an account: its owner is logged out, their API token revoked, and no login accepted."

    def add_arguments(self, parser):
        parser.add_argument("name", help="the login name")
        parser.add_argument("--reopen", action="store_true", help="open a closed account again")

    def handle(self, *, name, reopen, **rest):
        user = User.objects.filter(username=name).first()
        if user is None:
            raise CommandError(f"There is no user {name}.")
        accounts.set_open(user=user, open=reopen, by="command")
        self.stdout.write(f"{name} can log in again." if reopen else f"{name} can no longer log in.")
