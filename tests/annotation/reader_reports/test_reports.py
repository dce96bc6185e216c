"""Readers report errors without login, if the manager allows it; a manager answers."""

import pytest
from django.core.cache import cache
from django.urls import reverse

from annotation.models import ReaderReport, ReportDoor
from annotation.reader_reports import reports
from annotation.reader_reports.address import address_of
from benchmarks.accounts import limits
from benchmarks.models import Correction
from tests.builders import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    made = studies.study(items=2)
    reports.set_door(study=made, exists=True, is_open=True, by="test")
    return made


def door(study) -> str:
    return reverse("report-error", args=[ReportDoor.objects.get(study=study).token])


def test_there_is_no_address_unless_the_manager_and_the_server_say_so(study, settings):
    settings.SITE_URL = "https://winnow.test"
    assert address_of(study) == f"https://winnow.test{door(study)}?item={{id}}"
    assert address_of(studies.study(items=1)) == ""
    settings.SITE_URL = ""
    assert address_of(study) == ""


def test_a_reader_reports_an_error_and_learns_nothing(client, study):
    texts = {}
    for key in ("item-0", "nobody"):
        page = client.get(door(study), {"item": key}).content.decode()
        assert "A blue cup" not in page and study.name not in page and study.benchmark.name not in page
        sent = client.post(door(study), {"item": key, "text": "A typo."})
        texts[key] = sent.status_code, sent.content.decode().replace(key, "")
    assert texts["item-0"] == texts["nobody"] and texts["item-0"][0] == 200
    assert [one.item and one.item.key for one in ReaderReport.objects.order_by("pk")] == ["item-0", None]
    assert not client.cookies


@pytest.mark.parametrize("sent", [{}, {"item": "item-0"}, {"item": "x" * 201, "text": "A typo."},
                                  {"item": "item-0", "text": "x" * 1001}])  # fmt: skip
def test_what_is_no_report_is_refused(client, study, sent):
    assert client.post(door(study), sent).status_code == 422 and not ReaderReport.objects.exists()


def test_a_network_sends_a_few_and_a_study_takes_some(client, study, monkeypatch):
    cache.clear()
    monkeypatch.setattr(limits, "REPORTS", 2)
    monkeypatch.setattr(reports, "MOST_OPEN", 1)
    sent = [client.post(door(study), {"item": "item-0", "text": f"{n}"}).status_code for n in range(3)]
    assert sent == [200, 503, 429] and ReaderReport.objects.count() == 1


def test_a_closed_door_asks_for_a_login(client, study):
    reports.set_door(study=study, exists=False, is_open=False, by="test")
    assert client.get(door(study)).status_code == 302
    assert client.get(reverse("report-error", args=["nothing"])).status_code == 404


def test_a_manager_withdraws_the_item_or_dismisses_the_report(admin_client, study):
    first, second = (reports.report(study=study, key=f"item-{n}", text="A person.") for n in range(2))
    page = reverse("study-reader-reports", args=[study.pk])
    assert "A person." in admin_client.get(page).content.decode()
    assert "2 error reports from readers" in admin_client.get(reverse("study-detail", args=[study.pk])).content.decode()
    for one, said in ((first, "withdrawn"), (second, "dismissed"), (second, "withdrawn")):
        admin_client.post(reverse("reader-report-answer", args=[one.pk]), {"answer": said})
    assert [one.answer for one in ReaderReport.objects.order_by("pk")] == ["withdrawn", "dismissed"]
    assert Correction.objects.get().reason == "Reported by a reader: A person." and first.item.key == "item-0"
    reports.report(study=study, key="item-1", text="Another person.")
    listed = admin_client.get(page).content.decode()
    assert listed.index("Another person.") < listed.index(">A person.")  # what is open first
    admin_client.post(page, {"who": "nobody"})
    assert not ReportDoor.objects.get().open
