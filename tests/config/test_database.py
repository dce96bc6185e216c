"""Which requests keep the plans of their statements."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.urls import reverse

from config.database.base import DatabaseWrapper
from tests.builders import studies
from tests.prepared import product_cursor

PREPARED = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%annotation_study%'"


@pytest.mark.django_db
@pytest.mark.parametrize("judges", [True, False])
def test_only_annotators_requests_keep_plans(judges, client, monkeypatch):
    study = studies.study()
    address = reverse("judge", args=[studies.annotator(study).token])
    if not judges:
        client.force_login(User.objects.create_superuser("ana"))
        address = reverse("study-members", args=[study.pk])
    monkeypatch.setattr(DatabaseWrapper, "create_cursor", product_cursor)
    cursor = connection.connection.cursor()
    cursor.execute("DEALLOCATE ALL", prepare=False)
    for _ in range(4):
        assert client.get(address).status_code == 200
    [(kept,)] = cursor.execute(PREPARED, prepare=False).fetchall()
    assert bool(kept) == judges
