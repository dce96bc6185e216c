"""Pages are sent compressed; files, and what the API answers, as they are."""

import gzip

import pytest
from django.urls import reverse

from tests.builders import studies

pytestmark = pytest.mark.django_db


def test_a_page_is_compressed_for_who_can_read_it_and_its_length_tells_nothing(admin_client):
    url = reverse("study-list")
    plain = admin_client.get(url)
    packed = [admin_client.get(url, headers={"Accept-Encoding": "gzip, br"}) for _ in range(20)]
    assert "Content-Encoding" not in plain.headers and "Accept-Encoding" in plain.headers["Vary"]
    assert all(answer.headers["Content-Encoding"] == "gzip" for answer in packed)
    assert len({len(answer.content) for answer in packed}) > 1
    assert b"<h1>Studies</h1>" in gzip.decompress(packed[0].content)
    assert len(packed[0].content) < len(plain.content) / 2


@pytest.mark.parametrize("name", ["api-study-list", "api-schema"])
def test_what_is_no_page_is_sent_as_it_is(admin_client, name):
    studies.study(items=2)
    assert "Content-Encoding" not in admin_client.get(reverse(name), headers={"Accept-Encoding": "gzip"}).headers
