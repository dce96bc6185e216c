"""The rows of a benchmark's comparison: its runs, and the people who judged its questions. It takes five queries,
whatever its size: one for the runs, two for stages that measure people, two for their answers; and two more for each
stage that ranks captions, one for each study whose people have a row.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet

from annotation import permissions
from annotation.comparison.right_picks import FOIL, RANKS, asks_about_the_foil, foil_measure, pick_figures, right_picks
from annotation.comparison.table import ASKED, BLIND, HUMANS, IMPORTED, MEASURED, REPORTED, RESULT, Entry
from annotation.figures import human_baseline, paper
from annotation.measures.human_baseline import BASELINE_PROTOCOLS, pairs_of
from annotation.measures.papers import rank
from annotation.measures.types import Figures
from annotation.models import Stage, Study
from benchmarks.models import Benchmark, Run, RunOrigin
from benchmarks.predictions import cut_captions, stored
from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE
from benchmarks.runs import figures as run_figures
from benchmarks.runs import material
from benchmarks.runs.reported import HUMAN
from benchmarks.scoring.ask import orders_in_words


def runs_of(benchmark: Benchmark, kind: str, studies: QuerySet[Study] | None = None) -> list[Run]:
    """Return runs in order of creation; runs on a study's result only for these `studies`, by default none."""
    theirs = Q() if studies is None else Q(study__in=studies.order_by().values("pk"))
    runs = benchmark.runs.filter(Q(study=None) | theirs)
    return list(runs.filter(kind=kind).select_related("model", "job").order_by("made_at", "pk"))


def kinds_of(benchmark: Benchmark) -> list[str]:
    """Return the kinds that have runs, those with the most runs first."""
    found = list(benchmark.runs.order_by().values_list("kind", flat=True))
    return sorted(set(found), key=lambda kind: (-found.count(kind), kind))


def entries_of(runs: Sequence[Run]) -> tuple[list[Entry], list[int]]:
    """Return the entries whose scores exist, and the numbers of the other runs."""
    found, corrected = run_figures.of_runs(runs), run_figures.corrected_since(runs)
    there = [run for run in runs if run.pk in found.figures]
    return [_entry(run, found.figures[run.pk], corrected.get(run.pk, 0)) for run in there], found.missing


def _entry(run: Run, figures: dict, corrected: int = 0) -> Entry:
    family, is_reported = run.figures.get("family", ""), run.origin == RunOrigin.REPORTED
    cut = run_figures.cut_of(run)
    alone = orders_in_words(run.job.report) if run.asked_in_both_orders and run.job else {}
    orders = [f"{order}: {told}" for order, told in alone.items()]
    if notes := [*cut_captions.in_words(cut, named=False), *_old_words(corrected), *orders]:
        figures = {**figures, "notes": [*figures["notes"], *notes]}
    source = run.source or _place(run)
    if run.study is not None:
        source = " · ".join(filter(None, [f"result of study {run.study}", source]))
    return Entry(
        run.title, stands(run), figures, source, family, run.pk, is_reported,
        cut.get("alike", {}).get("count", 0), cut.get("in_items", {}).get("count"), run.asked_in_both_orders, run.study,
    )  # fmt: skip


def _old_words(corrected: int) -> list[str]:
    """State how many items had different texts or images when the model answered."""
    items = "1 item has" if corrected == 1 else f"{corrected:,} items have"
    said = f"{items} been corrected since; these answers are about the old texts. Score it again."
    return [said] if corrected else []


def _place(run: Run) -> str:
    """Return where a locally scored model's files are, relative to the folder of models or as a full path, because
    different models often share a file name. Empty if it is not a file."""
    given = [run.model.pretrained, run.model.name.partition(":")[2] or run.model.name] if run.model else []
    path = next((Path(one) for one in given if one.startswith("/")), None)
    if path is None:
        return ""
    models = Path(settings.MODELS).resolve()
    return str(path.relative_to(models) if path.is_relative_to(models) else path)


