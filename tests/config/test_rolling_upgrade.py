"""A new version's migrations run while the previous version's web servers serve people who judge.

Which operations may be in them is a law: ALLOWED. The previous version's code is not here, and a migration after the
present ones is not here either, so two things are shown by running. The present code, which is the previous version of
what comes next, serves while every allowed operation changes the tables that judging writes; and it serves while the
newest migrations run that it can do without.
"""

import os
from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.contrib.postgres.operations import (
    AddConstraintNotValid,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
    ValidateConstraint,
)  # fmt: skip
from django.core.management import call_command
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models.functions import Now

from config.processes import wait_for
from tests.config.balancer import is_healthy
from tests.config.running import free_port
from tests.config.test_rolling_restart import WebServers, seated, working, wrong_with

# The last migrations for which Winnow must stop. If you raise a number, say in CHANGELOG.md that the upgrade stops it.
BASELINE = {"annotation": 18, "benchmarks": 12}
WITHOUT = ("annotation", "0022")  # the newest state on which the present code judges, although migrations follow
LOOKED_AT = {  # migrations with other operations, and why annotators do not notice them
    "annotation.0021_study_title_and_earlier_pay": "deletes cached figures, which judging does not read",
    "annotation.0022_forget_figures_of_items": "deletes cached figures, which judging does not read",
    "annotation.0024_forget_figures_of_agreement": "deletes cached figures, which judging does not read",
    "benchmarks.0014_results_scored": "indexes the runs of models, which are few and which judging does not read",
    "benchmarks.0015_runs_in_both_orders": "marks the runs of models, which are few and which judging does not read",
}
REMEDY = """
{name} holds {operation}, for which judging could wait or fail while the previous version's web servers still run. Use
{allowed};
a migration locks one table that exists, also by a new model's foreign keys, or it would deadlock with a judgment;
a new field is nullable or has a db_default (a constant or Now()), and has no index, uniqueness, check or foreign key:
add these afterwards. Take away what the previous version reads one version later. If annotators cannot notice it, put
the migration into LOOKED_AT with the reason.
"""


def is_cheap(field: models.Field) -> bool:
    """Whether the previous version can leave it out, and PostgreSQL need not read the table to add it."""
    if not field.null and not field.has_db_default():
        return False
    field = field.clone()
    field.set_attributes_from_name("new")  # its check names it
    default = field.db_default if field.has_db_default() else None
    constant = not hasattr(default, "resolve_expression") or isinstance(default, Now)
    read = field.db_index or field.unique or field.remote_field or field.generated or field.db_check(connection)
    return constant and not read


ALLOWED: dict[type[Operation], Callable[[Operation], bool]] = {
    migrations.CreateModel: lambda operation: True,
    migrations.AddField: lambda operation: is_cheap(operation.field),
    AddIndexConcurrently: lambda operation: True,
    RemoveIndexConcurrently: lambda operation: True,
    AddConstraintNotValid: lambda operation: True,
    ValidateConstraint: lambda operation: True,
}

LOCKING = migrations.AddField, AddConstraintNotValid


def locked(operation: Operation) -> set[str]:
    """The tables that it keeps others from writing to until its migration is committed, by model."""
    if isinstance(operation, migrations.CreateModel):
        fields = [field for _, field in operation.fields if field.remote_field]
        return {field.remote_field.model.lower().rpartition(".")[2] for field in fields} - {operation.name_lower}
    return {operation.model_name_lower} if type(operation) in LOCKING else set()


def refused(operations: list[Operation]) -> list[Operation]:
    """Those that are not allowed, or that lock another table than one before: they would deadlock with a judgment."""
    found, tables = [], set()
    for one in operations:
        more = locked(one) - tables
        if not ALLOWED.get(type(one), lambda operation: False)(one) or len(tables | more) > 1:
            found.append(one)
        else:
            tables |= more
    return found


def test_every_newer_migration_can_run_while_people_judge():
    disk = MigrationLoader(None).disk_migrations
    found = {
        f"{app}.{name}": refused(migration.operations)
        for (app, name), migration in disk.items()
        if app in BASELINE and int(name[:4]) > BASELINE[app]
    }
    for name in LOOKED_AT:
        assert found.pop(name), f"{name} need not be in LOOKED_AT."
    for name, operations in found.items():
        allowed = ", ".join(kind.__name__ for kind in ALLOWED)
        assert not operations, REMEDY.format(name=name, operation=operations[0], allowed=allowed)


TABLES = "judgment", "lease", "slot"
GIVEN = models.CheckConstraint(condition=models.Q(next_note__lt="zz"), name="next_note_given")
NEW = {
    "note": models.CharField(max_length=9, db_default="a"), "at": models.DateTimeField(db_default=Now()),
    "list": models.JSONField(db_default=[]), "number": models.BigIntegerField(null=True),
}  # fmt: skip


