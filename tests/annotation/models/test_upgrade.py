"""A database of version 0.1 with judgments opens in this version: nothing is lost, and its schema is the present one.

`database-0.1.sql.gz` is what pg_dump wrote of a small study on which three made-up annotators had worked.
"""

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from annotation.models import Attempt, Kind, Outcome, Slot, Stage, Study, StudyTemplate, Task
from tests.builders import studies

DUMP = Path(__file__).with_name("database-0.1.sql.gz")
SCHEMA = """
SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
WHERE table_schema = 'public' AND table_name ~ '^(annotation|benchmarks)_' ORDER BY 1, 2
"""
# A check's text differs once it was dumped and read again; its name tells it.
RULES = """
SELECT conrelid::regclass::text, CASE WHEN contype = 'c' THEN conname ELSE pg_get_constraintdef(oid) END
FROM pg_constraint
WHERE conrelid::regclass::text ~ '^(annotation|benchmarks)_' ORDER BY 1, 2
"""
PRACTICE_AS_TRAINING = """
UPDATE annotation_task SET kind = 'training', gold = '{x}' WHERE id = (SELECT min(id) FROM annotation_task);
UPDATE annotation_stage SET training_pass = 0.7, training_tries = 3;
INSERT INTO annotation_attempt (seat_id, kind, number, answers)
  SELECT min(id), 'training', 1, '[]' FROM annotation_seat;
INSERT INTO annotation_studytemplate (name, setup) VALUES
  ('t', '{"stages": [{"name": "say \\"training_pass\\":",
                      "settings": {"training_pass": 0.7, "training_tries": 3}}]}');
"""
TRIGGERS = "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"

pytestmark = pytest.mark.django_db(transaction=True)


def fetched(*statements: str) -> list[list[tuple]]:
    with connection.cursor() as cursor:
        return [cursor.execute(statement).fetchall() for statement in statements]


@pytest.fixture
def old(monkeypatch) -> Iterator[None]:
    """Django is connected to a database as version 0.1 left it."""
    name, url = f"{connection.settings_dict['NAME']}_old", os.environ["DATABASE_URL"]
    connection.close()
    with psycopg.connect(url, autocommit=True) as server, monkeypatch.context() as patch:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        with psycopg.connect(url.replace("/winnow?", f"/{name}?")) as database:
            database.execute(gzip.decompress(DUMP.read_bytes()).decode())
        patch.setitem(connection.settings_dict, "NAME", name)
        try:
            yield
        finally:
            connection.close()
            server.execute(f"DROP DATABASE {name}")


def test_it_opens_with_every_judgment_and_the_schema_of_a_new_one(request):
    since = "{language,imported_id,imported_row}"  # columns that were added
    judgments = f"SELECT to_jsonb(row) - '{since}'::text[] FROM annotation_judgment row ORDER BY id"
    new = fetched(SCHEMA, RULES, TRIGGERS)
    request.getfixturevalue("old")
    before = fetched(judgments)
    call_command("migrate", verbosity=0)
    assert fetched(SCHEMA, RULES, TRIGGERS) == new
    assert fetched(judgments) == before
    assert (len(before[0]), Slot.objects.exclude(judgment=None).count(), Outcome.objects.count()) == (16, 15, 7)
    lease = studies.judgment(studies.annotator(Study.objects.get()), Study.objects.get().stages.get()).lease
    assert lease.judgments.count() == 1


def test_what_was_called_training_is_practice(old):
    call_command("migrate", "annotation", "0011", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(PRACTICE_AS_TRAINING)
    call_command("migrate", verbosity=0)
    assert (Task.objects.exclude(kind=Kind.JUDGE).get().kind, Attempt.objects.get().kind) == ("practice", "practice")
    assert set(Stage.objects.values_list("practice_pass", "practice_tries")) == {(0.7, 3)}
    (stage,) = StudyTemplate.objects.get().setup["stages"]
    assert stage == {"name": 'say "training_pass":', "settings": {"practice_pass": 0.7, "practice_tries": 3}}
