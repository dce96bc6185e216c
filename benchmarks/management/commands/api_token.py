"""`manage.py api_token USER`: a token for the API, printed once."""

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from benchmarks.accounts import tokens


class Command(BaseCommand):
    help = "Make somebody a new token for the API and print it; the one before opens nothing any more."

    def add_arguments(self, parser):
        parser.add_argument("user", help="the name that they log in with")
        parser.add_argument("--revoke", action="store_true", help="take the token away, make none")

    def handle(self, *, user, revoke, **options):
        found = get_user_model().objects.filter(username=user).first()
        if found is None:
            raise CommandError(f"Nobody here is called {user}.")
        if revoke:
            there_was = tokens.revoke_token(user=found, by="command")
            self.stdout.write("The token opens nothing any more." if there_was else "There was no token.")
            return
        if not (found.is_active and found.is_staff):
            raise CommandError(f"{user} may not manage here, so a token would open nothing.")
        self.stdout.write(tokens.make_token(user=found, by="command"))
