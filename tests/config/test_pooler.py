"""Behind a pooler, each transaction may run in another session of PostgreSQL: none leaves anything in its own."""

from collections.abc import Callable
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.test import Client
from django.urls import reverse

from annotation.exports.job import queue_export, run_export
from annotation.models import Judgment
from annotation.pipeline import dawid_skene
from annotation.releases import lifecycle
from benchmarks.housekeeping.backup import backup
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, JobState
from tests.annotation.releases import killing
from tests.builders import imports, studies

# PgBouncer sets the time zone and the encoding anew for each client, and a transaction its own settings.
KEPT = """
SELECT 'prepared: ' || statement FROM pg_prepared_statements
UNION ALL SELECT 'cursor: ' || name FROM pg_cursors
UNION ALL SELECT 'lock: ' || objid FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
UNION ALL SELECT 'setting: ' || name FROM pg_settings
          WHERE source = 'session' AND name NOT IN ('TimeZone', 'client_encoding') AND name NOT LIKE 'transaction%'
UNION ALL SELECT 'temporary: ' || relname FROM pg_class WHERE relpersistence = 't'
UNION ALL SELECT 'listens: ' || pg_listening_channels()
"""


@pytest.fixture
def kept(transactional_db, settings, monkeypatch) -> list[str]:
    """What the session of the default connection has kept from one transaction to the next, under the settings for a
    pooler."""
    found: list[str] = []

    def look(execute: Callable, statement: str, values: object, many: bool, context: dict):
        done = execute(statement, values, many, context)
        if not connection.in_atomic_block:
            with connection.connection.cursor() as cursor:
                found.extend(what for (what,) in cursor.execute(KEPT, prepare=False).fetchall())
        return done

    own, connections["direct"] = connection.settings_dict, connection.copy()
    settings.SESSION_DATABASE = "direct"
    monkeypatch.setitem(own, "OPTIONS", {**own["OPTIONS"], "prepare_threshold": None})
    monkeypatch.setitem(own, "DISABLE_SERVER_SIDE_CURSORS", True)
    connection.close()
    with connection.execute_wrapper(look):
        yield found
    connections["direct"].close()
    del connections["direct"]
    connection.close()


def test_people_judge_and_managers_look(kept, client):
    study = studies.study(benchmark=studies.benchmark(6), overlap=2)
    seated = [studies.annotator(study) for _ in range(2)]
    for one in seated:
        page = reverse("judge", args=[one.token])
        for _ in range(3):  # both together more often than it takes to prepare a statement
            lease = client.get(page, headers={"Accept": "application/json"}).json()["held"][0]
            answer = {"key": str(uuid4()), "lease": lease, "answer": "1", "active": "900", "elapsed": "1000"}
            assert client.post(f"{page}submit/", answer, headers={"Accept": "application/json"}).status_code == 200
    assert Judgment.objects.count() == 6
    manager = Client()
    manager.force_login(User.objects.create_superuser("ana"))
    assert manager.get(reverse("study-detail", args=[study.pk])).status_code == 200
    job = queue_export(study=study, by="test")
    assert jobs.revive_job(job=job, by="test")
    assert manager.post(reverse("job-cancel", args=[job.pk])).status_code == 302
    assert kept == []


def test_jobs_import_estimate_export_release_and_back_up(kept, tmp_path):
    made = imports.run(imports.queued(*imports.small(tmp_path, 3), name="Cups"))
    study = studies.study(benchmark=Benchmark.objects.get(), protocol="verify", overlap=2, rule="dawid-skene")
    for one in [studies.annotator(study) for _ in range(2)] * 6:
        studies.judgment(one, one.stage, "yes")
    assert dawid_skene.estimate(study.stages.get(), "test")["decided"] >= 3
    export, release = (killing.queued(study, kind) for kind in ("export", "release"))
    jobs.run(job_id=export.pk, by="test", work=run_export)
    jobs.run(job_id=release.pk, by="test", work=lifecycle.run_release)
    backup(out=tmp_path / "backup", link=False)
    for job in (made, export, release):
        job.refresh_from_db()
        assert job.state == JobState.DONE, job.problems
    assert kept == []
