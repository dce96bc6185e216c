"""The scores of a run. A run never changes, so its scores are computed once and cached, and again if an item it answers
is withdrawn, and so left out, or put back.

The worker computes what takes too long for a page; `of_runs` lists it as missing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from celery import shared_task
from django.contrib.postgres.aggregates import ArrayAgg
from django.core.cache import cache
from django.db.models import Count, Max, QuerySet

from benchmarks.metrics.base import Typed
from benchmarks.models import Caption, Correction, Item, Prediction, Run, RunOrigin
from benchmarks.models.correction import WHOLE
from benchmarks.predictions import stored
from benchmarks.predictions.evaluators import EVALUATORS, missing_subsets
from benchmarks.predictions.kinds import HARD_POSITIVE, KINDS, Kind, of_answers
from benchmarks.predictions.mean_scores import in_words, mean_scores
from benchmarks.predictions.output import as_lines
from benchmarks.runs.reported import Value

VERSION = 10  # of the figures and their format: increase it when either changes
INLINE = 16_000  # predictions computed while a page waits: about 0.1 s on an idle machine
KEEP = 90 * 24 * 3600  # seconds
AGAIN = 60  # seconds until another request to the worker


@dataclass(frozen=True, slots=True)
class Found:
    """`figures` by the run's number, as from `stored.summarize` or `reported`; `missing`: runs left to the worker."""

    figures: dict[int, dict]
    missing: list[int]


def of_runs(runs: Sequence[Run]) -> Found:
    """Return the scores of one benchmark's runs, with one cache lookup; small runs are computed at once."""
    known = {run.pk: reported(run) for run in runs if run.origin == RunOrigin.REPORTED}
    at = withdrawn_at(runs)
    keys = {key(run, at): run for run in runs if run.pk not in known}
    known |= {keys[name].pk: of for name, of in cache.get_many(keys).items()}
    others = [run for run in runs if run.pk not in known]
    now, missing = within(INLINE, others)
    return Found(known | compute_all(now), [run.pk for run in missing])


