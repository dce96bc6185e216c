"""`manage.py add_user ana --staff`: somebody who may manage studies, with a password that is shown once."""

from django.core.management.base import BaseCommand, CommandError

from benchmarks.accounts import accounts


class Command(BaseCommand):
    help = "Make an account and print its one-time password; whoever logs in with it chooses their own."

    def add_arguments(self, parser):
        parser.add_argument("name", help="the name to log in with")
        parser.add_argument("--staff", action="store_true", help="imports, makes studies, can be a member of others")
        parser.add_argument("--superuser", action="store_true", help="on the staff, and sees and manages every study")

    def handle(self, *, name, staff, superuser, **rest):
        if not (staff or superuser):
            raise CommandError("Say --staff or --superuser: an account without either may do nothing.")
        try:
            user, password = accounts.add_user(name=name, superuser=superuser, by="command")
        except accounts.CannotAdd as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(
            f"{user.username}: one-time password {password}   (shown this once; its owner chooses another)"
        )
