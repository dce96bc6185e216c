"""A small world that the product's verbs have made in this process, written again under new keys.

Creating a study takes the verb 20 statements and building one in the ORM a hundredth of a second; a copy takes two
statements, however many rows there are. The verbs make the first two of a kind. A copy has its own names, hashes and
secrets; a test compares the rows.
"""

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count

from django.db.models import CharField, DateTimeField, Field, Model

from annotation.models import Instructions, Slot, Stage, Study, Task
from annotation.sql import columns, fetch, instances
from benchmarks.models import Benchmark, Caption, Event, Image, Item, ItemImage

STAGES = "stage_id IN (SELECT id FROM annotation_stage WHERE study_id = %(study)s)"
ITEMS = "item_id IN (SELECT id FROM benchmarks_item WHERE benchmark_id = %(benchmark)s)"
WHICH = {
    Benchmark: "id = %(benchmark)s",
    Item: "benchmark_id = %(benchmark)s",
    Caption: ITEMS,
    Image: f"id IN (SELECT image_id FROM benchmarks_itemimage WHERE {ITEMS})",
    ItemImage: ITEMS,
    Study: "id = %(study)s",
    Stage: "study_id = %(study)s",
    Instructions: STAGES,
    Task: STAGES,
    Slot: STAGES,
    Event: "subject = 'study:' || %(study)s",
}
OF_BENCHMARK = (Benchmark, Item, Caption, Image, ItemImage)
_worlds: dict[Hashable, "World | None"] = {}
_hashed = count(1)


@dataclass(frozen=True)
class World:
    """Rows by model as the verbs wrote them, and the statements that take new keys and write them again."""

    rows: dict[type[Model], list[dict]]
    take: str
    write: str
    made: tuple[type[Model], ...]


def again(kind: Hashable, make: Callable[[], Model], names: dict[type[Model], str]) -> Model:
    """What `make` makes, a benchmark or a study of its own; but for `names` it depends on the `kind` alone."""
    if world := _worlds.get(kind):
        is_heard, *keys = fetch(world.take)[0]
        if not is_heard:
            return _write(world, keys, names)
    made = make()
    _worlds[kind] = _read(made) if kind in _worlds else None
    return made


def _read(made: Model) -> World:
    is_study = isinstance(made, Study)
    ids = {"study": made.pk if is_study else 0, "benchmark": made.benchmark_id if is_study else made.pk}
    rows = {}
    for model in WHICH if is_study else OF_BENCHMARK:
        names = ", ".join(field.column for field in _kept(model))
        where = f"SELECT {names} FROM {model._meta.db_table} WHERE {WHICH[model]} ORDER BY id"
        rows[model] = [json.loads(row) for (row,) in fetch(f"SELECT row_to_json(one)::text FROM ({where}) one", **ids)]
    take = ", ".join(_new_keys(model, len(found)) for model, found in rows.items())
    parts = ", ".join(_insertion(model) for model in rows)
    models = (Study, Benchmark) if is_study else (Benchmark,)
    whole = ", ".join(columns(model, f"of_{model._meta.model_name}") for model in models)
    write = f"WITH {parts} SELECT {whole} FROM {', '.join(f'of_{model._meta.model_name}' for model in models)}"
    return World(rows, f"SELECT EXISTS (SELECT FROM annotation_webhook), {take}", write, models)


def _kept(model: type[Model]) -> list[Field]:
    """All but times, and what PostgreSQL computes at the insertion."""
    return [one for one in model._meta.fields if not isinstance(one, DateTimeField) and one.name != "judgments_after"]


def _new_keys(model: type[Model], count: int) -> str:
    sequence = f"pg_get_serial_sequence('{model._meta.db_table}', 'id')"
    return f"ARRAY(SELECT nextval({sequence}) FROM generate_series(1, {count}))"


def _insertion(model: type[Model]) -> str:
    table, names = model._meta.db_table, ", ".join(field.column for field in _kept(model))
    rows = f"json_populate_recordset(NULL::{table}, %(rows)s::json -> '{table}')"
    return f"of_{model._meta.model_name} AS (INSERT INTO {table} ({names}) SELECT {names} FROM {rows} RETURNING *)"


def _write(world: World, keys: list[list[int]], names: dict[type[Model], str]) -> Model:
    new = {
        model: dict(zip((row["id"] for row in rows), of_model, strict=True))
        for (model, rows), of_model in zip(world.rows.items(), keys, strict=True)
    }
    written = {}
    for model, rows in world.rows.items():
        changed = [(one.column, _change(one, model, new)) for one in _kept(model)]
        changed = [(name, change) for name, change in changed if change]
        written[model._meta.db_table] = [{**row, **{name: to(row[name]) for name, to in changed}} for row in rows]
        for row in written[model._meta.db_table]:
            row |= {"name": names[model]} if model in names else {}
    found = fetch(world.write, rows=json.dumps(written))[0]
    made, *benchmark = instances(found, *world.made)
    if benchmark:
        [made.benchmark] = benchmark
    return made


def _change(field: Field, model: type[Model], new: dict[type[Model], dict[int, int]]) -> Callable | None:
    """How a column's value becomes the copy's."""
    if field.primary_key or field.related_model in new:
        ids = new[model if field.primary_key else field.related_model]
        return lambda value: value and ids[value]
    if field.name == "sha256":
        return lambda value: hashlib.sha256(f"copy {next(_hashed)}".encode()).hexdigest()
    if model is Event and field.name == "subject":
        return lambda value: f"study:{next(iter(new[Study].values()))}"
    if isinstance(field, CharField) and callable(field.default) and field.has_default():
        return lambda value: field.default()
    return None
