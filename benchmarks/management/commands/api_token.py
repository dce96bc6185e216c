"""`manage.py api_token USER`: create an API token, printed once."""

from django.core.management.base import BaseCommand, CommandError

from benchmarks.accounts import tokens
from benchmarks.management.reporting import user_named


class Command(BaseCommand):
    help = "Create a new API token for a user and print it. It replaces the user's previous token."

    def add_arguments(self, parser):
        parser.add_argument("user", help="the user's login name")
        parser.add_argument("--revoke", action="store_true", help="revoke the token without creating a new one")

        parser.add_argument("--days", type=int, default=365, help="days until the token expires; default: 365")
        parser.add_argument("--read-only", action="store_true", help="the token may read, but not change anything")

    def handle(self, *, user, revoke, days, read_only, **options):
        found = user_named(user)
        if revoke:
            there_was = tokens.revoke_token(user=found, by="command")
            self.stdout.write("The token has been revoked." if there_was else "There was no token to revoke.")
            return
        if not (found.is_active and found.is_staff):
            raise CommandError(f"{user} may not manage Winnow, so a token would not work.")
        if not 1 <= days <= 3650:
            raise CommandError("Use 1 to 3650 days.")
        self.stdout.write(tokens.make_token(user=found, by="command", days=days, writes=not read_only))
