"""The same state gives the same bytes, whatever the order of insertion, the process, its hash seed, zone, language."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from annotation.exports.export import export_split
from annotation.exports.files import digest, files_below
from annotation.exports.job import zip_folder
from annotation.models import Study
from annotation.releases.build import build
from annotation.releases.plan import FORMS, PUBLIC, Plan
from tests.builders import pipelines

pytestmark = pytest.mark.django_db(transaction=True)

# Table → its columns that hold a number of its own or of another of these tables.
NUMBERED = {
    "benchmarks_item": ["id"], "benchmarks_caption": ["id", "item_id"], "benchmarks_image": ["id"],
    "benchmarks_itemimage": ["id", "item_id", "image_id"], "annotation_annotator": ["id"],
    "annotation_seat": ["id", "annotator_id"], "annotation_task": ["id", "item_id"],
    "annotation_slot": ["id", "task_id", "annotator_id", "reserved_id", "judgment_id"],
    "annotation_lease": ["id", "task_id", "slot_id", "annotator_id"], "annotation_judgment": ["id", "lease_id"],
    "annotation_flag": ["id", "lease_id"], "annotation_outcome": ["task_id"],
}  # fmt: skip
FAR = 10**9
EVENTS = """
UPDATE benchmarks_event SET data = jsonb_set(data, '{item}', to_jsonb(%s - (data->>'item')::bigint))
WHERE verb = 'could not ask'
"""
BUILD = """
import json, sys
from pathlib import Path
from annotation.releases.build import build
from annotation.releases.plan import Plan
export, plan, out = sys.argv[1:]
build(Path(export), Plan.from_json(json.loads(plan)), Path(out))
"""
ELSEWHERE = {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LANG": "tr_TR.UTF-8", "LC_ALL": "tr_TR.UTF-8"}


def hashes(folder: Path) -> dict[str, str]:
    return {name: digest(folder / name)["sha256"] for name in files_below(folder)}


def inserted_backwards() -> None:
    """As if every row had been inserted in the opposite order, all else being as it was."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        for table, columns in NUMBERED.items():
            changes = ", ".join(f"{column} = {FAR} - {column}" for column in columns)
            cursor.execute(f"UPDATE {table} SET {changes}")
            cursor.execute(f"CREATE TABLE turned AS SELECT * FROM {table} ORDER BY random()")
            names = ", ".join(writable(cursor, table))
            cursor.execute(f"DELETE FROM {table}")
            cursor.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM turned")
            cursor.execute("DROP TABLE turned")
        cursor.execute(EVENTS, [FAR])
        cursor.execute("SET session_replication_role = DEFAULT")


def writable(cursor, table: str) -> list[str]:
    cursor.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_generated = 'NEVER'", [table]
    )
    return [name for (name,) in cursor.fetchall()]


@pytest.fixture
def study() -> Study:
    return pipelines.pipeline()


def test_whenever_and_with_whatever_permissions_its_files_were_written(tmp_path):
    folder, zips = tmp_path / "out", []
    folder.mkdir()
    for mode, moment in ((0o600, 0), (0o755, 10**9)):
        (folder / "items.jsonl").write_text("{}")
        (folder / "items.jsonl").chmod(mode)
        os.utime(folder / "items.jsonl", (moment, moment))
        zips.append(zip_folder(folder, tmp_path / f"{moment}.zip").read_bytes())
    assert zips[0] == zips[1]


def test_whatever_the_order_of_insertion(study, tmp_path):
    export_split(study=study, out=tmp_path / "one", by="test")
    inserted_backwards()
    export_split(study=study, out=tmp_path / "two", by="test")
    assert hashes(tmp_path / "one") == hashes(tmp_path / "two")


def test_whatever_the_process_its_hash_seed_zone_and_language(exports, tmp_path):
    export = exports("written")
    plan = Plan("split", "1.0", splits={"train": 50, "test": 50}, forms=FORMS, public=list(PUBLIC), seed=3)
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    build(export, plan, here)
    command = [sys.executable, "-c", BUILD, str(export), json.dumps(plan.as_json()), str(there)]
    subprocess.run(command, env=os.environ | ELSEWHERE, check=True)
    assert hashes(here) == hashes(there) and len(hashes(here)) >= 30
