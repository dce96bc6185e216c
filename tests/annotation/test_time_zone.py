"""Times on managers' pages are in the viewer's zone, with UTC as their title; everything else stays in UTC."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.templatetags.figures import local
from benchmarks import permissions
from benchmarks.models import Event
from benchmarks.templatetags.winnow import moment
from tests.builders import studies

AT = datetime(2025, 7, 31, 22, 30, tzinfo=UTC)
UTC_TITLE = 'datetime="2025-07-31T22:30:00+00:00" title="31 Jul 2025, 22:30 UTC"'


@pytest.mark.parametrize(("zone", "shown"), [("UTC", "31 Jul 2025, 22:30"), ("Asia/Kolkata", "1 Aug 2025, 04:00")])
def test_a_moment_is_in_the_active_zone(zone, shown):
    with timezone.override(zone):
        assert moment(AT) == f"<time {UTC_TITLE}>{shown}</time>"
        assert "Thu 31 Jul, 22:30 UTC</time>" in local(timezone.localtime(AT).isoformat())
    assert moment(None) == "" and f"{timezone.localtime():%b, %H}" in moment(timezone.now())


ODD = ["", "Mars/Phobos", "../../etc/passwd", "/etc/passwd", "Europe", "x" * 99, "a\0b", "\ud800"]


@pytest.mark.parametrize("name", ODD)
def test_a_name_that_is_no_zone_means_utc(name):
    assert permissions._zone(name) is None


@pytest.mark.django_db
def test_the_cookie_counts_for_managers_pages_alone(client, manager):
    study = studies.study(items=2)
    type(study).objects.update(created_at=AT)
    client.cookies[permissions.ZONE] = "Asia/Kolkata"
    Event.objects.create(by="test", verb="moved to paused", subject=f"study:{study.pk}", at=AT)
    assert f"<time {UTC_TITLE}>1 Aug, 04:00</time>" in client.get(reverse("study-detail", args=[study.pk])).text
    assert timezone.get_current_timezone_name() == "UTC"  # between requests
    listed = client.get(reverse("api-study-list")).json()["results"][0]
    assert "2025-07-31T22:30:00Z" in str(listed) and "+05:30" not in str(listed)
