"""A backup is of one moment; a restore gives the same again, all of it or nothing."""

import gzip
import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection

from benchmarks.housekeeping import backup as housekeeping_backup
from benchmarks.housekeeping import restore as housekeeping_restore
from benchmarks.housekeeping import tables
from benchmarks.housekeeping.backup import CannotBackUp, backup
from benchmarks.housekeeping.deferred_files import DeferredFiles, finish_dead
from benchmarks.housekeeping.restore import CannotRestore, restore
from benchmarks.management.commands import backup as command
from benchmarks.models import Benchmark, Event, Image, Item
from tests.builders import imports, installation
from tests.builders.kills import killed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("alone")]


@pytest.fixture(autouse=True)
def own_cache(settings):
    """A restore clears the cache, which other tests' processes share."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}


@pytest.fixture
def filled(media, tmp_path) -> Path:
    """Three items, six images, a file that is an export's."""
    imports.imported(*imports.small(tmp_path / "given"))
    default_storage.save("exports/1/split.zip", ContentFile(b"first"))
    return media


@pytest.fixture
def saved(filled, tmp_path) -> Path:
    backup(out=tmp_path / "saved")
    return tmp_path / "saved"


def emptied(media: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(set(tables.names()) - tables.BY_MIGRATIONS)}")
    shutil.rmtree(media)


def change(tmp_path: Path) -> None:
    """Another benchmark, one image in common with the first; the first one goes; the export is another."""
    more = tmp_path / "more"
    more.mkdir()
    given = [imports.item(7), imports.item(8)]
    names = ["7.jpg", "7-0.jpg", "8.jpg", "8-0.jpg", *(f"filler-{n}.jpg" for n in range(2))]
    imports.imported(imports.manifest(more, given), imports.archive(more, names[::-1]), name="Others")
    call_command("delete_benchmark", "Cups", yes=True)
    default_storage.delete("exports/1/split.zip")
    default_storage.save("exports/1/split.zip", ContentFile(b"second"))
    default_storage.save("exports/2/split.zip", ContentFile(b"third"))


def migrations_number() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM django_migrations_id_seq")
        return cursor.fetchone()[0]


def test_into_an_empty_installation(saved, media):
    rows, files = installation.rows(), installation.files()
    last = tables.sequences()
    emptied(media)
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('django_migrations_id_seq')")
    number = migrations_number()
    restore(folder=saved, replace=False, by="test")
    assert migrations_number() == number, "its rows are not restored: with a lower number the next migration would fail"
    assert (installation.rows(), installation.files()) == (rows, files)
    assert tables.sequences() | {"benchmarks_event_id_seq": 0} == last | {"benchmarks_event_id_seq": 0}
    assert (
        Item.objects.create(benchmark=Benchmark.objects.get(), key="new", position=99).pk
        > last["benchmarks_item_id_seq"]
    )


def test_in_place_of_what_is_there(saved, media, tmp_path):
    rows, files = installation.rows(), installation.files()
    change(tmp_path)
    assert files != installation.files()
    restore(folder=saved, replace=True, by="test")
    assert (installation.rows(), installation.files()) == (rows, files)
    assert Event.objects.filter(verb="restored").count() == 1


@contextmanager
def other_installation(media: Path, monkeypatch) -> Iterator[None]:
    """A copy of the test's database, owned by an ordinary role that Winnow connects as, and other media."""
    name, url = connection.settings_dict["NAME"], os.environ["DATABASE_URL"]
    other, role = f"{name}_other", f"{name}_owner"
    connection.close()
    with psycopg.connect(url, autocommit=True) as server, monkeypatch.context() as patch:
        server.execute(f"CREATE ROLE {role} LOGIN NOSUPERUSER")
        server.execute(f"CREATE DATABASE {other} TEMPLATE {name} OWNER {role}")
        with psycopg.connect(url.replace("/winnow?", f"/{other}?")) as database:
            for (table,) in database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall():
                database.execute(f"ALTER TABLE {table} OWNER TO {role}")
        patch.setitem(connection.settings_dict, "NAME", other)
        patch.setitem(connection.settings_dict, "USER", role)
        patch.setattr(settings, "MEDIA_ROOT", media)
        try:
            yield
        finally:
            connection.close()
            server.execute(f"DROP DATABASE {other}")
            server.execute(f"DROP ROLE {role}")