def stands(run: Run) -> str:
    if run.origin == RunOrigin.REPORTED:
        return HUMANS if run.figures.get("family") == HUMAN else REPORTED
    if run.study is not None:
        return RESULT
    if run.asked_in_both_orders:
        return ASKED
    return BLIND if run.blind else MEASURED if run.origin == RunOrigin.MEASURED else IMPORTED


def people(user: User, benchmark: Benchmark, kind: str) -> list[Entry]:
    """Return people who answered the questions that models of that kind get, in studies the user may view."""
    stages = list(_stages(user, benchmark).select_related("study").order_by("study", "position"))
    protocols, figures_of = _PEOPLE.get(kind, ((), lambda stages: iter(())))
    found = [*figures_of([stage for stage in stages if stage.protocol in protocols]), *_foil_figures(stages, kind)]
    return [
        Entry(f"{study.name}{study.simulated_mark}", HUMANS, figures, f"study {study.pk}")
        for study, figures in found
        if any(of["n"] for of in figures["measures"].values())
    ]


def kinds_of_people(user: User, benchmark: Benchmark) -> list[str]:
    """Return the kinds whose questions these studies' stages ask people."""
    stages = list(_stages(user, benchmark).select_related("study").order_by("study", "position"))
    there = {stage.protocol for stage in stages}
    found = [kind for kind, (protocols, _) in _PEOPLE.items() if there & {*protocols}]
    if any(map(asks_about_the_foil, stages)) and (own := material.kind(benchmark)) in FOIL:
        found.append(own)
    return list(dict.fromkeys(found))


def _stages(user: User, benchmark: Benchmark) -> QuerySet[Stage]:
    studies = permissions.studies_for(user).filter(benchmark=benchmark)
    return Stage.objects.filter(study__in=studies.order_by().values("pk"))


def _bivlc_figures(stages: Iterable[Stage]) -> Iterator[tuple[Study, Figures]]:
    """Yield the scores of each baseline."""
    pairs = [(study, pair) for study, own in groupby(stages, attrgetter("study")) for pair in pairs_of(own)]
    for (study, _), found in zip(pairs, human_baseline.of_pairs([pair for _, pair in pairs]), strict=True):
        measures, n = found["measures"], max(of["n"] for of in found["measures"].values())
        yield study, {"n": n, "measures": measures, "groups": found["by_type"], "notes": []}


def _hard_positive_figures(stages: Iterable[Stage]) -> Iterator[tuple[Study, Figures]]:
    """Yield the scores of each stage that ranks captions; two queries per stage."""
    for stage in stages:
        found = rank.as_models_answer(paper.judged_tasks(stage, {}))
        yield stage.study, stored.summarize(found, HARD_POSITIVE)


def _foil_figures(stages: Iterable[Stage], kind: str) -> Iterator[tuple[Study, Figures]]:
    """Yield the scores of each stage that asks about all items' captions and foils; three queries per stage. Items
    selected by an earlier stage would not be a sample of all items."""
    if (measure := foil_measure(kind)) is None:
        return
    for stage in stages:
        if stage.source_id is None and asks_about_the_foil(stage) and (picks := right_picks(stage)):
            yield stage.study, pick_figures(picks, measure.name)


# By kind of evaluation: the protocols that ask people its questions, and their scores
_PEOPLE: Mapping[str, tuple[Collection[str], Callable[[Iterable[Stage]], Iterator[tuple[Study, Figures]]]]] = {
    BIVLC.name: (BASELINE_PROTOCOLS.values(), _bivlc_figures),
    HARD_POSITIVE.name: ([RANKS], _hard_positive_figures),
}


def others(benchmark: Benchmark) -> list[Benchmark]:
    """Return benchmarks with runs whose ranking of models can be compared with this one's."""
    with_runs = Run.objects.order_by().values("benchmark").distinct()
    return list(Benchmark.objects.filter(pk__in=with_runs).exclude(pk=benchmark.pk).order_by("name"))
