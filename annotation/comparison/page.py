"""The contents of the page about a benchmark's models and humans."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.utils import timezone

from annotation import permissions
from annotation.comparison import charts, latex, paired, table, tables
from annotation.comparison import entries as comparison_entries
from annotation.comparison.table import ByType, Entry
from annotation.measures.rank_correlation import spearman
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Run
from benchmarks.permissions import StaffRequest, may_change_benchmark
from benchmarks.predictions.kinds import KINDS
from benchmarks.predictions.names import NAMES, MeasureName, main_measure, measure_name
from benchmarks.runs import figures as run_figures
from benchmarks.runs import material
from benchmarks.runs.margins import ranks
from benchmarks.scoring import retrieval
from benchmarks.scoring.score import ORDER_TASKS
from benchmarks.tables import Table


@dataclass(frozen=True, slots=True)
class Query:
    """The page's query; missing or invalid parts get their defaults."""

    kind: str
    measure: MeasureName
    order: str
    other: Benchmark | None

    @classmethod
    def from_address(cls, given: Mapping[str, str], kinds: list[str], usual: str, others: list[Benchmark]) -> "Query":
        kind, order = given.get("kind", ""), given.get("order", "")
        kind = kind if kind in kinds else (kinds or [usual])[0]
        measure = measure_name(kind, given.get("measure", "")) or main_measure(kind)
        other = next((one for one in others if str(one.pk) == given.get("other")), None)
        return cls(kind, measure, order if order in table.ORDERS else "given", other)


def contents(request: StaffRequest, benchmark: Benchmark) -> dict:
    """Return the page's contents. Runs whose scores take long are `missing`, and left to the worker."""
    user, given = request.user, request.GET
    kinds, others = comparison_entries.kinds_of(benchmark), comparison_entries.others(benchmark)
    kinds += [kind for kind in comparison_entries.kinds_of_people(user, benchmark) if kind not in kinds]
    asked = Query.from_address(given, kinds, "" if kinds else material.kind(benchmark), others)
    every_run = comparison_entries.runs_of(benchmark, asked.kind, permissions.studies_for(user))
    found, missing = comparison_entries.entries_of(every_run)
    runs, older = table.only_newest(found)
    everybody = [*comparison_entries.people(user, benchmark, asked.kind), *runs]
    entries = table.ordered(everybody, asked.order, asked.measure)
    if to_ask := run_figures.to_be_asked(missing):
        jobs.publish_after_commit(run_figures.compute_figures, to_ask)
    own = user.pk if not may_change_benchmark(user, benchmark) else None
    deletable = {run.pk for run in every_run if own in (None, run.created_by_id)}
    return {
        "benchmark": benchmark, "asked": asked, "kind": KINDS[asked.kind],
        "kinds": [(name, KINDS[name].title) for name in kinds],
        "orders": table.ORDERS,
        "measures": [(one.name, one.short) for one in NAMES[asked.kind]],
        "others": [(one.pk, one.name) for one in others],
        "items": (items := benchmark.present.count()),
        "deletable": deletable, "missing": len(missing),
        "entries": entries,
        "models": any(one.stands != table.HUMANS for one in entries),
        "older": older,
        **(whole := _whole(entries, asked.kind)),
        "whole": tables.by_measure(
            whole["sections"], whole["columns"], "whole-title", tables.Deletes(request, benchmark, deletable), items
        ),
        "parts": _parts(entries, asked),
        "plot": charts.plane(
            asked.kind, entries, charts.OfBenchmark(benchmark.pk, benchmark.name, timezone.now().isoformat())
        ),
        **(_correlated(asked, asked.other, runs) if asked.other else {}),
        **_paired(every_run, table.ordered(runs, "best", asked.measure), request),
        "retrievals": retrieval.results_of(benchmark),
        "order_tasks": retrieval.results_of(benchmark, ORDER_TASKS),
    }  # fmt: skip


def _parts(entries: list[Entry], asked: Query) -> Table:
    """Return the measure requested, by type and subtype."""
    by_type = ByType(asked.kind, asked.measure.name)
    columns = by_type.heads(entries, asked.measure)
    return tables.by_measure(table.table(entries, columns, by_type) if columns else [], columns, "parts-title")


def _paired(runs: Sequence[Run], best: Sequence[Entry], request: StaffRequest) -> dict:
    """Compare two runs item by item: the choice of runs, at first the two best, and the rows over all items."""
    comparable = paired.comparable(runs)
    chosen = paired.chosen(comparable, request.GET)
    rows = paired.rows_of(chosen) if chosen else []
    titles = [run.title for run in comparable]
    named = [(run.pk, run.title if titles.count(run.title) == 1 else f"{run.title} ({run.pk})") for run in comparable]
    shown = chosen and tables.item_by_item(chosen, rows, request)
    offered = [run.pk for run in chosen] or [one.run for one in best if one.run in dict(named)]
    return {"comparable": named, "chosen": chosen, "offered": offered[:2], "paired": rows, "paired_table": shown}


def _whole(entries: list[Entry], kind: str) -> dict:
    """Return the table, for the page and for papers, and each model's gap to humans."""
    columns = table.heads(kind, entries)
    sections, people = table.table(entries, columns), table.reference(entries)
    tied = table.tied(entries, columns)
    return {
        "columns": columns,
        "sections": sections,
        "markdown": latex.markdown(sections, columns, tied),
        "latex": latex.latex(sections, columns, tied),
        "people": people,
        "gaps": people and tables.gaps(table.gaps(sections, people, columns), columns),
        "gap_method": table.GAP_METHOD,
        "notes": [*(f"{one.title}: {note}" for one in entries for note in one.figures["notes"]), *tied],
    }


def _correlated(asked: Query, benchmark: Benchmark, runs: list[Entry]) -> dict:
    """Return the models that both benchmarks have, with their scores and ranks, and the rank correlation."""
    kind = comparison_entries.kinds_of(benchmark)[0]
    measure = main_measure(kind)
    there, missing = comparison_entries.entries_of(comparison_entries.runs_of(benchmark, kind))
    here = table.named_alike(runs, asked.measure)
    other = table.named_alike(table.only_newest(there)[0], measure)
    both = [(*here[name], other[name][1]) for name in here if name in other]
    shares = [[one for _, one, _ in both], [one for *_, one in both]]
    places = [
        ranks(np.array(of) if one.lower else -np.array(of)).tolist()
        for of, one in zip(shares, (asked.measure, measure), strict=True)
    ]
    rows = [(title, *rest) for (title, *_), *rest in zip(both, shares[0], places[0], shares[1], places[1], strict=True)]
    return {
        "correlation": spearman(*shares),
        "other_measure": measure,
        "pairs": tables.correlated(sorted(rows, key=lambda row: row[2]), asked.measure, measure),
        "other_missing": len(missing),
    }