def test_into_another_database_and_back_without_a_superuser(saved, media, tmp_path, monkeypatch):
    """PostgreSQL lets only superusers disable the triggers of foreign keys; on a server, Winnow's role is not one."""
    rows, files = installation.rows(), installation.files()
    change(tmp_path)
    with other_installation(tmp_path / "other", monkeypatch):
        restore(folder=saved, replace=True, by="test")
        assert (installation.rows(), installation.files()) == (rows, files)
        backup(out=tmp_path / "back")
    assert installation.rows() != rows
    restore(folder=tmp_path / "back", replace=True, by="test")
    assert (installation.rows(), installation.files()) == (rows, files)


MOMENTS = {
    "placed": (housekeeping_restore, "_load"),  # the files are there, the database is the former one
    "loading": (tables, "_load_table"),  # the tables are empty
    "loaded": (Event.objects, "create"),  # the last thing in the transaction
    "following": (DeferredFiles, "_move_in"),  # it is committed, and what must follow has not
}


@pytest.mark.parametrize("place", ["folder", pytest.param("bucket", marks=pytest.mark.nightly)], indirect=True)
@pytest.mark.parametrize(
    "moment",
    [*(pytest.param(early, marks=pytest.mark.nightly) for early in ("placed", "loading")), "loaded", "following"],
)
def test_killed_it_is_the_one_or_the_other(place, saved, media, tmp_path, moment):
    first = installation.rows(), installation.files()
    change(tmp_path)
    second = installation.rows(), installation.files()
    killed(lambda: restore(folder=saved, replace=True, by="test"), *MOMENTS[moment])
    until_gone()
    assert finish_dead() == 1
    assert (installation.rows(), installation.files()) == (first if moment == "following" else second)
    connection.close()
    restore(folder=saved, replace=True, by="test")
    assert (installation.rows(), installation.files()) == first


def until_gone() -> None:
    """PostgreSQL has seen that the other process is dead."""
    for _ in range(100):
        if not tables.others():
            return
        time.sleep(0.1)


def test_it_is_of_one_moment(filled, tmp_path, monkeypatch):
    """What is imported while the backup is written is not in it, neither rows nor files."""
    rows, files, write = installation.rows(), installation.files(), housekeeping_backup._write_media

    def import_late():
        (late := tmp_path / "late").mkdir()
        names = [*(f"filler-{number}.jpg" for number in range(20)), "50.jpg", "50-0.jpg"]
        imports.imported(imports.manifest(late, [imports.item(50)]), imports.archive(late, names), name="Late")
        connection.close()

    def meanwhile(*args):
        with ThreadPoolExecutor(1) as pool:  # a connection of its own
            pool.submit(import_late).result()
        return write(*args)

    monkeypatch.setattr(housekeeping_backup, "_write_media", meanwhile)
    backup(out=tmp_path / "saved")
    assert Benchmark.objects.count() == 2
    assert installation.files(tmp_path / "saved/media") == files
    assert (filled / "framed").exists() and not (tmp_path / "saved/media/framed").exists()
    manifest = json.loads((tmp_path / "saved/manifest.json").read_text())
    assert {name: table["rows"] for name, table in manifest["tables"].items()} == {n: len(r) for n, r in rows.items()}


def test_links_are_the_same_files(filled, tmp_path):
    backup(out=tmp_path / "saved", link=True)
    image = Image.objects.first()
    assert (tmp_path / "saved/media" / image.original_path).samefile(filled / image.original_path)
    assert not (tmp_path / "saved/media/exports/1/split.zip").samefile(filled / "exports/1/split.zip")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def damage_table(folder):
    flip(folder / "tables/benchmarks_item.gz")


def damage_image(folder):
    flip(next((folder / "media/served").rglob("*.jpg")))


def lose_image(folder):
    next((folder / "media/thumbnails").rglob("*.jpg")).unlink()


def damage_list(folder):
    flip(folder / "media.jsonl")


def lose_manifest(folder):
    (folder / "manifest.json").unlink()


def other_program(folder):
    (folder / "manifest.json").write_text("[]")


