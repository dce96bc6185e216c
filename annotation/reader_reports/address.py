"""The address at which readers report errors in a study's items, as named in exports and releases."""

from django.conf import settings
from django.urls import reverse

from annotation.models import ReportDoor, Study

ITEM = "{id}"  # stands for the item's id, percent-encoded


def address_of(study: Study) -> str:
    """Return `https://host/report/TOKEN/?item={id}`; empty if there is none, or WINNOW_URL is not set."""
    door = ReportDoor.objects.filter(study=study).first()
    if door is None or not settings.SITE_URL:
        return ""
    return f"{settings.SITE_URL}{reverse('report-error', args=[door.token])}?item={ITEM}"