def new_model(*others: str) -> Operation:
    foreign = [(name, models.ForeignKey(f"annotation.{name}", models.CASCADE)) for name in others]
    return migrations.CreateModel(f"next{''.join(others)}", [("id", models.BigAutoField(primary_key=True)), *foreign])


def new_fields(*tables: str) -> list[Operation]:
    return [migrations.AddField(table, f"next_{name}", field) for table in tables for name, field in NEW.items()]


INDEX = models.Index(fields=["next_number"], name="next_index")
ALLOWED_NEXT = [  # migrations with every allowed operation, on the tables that judging writes
    *([new_model(table)] for table in TABLES),
    *(new_fields(table) for table in TABLES),
    [AddIndexConcurrently("judgment", INDEX)],
    [AddConstraintNotValid("judgment", GIVEN)],
    [ValidateConstraint("judgment", GIVEN.name)],
    [RemoveIndexConcurrently("judgment", INDEX.name)],
]
STOPS = migrations.RunSQL("ALTER TABLE annotation_judgment ADD next_text text; SELECT pg_sleep(5)")
UNSAFE = [
    STOPS,
    migrations.AddField("lease", "next_note", models.CharField(max_length=9, default="")),
    migrations.AddField("lease", "next_index", models.CharField(max_length=9, db_default="", db_index=True)),
    migrations.AddField("lease", "next_count", models.PositiveIntegerField(null=True)),
    migrations.AddField("lease", "next_slot", models.ForeignKey("slot", models.CASCADE, null=True)),
    migrations.AddField("lease", "next_key", models.FloatField(db_default=models.functions.Random())),
    migrations.AddIndex("lease", models.Index(fields=["state"], name="next_index")),
    migrations.AddConstraint("lease", GIVEN),
    migrations.AlterField("lease", "state", models.TextField()),
    migrations.RenameField("lease", "state", "next_state"),
    migrations.RemoveField("lease", "state"),
    migrations.DeleteModel("lease"),
]


@pytest.mark.parametrize("operation", UNSAFE, ids=repr)
def test_the_law_names_what_stops_or_breaks_the_previous_version(operation):
    assert refused([*new_fields("lease"), operation]) == [operation]


def test_the_law_allows_one_locked_table_a_migration():
    assert [refused(operations) for operations in ALLOWED_NEXT] == [[]] * len(ALLOWED_NEXT)
    assert len(refused(new_fields("judgment", "lease"))) == len(NEW)
    assert refused([new_model("judgment", "lease")])


@pytest.fixture
def previous(monkeypatch) -> Iterator[None]:
    """Django is connected to a database of its own, migrated up to WITHOUT."""
    name, server = f"{connection.settings_dict['NAME']}_previous", os.environ["DATABASE_URL"]
    unused = connection.settings_dict["TEST"].get("TEMPLATE") or connection.settings_dict["NAME"]
    connection.close()
    with psycopg.connect(server, autocommit=True) as database, monkeypatch.context() as patch:
        database.execute(f"CREATE DATABASE {name} TEMPLATE {unused}")
        patch.setitem(connection.settings_dict, "NAME", name)
        try:
            call_command("migrate", *WITHOUT, verbosity=0)
            yield
        finally:
            connection.close()
            database.execute(f"DROP DATABASE {name} WITH (FORCE)")


def migrate(*following: list[Operation]) -> None:
    """The newest migrations, by the command, and then these."""
    call_command("migrate", verbosity=0)
    state = MigrationLoader(connection).project_state()
    for number, operations in enumerate(following):
        migration = migrations.Migration(f"next_{number}", "annotation")
        migration.operations = operations
        migration.atomic = not isinstance(operations[0], AddIndexConcurrently | RemoveIndexConcurrently)
        with connection.schema_editor(atomic=migration.atomic) as editor:
            state = migration.apply(state, editor)


@pytest.mark.django_db(transaction=True)
def test_judging_goes_on_while_the_next_version_migrates(previous, tmp_path):
    """No request fails or takes more than 3 s (bench.nemesis.annotators.SLOW), and every answer is stored once. What is
    not allowed would be seen: then they wait."""
    people, servers, port = seated(400), WebServers(tmp_path, drain=0), free_port()

    def migrated(*following: list[Operation]) -> list[str]:
        """What took too long meanwhile."""
        for step in (lambda: None, lambda: migrate(*following)):
            step()
            before = sum(len(one.diary.times) for one in people)
            assert wait_for(lambda: sum(len(one.diary.times) for one in people) > before + 20, seconds=60)  # noqa: B023
        return [failure.what for one in people for failure in one.diary.late]

    try:
        servers.start(port)
        assert wait_for(lambda: is_healthy(port), seconds=60)
        with working(people, port):
            assert migrated(*ALLOWED_NEXT) == []
            assert migrated([STOPS])
    finally:
        servers.servers.close()
    assert [failure.what for one in people for failure in one.diary.failures] == []
    assert wrong_with(people) == []