def other_migrations(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["migrations"].append("annotation.9999_later")
    (folder / "manifest.json").write_text(json.dumps(manifest))


SPOILT = {
    damage_table: "damaged: .*_item", damage_image: "damaged: .*served", lose_image: "lacks .*thumb",
    damage_list: "damaged: .*media.jsonl", lose_manifest: "not a backup", other_program: "not a backup",
    other_migrations: "lacks annotation.9999_later",
}  # fmt: skip


def test_refused_before_anything_is_touched(saved, tmp_path):
    before = installation.rows(), installation.files()
    for spoil, says in SPOILT.items():
        folder = shutil.copytree(saved, tmp_path / spoil.__name__)
        spoil(folder)
        with pytest.raises(CannotRestore, match=says):
            restore(folder=folder, replace=True, by="test")
    with pytest.raises(CannotRestore, match=r"not empty.*--replace"):
        restore(folder=saved, replace=False, by="test")
    assert (installation.rows(), installation.files()) == before


def test_rows_that_break_a_constraint_change_nothing(saved, media, tmp_path):
    """The manifest says that they are whole, and yet an item's benchmark is not there."""
    path = saved / "tables/benchmarks_benchmark.gz"
    path.write_bytes(gzip.compress(b""))
    manifest = json.loads((saved / "manifest.json").read_text())
    manifest["tables"]["benchmarks_benchmark"] |= {"rows": 0, "sha256": housekeeping_backup.digest(path)}
    (saved / "manifest.json").write_text(json.dumps(manifest))
    change(tmp_path)
    before = installation.rows(), installation.files(), tables.sequences()
    with pytest.raises(Exception, match="foreign key"):
        restore(folder=saved, replace=True, by="test")
    assert (installation.rows(), installation.files(), tables.sequences()) == before


def test_refused_while_others_use_the_database(saved, monkeypatch):
    monkeypatch.setattr(housekeeping_restore, "PATIENCE", 0)
    other = connection.copy()
    other.connect()
    try:
        with pytest.raises(CannotRestore, match="1 other connection uses the database"):
            restore(folder=saved, replace=True, by="test")
    finally:
        other.close()


@pytest.mark.parametrize("spoil, says", [(flip, "damaged"), (Path.unlink, "missing")])
def test_no_backup_of_files_that_are_not_whole(filled, tmp_path, spoil, says):
    spoil(filled / Image.objects.first().original_path)
    with pytest.raises(CannotBackUp, match=says):
        backup(out=tmp_path / "saved")
    assert not (tmp_path / "saved").exists() and not list(tmp_path.glob(".saved*"))


def test_a_schedule_keeps_the_newest_backups_each_of_which_can_be_restored(filled, media, tmp_path, monkeypatch):
    """After a restart it waits for what is left; what fails is said and tried again, and deletes nothing."""
    folder, now, waited = tmp_path / "backups", datetime(2026, 1, 1, tzinfo=UTC), []

    def sleep(seconds: float) -> None:
        nonlocal now
        waited.append(seconds / 3600)
        now += timedelta(seconds=seconds)
        if len(waited) == 2:
            monkeypatch.setattr(command, "backup", broken)
        if len(waited) == 3:
            monkeypatch.setattr(command, "backup", backup)
        if len(waited) >= 5:
            raise KeyboardInterrupt

    def broken(**given):
        raise CannotBackUp("The disk is full.")

    monkeypatch.setattr(command, "_now", lambda: now)
    monkeypatch.setattr(command.time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        call_command("backup", str(folder), every=24, keep=2)
    now -= timedelta(hours=14)  # started again, 10 hours after the last one
    with pytest.raises(KeyboardInterrupt):
        call_command("backup", str(folder), every=24, keep=2)
    assert waited == pytest.approx([24, 24, 1 / 6, 24, 24, 14])
    names = [path.name for path in command.scheduled(folder)]
    assert len(names) == 2 and names == sorted(names)
    emptied(media)
    restore(folder=folder / names[-1], replace=False, by="test")
    assert Item.objects.count() == 3


def test_the_commands_say_what_they_did(filled, tmp_path, capsys):
    call_command("backup", str(tmp_path / "saved"))
    call_command("restore", str(tmp_path / "saved"), check=True)
    call_command("restore", str(tmp_path / "saved"), replace=True)
    said = capsys.readouterr().out
    assert "and 19 files" in said and "whole, read in" in said and "restored in" in said
    with pytest.raises(CommandError, match="already exists"):
        call_command("backup", str(tmp_path / "saved"))
