"""`manage.py add_user ana --staff`: add a user who may manage studies, with a one-time password."""

from django.core.management.base import BaseCommand, CommandError

from benchmarks.accounts import accounts


class Command(BaseCommand):
    help = "Add a user and print a one-time password. The user chooses their own at the first login."

    def add_arguments(self, parser):
        parser.add_argument("name", help="the login name")
        parser.add_argument("--staff", action="store_true", help="may import, create studies and be a member")
        parser.add_argument("--superuser", action="store_true", help="staff who also see and manage every study")

    def handle(self, *, name, staff, superuser, **rest):
        if not (staff or superuser):
            raise CommandError("Add --staff or --superuser: without either, the user could do nothing.")
        try:
            user, password = accounts.add_user(name=name, superuser=superuser, by="command")
        except accounts.CannotAdd as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write(
            f"{user.username}: one-time password {password}   (shown only once; the user chooses another)"
        )
