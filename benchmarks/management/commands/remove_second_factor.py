"""`manage.py remove_second_factor ana`: help somebody who has lost their device and recovery codes."""

from django.core.management.base import BaseCommand

from benchmarks.accounts.factors import remove_factors
from benchmarks.management.reporting import user_named


class Command(BaseCommand):
    help = "Remove a user's authenticator app, passkeys and recovery codes. The password remains."

    def add_arguments(self, parser):
        parser.add_argument("name", help="the login name")

    def handle(self, *, name, **rest):
        user = user_named(name)
        removed = remove_factors(user=user)
        self.stdout.write(f"{name} now logs in without a second factor." if removed else f"{name} has none.")