def within(room: int, runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Split runs, smallest first, into those within this total number of predictions, and the others."""
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
    """Compute and cache the scores of one benchmark's runs with predictions, in two queries, or three if a kind reads
    captions."""
    if not runs:
        return {}
    at, answers = withdrawn_at(runs), _answers(runs)
    found = {}
    for run in runs:
        kind, columns = kind_of(run), answers.columns[run.pk]
        records = stored.records(columns, answers.items, kind, answers.captions)
        ties = {}
        if stored.have_ties(columns, answers.items, kind):
            generous = stored.records(columns, answers.items, kind, answers.captions, ties_are_right=True)
            ties = stored.ties(records, generous, kind)
        found[run.pk] = {**stored.summarize(records, kind), "ties": ties}
        asked = answers.items.values() if run.study is None else ()
        alike = [(one["type"], one["subtype"]) for one in cut_of(run).get("alike", {}).get("by_type", ())]
        found[run.pk]["notes"] += missing_subsets(kind, records, asked, alike)
        if kind.name == HARD_POSITIVE.name:
            scores = _scores_by_item(columns)
            means = mean_scores(
                ((*answers.items[item], of) for item, of in scores.items() if item in answers.items), HARD_POSITIVE
            )
            found[run.pk]["notes"] += in_words(means)
    cache.set_many({key(run, at): found[run.pk] for run in runs}, KEEP)
    return found


def kind_of(run: Run) -> Kind:
    """Return the kind, with the chance level for the way the model was asked."""
    return of_answers(KINDS[run.kind], 2) if run.asked_in_both_orders else KINDS[run.kind]


def cut_of(run: Run) -> dict[str, Any]:
    """Return what the run's job reported about captions that the model truncates."""
    return run.job.report.get("cut", {}) if run.job else {}


def _scores_by_item(columns: Mapping[str, stored.Column]) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for name, column in columns.items():
        for item, score in zip(column.items, column.scores, strict=True):
            if score is not None:
                found[item][name] = score
    return found


def records_of(runs: Sequence[Run]) -> dict[int, dict[int, Typed]]:
    """Return, for each of one benchmark's runs, a record of each item that it answers. Makes as many queries."""
    answers, found = _answers(runs), {}
    for run in runs:
        columns = answers.columns[run.pk]
        records = stored.records(columns, answers.items, KINDS[run.kind], answers.captions)
        found[run.pk] = dict(zip(stored.answered(columns, answers.items), records, strict=True))
    return found


def in_lines(run: int) -> list[str]:
    """Return the run's scores as a table to read, as `evaluate` prints it."""
    found = Run.objects.get(pk=run)
    evaluation = EVALUATORS[found.kind](list(records_of([found])[run].values()), kind_of(found))
    return list(as_lines(replace(evaluation, notes=compute(found)["notes"])))


@dataclass(frozen=True, slots=True)
class _Answers:
    """`columns`: by run number and question."""

    columns: dict[int, dict[str, stored.Column]]
    items: stored.ItemTypes
    captions: stored.ItemCaptions


def _answers(runs: Sequence[Run]) -> _Answers:
    rows = Item.objects.filter(benchmark=runs[0].benchmark_id, withdrawn=False).order_by("position")
    items = {item: (type, subtype) for item, type, subtype in rows.values_list("pk", "type", "subtype")}
    columns: dict[int, dict[str, stored.Column]] = {run.pk: {} for run in runs}
    arrays = {f"{name}s": ArrayAgg(name, order_by="item_id") for name in ("item_id", "score", "choice")}
    answers = Prediction.objects.filter(run__in=runs).values_list("run", "question").annotate(**arrays)
    if gone := list(Item.objects.filter(benchmark=runs[0].benchmark_id, withdrawn=True).values_list("pk", flat=True)):
        answers = answers.exclude(item__in=gone)
    for run_id, question, *column in answers:
        columns[run_id][question] = stored.Column(*column)
    reading = any(KINDS[run.kind].measured.from_captions for run in runs)
    return _Answers(columns, items, first_captions(runs[0].benchmark_id) if reading else {})


def first_captions(benchmark: int) -> dict[int, dict[str, str]]:
    """Return each item's first caption of each role."""
    return _first_captions(Caption.objects.filter(item__benchmark=benchmark))


def first_captions_of(items: Collection[int]) -> dict[int, dict[str, str]]:
    """Return the same for these items."""
    return _first_captions(Caption.objects.filter(item__in=items))


def _first_captions(captions: QuerySet[Caption]) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    first = captions.filter(position=0).order_by()
    for item, role, text in first.values_list("item", "role", "text"):
        found.setdefault(item, {})[role] = text
    return found


def compute_missing(pks: Iterable[int]) -> None:
    """Compute scores that are still missing, in the worker."""
    for run in Run.objects.filter(pk__in=list(pks)).exclude(origin=RunOrigin.REPORTED):
        if cache.get(key(run, withdrawn_at([run]))) is None:
            compute(run)


def to_be_asked(pks: Sequence[int]) -> list[int]:
    """Return runs for which the worker was not asked recently."""
    return [pk for pk in pks if cache.add(f"run-asked:{pk}", True, AGAIN)]


def withdrawn_at(runs: Sequence[Run]) -> int:
    """Return the last withdrawal or return of an item of the runs' benchmark; 0 if there was none."""
    changes = Correction.objects.filter(item__benchmark=runs[0].benchmark_id) if runs else Correction.objects.none()
    return changes.filter(place=WHOLE).aggregate(last=Max("pk"))["last"] or 0


def key(run: Run, withdrawn_at: int) -> str:
    """Return the cache key, with the time of creation: ids repeat when a database is recreated."""
    return f"run-figures:{VERSION}:{run.pk}:{run.made_at.timestamp()}:{withdrawn_at}"


def corrected_since(runs: Sequence[Run]) -> dict[int, int]:
    """Count, by run, the items it answers whose texts or images have changed since; most runs have none."""
    changes = Correction.objects.filter(item__benchmark=runs[0].benchmark_id) if runs else Correction.objects.none()
    rows = list(changes.exclude(place=WHOLE).exclude(item__withdrawn=True).values_list("item", "at"))
    found: dict[int, int] = {}
    for run in runs if rows else ():
        later = {item for item, at in rows if at > run.made_at}
        count = Prediction.objects.filter(run=run, item__in=later).values("item").distinct().count() if later else 0
        found |= {run.pk: count} if count else {}
    return found


def reported(run: Run) -> dict:
    """Return reported scores in the same format: shares without interval and n, except for a release's."""
    groups = [{**group, "measures": shares(group["measures"])} for group in run.figures.get("groups", [])]
    measures, n = shares(run.figures.get("measures", {})), run.figures.get("n")
    return {"n": n, "measures": measures, "groups": groups, "notes": [], "ties": {}}


def shares(values: Mapping[str, Value]) -> dict[str, dict]:
    none = {"low": None, "high": None, "n": None, "right": None}
    return {
        name: {**none, **(value if isinstance(value, Mapping) else {"share": round(value / 100, 6)})}
        for name, value in values.items()
    }


@shared_task
def compute_figures(runs: list[int]) -> None:
    """Run `compute_missing`, in the worker."""
    compute_missing(runs)
