"""What a run comes to. A run never changes, so its figures are computed once and kept in the cache.

What takes longer than a page may is computed by the worker: `of_runs` leaves it out, and says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.cache import cache
from django.db import connection

from benchmarks.models import Run, RunOrigin
from benchmarks.predictions import stored
from benchmarks.predictions.kinds import KINDS

VERSION = 1  # of how figures are computed and told: a change of either takes another number
INLINE = 32_000  # predictions that are computed on while a page waits: about 0.2 s
KEEP = 90 * 24 * 3600  # seconds
AGAIN = 60  # seconds until the worker is asked once more

COUNTS = "SELECT run_id, count(*) FROM benchmarks_prediction WHERE run_id = ANY(%s) GROUP BY run_id"
ITEMS = """
SELECT id, type, subtype FROM benchmarks_item WHERE benchmark_id = %s ORDER BY position
"""
ANSWERS = """
SELECT question, array_agg(item_id ORDER BY item_id), array_agg(score ORDER BY item_id),
       array_agg(choice ORDER BY item_id)
FROM benchmarks_prediction WHERE run_id = %s GROUP BY question
"""


@dataclass(frozen=True, slots=True)
class Found:
    """`figures` by the run's number, as `stored.told` or `reported` has them; `missing`: runs for the worker."""

    figures: dict[int, dict]
    missing: list[int]


def of_runs(runs: Sequence[Run]) -> Found:
    """Of runs of one benchmark. One look into the cache, however many there are; what is little is computed at once."""
    known = {run.pk: reported(run) for run in runs if run.origin == RunOrigin.REPORTED}
    keys = {key(run): run for run in runs if run.pk not in known}
    known |= {keys[name].pk: of for name, of in cache.get_many(keys).items()}
    others = [run for run in runs if run.pk not in known]
    room, missing = INLINE, []
    sizes = counts(others)
    for run in sorted(others, key=lambda run: sizes.get(run.pk, 0)):
        room -= sizes.get(run.pk, 0)
        if room < 0:
            missing.append(run.pk)
        else:
            known[run.pk] = compute(run)
    return Found(known, missing)


def counts(runs: Sequence[Run]) -> dict[int, int]:
    return dict(fetch(COUNTS, [run.pk for run in runs])) if runs else {}


def compute(run: Run) -> dict:
    """The figures of a run with predictions, and keep them."""
    items = {item: (kind, subtype) for item, kind, subtype in fetch(ITEMS, run.benchmark_id)}
    columns = {question: stored.Column(*rest) for question, *rest in fetch(ANSWERS, run.pk)}
    kind = KINDS[run.kind]
    found = stored.told(stored.records(columns, items, kind), kind)
    cache.set(key(run), found, KEEP)
    return found


def compute_missing(pks: Iterable[int]) -> None:
    """What the worker does: those that nobody has computed meanwhile."""
    for run in Run.objects.filter(pk__in=list(pks)).exclude(origin=RunOrigin.REPORTED):
        if cache.get(key(run)) is None:
            compute(run)


def to_be_asked(pks: Sequence[int]) -> list[int]:
    """Those for which the worker was not asked a moment ago."""
    return [pk for pk in pks if cache.add(f"run-asked:{pk}", True, AGAIN)]


def key(run: Run) -> str:
    """With the moment at which it was made: numbers come again where a database is made anew."""
    return f"run-figures:{VERSION}:{run.pk}:{run.made_at.timestamp()}"


def fetch(statement: str, *values: object) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def reported(run: Run) -> dict:
    """What a source printed, in the same shape: shares without interval and n."""
    groups = [{**group, "measures": shares(group["measures"])} for group in run.figures.get("groups", [])]
    return {"n": None, "measures": shares(run.figures.get("measures", {})), "groups": groups, "notes": []}


def shares(percents: dict[str, float]) -> dict[str, dict]:
    return {
        name: {"share": round(percent / 100, 6), "low": None, "high": None, "n": None, "right": None}
        for name, percent in percents.items()
    }
