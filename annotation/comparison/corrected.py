"""The corrected table: a benchmark's models on an audit's items, and on the valid items among them, beside the scores
reported in papers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.http import HttpRequest
from django.utils.html import format_html

from annotation.comparison import entries as comparison_entries
from annotation.comparison import latex, table
from annotation.comparison.table import HUMANS, REPORTED, CorrectedRow, Entry
from annotation.measures.audits.corrected import Corrected, Difference, Model, Share, corrected
from annotation.models import Stage, Strategy
from annotation.pipeline import audits
from annotation.templatetags.figures import exact_percent, exact_to_percent, percent
from benchmarks.jobs import jobs
from benchmarks.models import Item, Prediction
from benchmarks.predictions import stored
from benchmarks.predictions.evaluators import EVALUATORS
from benchmarks.predictions.kinds import KINDS
from benchmarks.predictions.names import NAMES, MeasureName, main_measure, measure_name
from benchmarks.runs import figures as run_figures
from benchmarks.tables import NOTHING, Column, Table, bdi, exact, number, with_sub


def contents(stage: Stage, request: HttpRequest) -> dict[str, Any]:
    """Return the contents of the page and the file; `found` is None without an audit or models' answers."""
    benchmark, given = stage.study.benchmark, request.GET
    kinds = comparison_entries.kinds_of(benchmark)
    shown: dict[str, Any] = {"stage": stage, "study": stage.study, "kinds": [(one, KINDS[one].title) for one in kinds]}
    if stage.strategy != Strategy.AUDIT or not kinds:
        return {**shown, "found": None}
    kind = given.get("kind", "") if given.get("kind", "") in kinds else kinds[0]
    measure = measure_name(kind, given.get("measure", "")) or main_measure(kind)
    entries, missing = comparison_entries.entries_of(comparison_entries.runs_of(benchmark, kind))
    if to_ask := run_figures.to_be_asked(missing):
        jobs.publish_after_commit(run_figures.compute_figures, to_ask)
    newest = table.only_newest(entries)[0]
    names = _names([one for one in newest if one.stands not in (HUMANS, REPORTED)])
    judged = audits.judged(stage)
    models = _models(names, kind, measure, list(judged))
    found = corrected(models, judged, measure.lower) if models else None
    titles = {name: one.title for name, one in names.items()}
    rows = table.corrected_rows(found.rows, titles, newest, measure) if found else []
    return {
        **shown, "kind": kind, "measure": measure, "missing": len(missing), "found": found, "rows": rows,
        "reported": any(row.reported is not None for row in rows),
        "corrected": found and table_of(found, rows, request),
        "differences": found and Table("differences", DIFFERENCES, found.differences, label="differences-title"),
        "measures": [(one.name, one.short) for one in NAMES[kind]],
        "latex": found and latex.corrected(found, rows, measure),
    }  # fmt: skip


def _names(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Name each entry uniquely: by its title, with the run's number if several share it."""
    titles = [one.title for one in entries]
    return {one.title if titles.count(one.title) == 1 else f"{one.title} ({one.run})": one for one in entries}


def _models(entries: Mapping[str, Entry], kind: str, measure: MeasureName, items: Sequence[int]) -> list[Model]:
    """Return, for each run, whether it answered each item correctly. Runs without the measure, or whose measure is not
    just the mean over items, are left out.
    """
    answers = _right(list(entries.values()), kind, measure.name, items)
    models = []
    for name, one in entries.items():
        whole, right = table.of_whole(one, measure), answers.get(one.run or 0)
        if whole and whole["share"] is not None and right:
            models.append(Model(name, whole["share"], right, one.asked_in_both_orders))
    return models


def _right(entries: Sequence[Entry], kind: str, measure: str, items: Sequence[int]) -> dict[int, dict[int, bool]]:
    evaluate = EVALUATORS[kind]
    rows = Item.objects.filter(pk__in=items).order_by("position")
    types = {item: (type, subtype) for item, type, subtype in rows.values_list("pk", "type", "subtype")}
    columns: dict[int, dict[str, stored.Column]] = {one.run: {} for one in entries if one.run}
    arrays = {f"{name}s": ArrayAgg(name, order_by="item_id") for name in ("item_id", "score", "choice")}
    answers = Prediction.objects.filter(run__in=columns, item__in=items).values_list("run", "question")
    for run, question, *column in answers.annotate(**arrays):
        columns[run][question] = stored.Column(*column)
    measured = KINDS[kind].measured
    captions = run_figures.first_captions_of(items) if measured.from_captions else {}
    found: dict[int, dict[int, bool]] = {}
    for run, there in columns.items():
        order = stored.answered(there, types)
        records = stored.records(there, types, KINDS[kind], captions)
        shares = {}
        for item, record in zip(order, records, strict=True):
            figure = evaluate([record], KINDS[kind]).figures.get(measure)
            share = getattr(figure, "share", None)
            if share is not None:
                shares[item] = share
        whole = getattr(evaluate(records, KINDS[kind]).figures.get(measure), "share", None) if records else None
        if shares and whole is not None and abs(sum(shares.values()) / len(shares) - whole) < 1e-9:
            found[run] = {item: share == 1 for item, share in shares.items()}
    return found


def table_of(found: Corrected, rows: Sequence[CorrectedRow], request: HttpRequest) -> Table:
    """Make a table of every row, with columns for any reported scores. The file has all digits, and empty fields for
    missing values.
    """
    reported = [
        number("reported†", "reported", exact_percent),
        Column("source", "source", name="reported_source", page=False),
    ]

    def ends(of: str) -> list[Column]:
        return [Column(end, f"figures.{of}.{end}", name=f"{of}_{end}", page=False) for end in ("low", "high")]

    def share(of: str) -> Column:
        def shown(row: CorrectedRow) -> object:
            own: Share | None = getattr(row.figures, of) if row.figures else None
            return NOTHING if own is None else _with_interval(own.share, own)

        return number(f"{of} items", f"figures.{of}.share", html=shown, name=of)

    columns = [
        Column("model", "name", html=_named, name="model"),
        *(reported if any(row.reported is not None for row in rows) else []),
        number("all items", "figures.everywhere", percent, name="all_items"),
        number("rank", "figures.rank", name="rank_all_items"),
        Column("n", lambda row: row.figures and found.audited, name="audited_n", page=False),
        share("audited"), *ends("audited"),
        Column("n", lambda row: row.figures and found.valid, name="valid_n", page=False),
        share("valid"), *ends("valid"),
        number("rank", "figures.valid_rank", name="rank_valid"),
        Column("asked in both orders", "figures.asked_in_both_orders", name="asked_in_both_orders", page=False),
    ]  # fmt: skip
    return Table("corrected", columns, rows, label="corrected-title", request=request, download=True)


def _named(row: CorrectedRow) -> object:
    alone = "" if row.figures else ", reported only"
    twice = row.figures and row.figures.asked_in_both_orders and "asked in both orders, ranked apart"
    return with_sub(bdi(row.name), row.source and format_html("† {}{}", bdi(row.source), alone), twice)


def _with_interval(share: float | None, ends: Share | Difference) -> object:
    return with_sub(exact(share, percent), exact_to_percent(ends.low, ends.high))


DIFFERENCES = [
    Column("models", html=lambda one: format_html("{} − {}", bdi(one.first), bdi(one.second))),
    number("difference", html=lambda one: _with_interval(one.value, one)),
    number("resamples with this order", "sure", percent),
    Column("on all items", "changed", lambda changed: "order reversed" if changed else "same order or tied"),
]
