"""Find the row that a command line refers to by name or number."""

from django.core.management.base import CommandError
from django.db.models import QuerySet

LISTED = 9


def named(rows: QuerySet, wanted: str, advice: str = ""):
    """Return the row; a name takes precedence over a number. CommandError lists the rows if neither exists."""
    found = rows.filter(name=wanted).first()
    if found is None and wanted.isascii() and wanted.isdecimal() and len(wanted) < 10:
        found = rows.filter(pk=int(wanted)).first()
    if found is not None:
        return found
    there = f"There are: {', '.join(map(str, rows[:LISTED])) or 'none'}."
    raise CommandError(f"There is no {rows.model._meta.verbose_name} {wanted!r}. {advice or there}")
