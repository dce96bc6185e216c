"""What a start does before Winnow can be used: migrations, static files, the first admin, the demo study."""

import hashlib
from io import StringIO
from pathlib import Path

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import transaction

from annotation.management.commands.create_demo import STUDY as DEMO
from annotation.models import Study
from benchmarks.accounts import accounts

ADMIN = "admin"


def migrate() -> None:
    call_command("migrate", interactive=False, verbosity=0)


def collect_static() -> bool:
    """Collect and compress the static files where they changed since the last time. True when it did."""
    print_file = Path(settings.STATIC_ROOT) / "fingerprint"
    now = static_fingerprint()
    if print_file.exists() and print_file.read_text() == now:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    print_file.write_text(now)  # last: a kill in between collects again
    return True


def static_fingerprint() -> str:
    """Changes with any of our static files (name, size, time) and with Django's version (its apps bring some too)."""
    files = sorted(path for folder in settings.STATICFILES_DIRS for path in Path(folder).rglob("*") if path.is_file())
    facts = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr([django.__version__, facts]).encode()).hexdigest()


@transaction.atomic
def first_admin(*, by: str) -> tuple[str, str] | None:
    """(name, one-time password) of an admin made now; None where a superuser can log in already.

    The password works for one login, on which its owner must choose another (`last_login` is empty until then).
    """
    users = get_user_model().objects.select_for_update()
    if any(user.has_usable_password() for user in users.filter(is_superuser=True, is_active=True)):
        return None
    admin = users.filter(username=ADMIN).first() or get_user_model()(username=ADMIN)
    admin.is_staff = admin.is_superuser = admin.is_active = True
    return admin.username, accounts.give_password(user=admin, by=by)


def demo(say) -> Study:
    """The study that the printed link leads to: the demo, made where there is no study at all; else the oldest."""
    if not Study.objects.exists():
        say("Drawing the demo study …")
        call_command("create_demo", stdout=StringIO())
    return Study.objects.filter(name=DEMO).first() or Study.objects.earliest("created_at", "pk")
