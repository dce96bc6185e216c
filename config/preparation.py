"""Preparations at the start: migrations, static files, the first admin, the demo study."""

import hashlib
from importlib import import_module
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
from config import celery_app, processes

ADMIN = "admin"


def migrate() -> None:
    call_command("migrate", interactive=False, verbosity=0)


def collect_static() -> bool:
    """Collect and compress static files if they have changed since last time; return whether it did."""
    print_file = Path(settings.STATIC_ROOT) / "fingerprint"
    now = static_fingerprint()
    if print_file.exists() and print_file.read_text() == now:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    print_file.write_text(now)  # last: after a kill in between, files are collected again
    return True


def static_fingerprint() -> str:
    """Return a digest of our static files (name, size, time) and Django's version, because its apps have some too."""
    files = sorted(path for folder in settings.STATICFILES_DIRS for path in Path(folder).rglob("*") if path.is_file())
    facts = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return hashlib.sha256(repr([django.__version__, facts]).encode()).hexdigest()


def preload() -> None:
    """Import what the web server and the workers run, before forking. Static files exist by then."""
    celery_app.loader.import_default_modules()
    import_module("config.wsgi")
    processes.trim_heap()


@transaction.atomic
def first_admin(*, by: str) -> tuple[str, str] | None:
    """Create an admin and return (name, one-time password); None if a superuser can log in, or passwords are disabled.

    The password works for one login, at which the owner must choose another (`last_login` is empty until then).
    """
    if not settings.LOCAL_LOGIN:
        return None
    users = get_user_model().objects.select_for_update()
    if any(user.has_usable_password() for user in users.filter(is_superuser=True, is_active=True)):
        return None
    admin = users.filter(username=ADMIN).first() or get_user_model()(username=ADMIN)
    admin.is_staff = admin.is_superuser = admin.is_active = True
    return admin.username, accounts.give_password(user=admin, by=by)


def demo(say) -> Study:
    """Return the study for the printed link: the demo, created if there is no study, otherwise the oldest study."""
    if not Study.objects.exists():
        say("Importing the demo study …")
        call_command("create_demo", stdout=StringIO())
    return Study.objects.filter(name=DEMO).first() or Study.objects.earliest("created_at", "pk")
