"""What a run comes to. A run never changes, so its figures are computed once and kept in the cache.

What takes longer than a page may is computed by the worker: `of_runs` leaves it out, and says so.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from celery import shared_task
from django.contrib.postgres.aggregates import ArrayAgg
from django.core.cache import cache
from django.db.models import Count

from benchmarks.models import Caption, Item, Prediction, Run, RunOrigin
from benchmarks.predictions import stored
from benchmarks.predictions.kinds import KINDS

VERSION = 2  # of how figures are computed and told: a change of either takes another number
INLINE = 16_000  # predictions that are computed on while a page waits: about 0.1 s on a machine at rest
KEEP = 90 * 24 * 3600  # seconds
AGAIN = 60  # seconds until the worker is asked once more


@dataclass(frozen=True, slots=True)
class Found:
    """`figures` by the run's number, as `stored.summarize` or `reported` has them; `missing`: runs for the worker."""

    figures: dict[int, dict]
    missing: list[int]


def of_runs(runs: Sequence[Run]) -> Found:
    """Of runs of one benchmark. One look into the cache, however many there are; what is little is computed at once."""
    known = {run.pk: reported(run) for run in runs if run.origin == RunOrigin.REPORTED}
    keys = {key(run): run for run in runs if run.pk not in known}
    known |= {keys[name].pk: of for name, of in cache.get_many(keys).items()}
    others = [run for run in runs if run.pk not in known]
    now, missing = within(INLINE, others)
    return Found(known | compute_all(now), [run.pk for run in missing])


def within(room: int, runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Those that have no more predictions than this together, the smallest first; and the others."""
    now: list[Run] = []
    later: list[Run] = []
    counts = Prediction.objects.filter(run__in=runs).values_list("run").annotate(Count("pk")) if runs else ()
    sizes = dict(counts)
    for run in sorted(runs, key=lambda run: sizes.get(run.pk, 0)):
        room -= sizes.get(run.pk, 0)
        (now if room >= 0 else later).append(run)
    return now, later


def compute(run: Run) -> dict:
    return compute_all([run])[run.pk]


def compute_all(runs: Sequence[Run]) -> dict[int, dict]:
    """The figures of runs of one benchmark that have predictions, in two queries, or three where a kind reads captions;
    and keep them."""
    if not runs:
        return {}
    rows = Item.objects.filter(benchmark=runs[0].benchmark_id).order_by("position")
    items = {item: (type, subtype) for item, type, subtype in rows.values_list("pk", "type", "subtype")}
    columns: dict[int, dict[str, stored.Column]] = {run.pk: {} for run in runs}
    arrays = {f"{name}s": ArrayAgg(name, order_by="item_id") for name in ("item_id", "score", "choice")}
    answers = Prediction.objects.filter(run__in=runs).values_list("run", "question").annotate(**arrays)
    for run_id, question, *column in answers:
        columns[run_id][question] = stored.Column(*column)
    reading = any(KINDS[run.kind].measured.from_captions for run in runs)
    captions = first_captions(runs[0].benchmark_id) if reading else {}
    found = {}
    for run in runs:
        kind = KINDS[run.kind]
        found[run.pk] = stored.summarize(stored.records(columns[run.pk], items, kind, captions), kind)
    cache.set_many({key(run): found[run.pk] for run in runs}, KEEP)
    return found


def first_captions(benchmark: int) -> dict[int, dict[str, str]]:
    """By item: its first caption of each role."""
    found: dict[int, dict[str, str]] = {}
    first = Caption.objects.filter(item__benchmark=benchmark, position=0).order_by()
    for item, role, text in first.values_list("item", "role", "text"):
        found.setdefault(item, {})[role] = text
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


def reported(run: Run) -> dict:
    """What a source printed, in the same shape: shares without interval and n."""
    groups = [{**group, "measures": shares(group["measures"])} for group in run.figures.get("groups", [])]
    return {"n": None, "measures": shares(run.figures.get("measures", {})), "groups": groups, "notes": []}


def shares(percents: dict[str, float]) -> dict[str, dict]:
    return {
        name: {"share": round(percent / 100, 6), "low": None, "high": None, "n": None, "right": None}
        for name, percent in percents.items()
    }


@shared_task
def compute_figures(runs: list[int]) -> None:
    """`compute_missing`, in the worker."""
    compute_missing(runs)
