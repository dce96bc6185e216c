"""A study's people and its benchmark's models in one table, on all items and on the valid ones.

People have a share of right picks if the question has a known right answer. For valid items, it uses only answers that
did not decide which items are valid; otherwise it would be circular.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from annotation.comparison import entries, table
from annotation.comparison.right_picks import asks_about_the_foil, measure_of, right_picks, share_of
from annotation.comparison.table import HUMANS, RESULT
from annotation.figures import human_baseline
from annotation.figures.funnel import measures, walk_of
from annotation.figures.judgments import judgments_of
from annotation.measures.funnel import Fate, Walk, fates
from annotation.measures.human_baseline import pairs_of
from annotation.measures.scored import Range, Scored, summary
from annotation.models import Stage, Study
from annotation.pipeline.part import items_of
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN
from annotation.wording import counted, simulated_mark
from benchmarks.models import Benchmark, Prediction, Run
from benchmarks.naming import kind_name
from benchmarks.predictions import stored
from benchmarks.predictions.item_figures import figures_of, verdicts
from benchmarks.predictions.kinds import BIVLC, KINDS
from benchmarks.predictions.names import MeasureName, main_measure
from benchmarks.runs import figures as run_figures

Figure = dict[str, Any]  # share, low, high and n
MANY = 50_000  # models' answers
CIRCULAR = "their own answers chose these items"
NOT_ALL = "asked only about items that an earlier stage kept"
ON_RESULT = "scored on the items that were kept"
NOBODY = "nobody else was asked about these items"

SINGLE = "One person"
Part = tuple[str, str | None]  # a type; or the subtypes, if there is only one type


@dataclass
class Row:
    """`all`, `valid` and `parts` (in the order of the table's) are figures or None, for the reasons in `why`. `study`:
    the one whose people these are, if it is another; `apart`: the question is not the one that models are asked;
    `in_both_orders`: a model that was asked each question twice; `gap` and, by part, `part_gaps`: what the study's
    people have more than this model, item by item (`_less`); `notes`: what to know of a model's figures; `cut`: items
    with captions longer than it reads, if known; `read_alike`: those left out, since it reads their captions alike;
    `fewer`: it answers fewer items than others, and is not ranked with them.
    """

    title: str
    stands: str
    about: str = ""
    study: int | None = None
    run: int | None = None
    apart: bool = False
    in_both_orders: bool = False
    gap: dict[str, Any] | None = None
    part_gaps: list[dict[str, Any] | None] = field(default_factory=list)
    all: Figure | None = None
    valid: Figure | None = None
    decided: Figure | None = None
    parts: list[Figure | None] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    cut: int | None = None
    read_alike: int = 0
    fewer: bool = False


@dataclass(frozen=True)
class _Items:
    """The study's items: positions and types by key, and the keys of valid items, None if no stage decides."""

    position: Mapping[int, int]
    kinds: Mapping[int, tuple[str, str]]
    valid: frozenset[int] | None
    decided: frozenset[int]
    parts: Sequence[Part]

    def places_of_valid(self) -> set[int]:
        return {self.position[item] for item in self.valid or ()}


def people_and_models(study: Study) -> dict[str, Any]:
    """Return the rows, first people and then models, the best first, with column names and counts; JSON-able."""
    stages = list(study.stages.order_by("position"))
    for stage in stages:
        stage.study = study
    walk = walk_of(study, [stage for stage in stages if not measures(stage)])
    ends = fates(walk)
    found = _items(study, walk, ends)
    kind, measure = _compared(study, stages)
    given = _picks_by_stage(stages)
    people = [*_people(stages, given, found, kind, measure), *_baselines(stages, found, kind, measure)]
    people += _other_studies(study, stages, found, kind, measure)
    alike = [stage for stage in stages if stage.source_id is None and measure and measure_of(stage, kind) == measure]
    picks = next((given[stage.pk] for stage in alike if given.get(stage.pk)), [])
    models = _models(study, found, kind, measure, picks) if measure else []
    return {
        "kind": kind,
        "measure": measure and {"name": measure.name, "short": measure.short, "long": measure.long},
        "chance": measure.chance if measure else None,
        "chance_in_both_orders": measure.chance_in_both_orders if measure else None,
        "items": len(found.kinds),
        "valid": None if found.valid is None else len(found.valid),
        "open": sum(end.state == OPEN for end in ends.values()),
        "parts": [_in_words(part) for part in found.parts],
        "rows": [asdict(row) | {"part_gaps": row.part_gaps or [None for _ in row.parts]} for row in (*people, *models)],
    }


def of_this_study(study: Study) -> dict[str, Any] | None:
    """Return the same without people of other studies; None if the benchmark has no models."""
    found = people_and_models(study)
    rows = [row for row in found["rows"] if row["study"] is None]
    return {**found, "rows": rows} if any(row["run"] for row in rows) else None


def _items(study: Study, walk: Walk, ends: Mapping[int, Fate]) -> _Items:
    kinds = {item: kind for item, kind in walk.kinds.items() if item not in walk.withdrawn}
    types = sorted({kind for kind, _ in kinds.values()})
    both = sorted(set(kinds.values()))
    parts: list[Part] = [(one, None) for one in types] if len(types) > 1 else list(both)
    position = dict(items_of(study).values_list("pk", "position"))
    kept, decided = (
        frozenset(item for item in kinds if ends[item].state in states) for states in ((KEPT,), (KEPT, DROPPED))
    )
    return _Items(position, kinds, kept if walk.stages else None, decided, parts if len(parts) > 1 else [])


def _in_words(part: Part) -> str:
    return kind_name(part[0]) if part[1] is None else kind_name(part[1], none="no subtype")


def _is_in(row: Any, part: Part) -> bool:
    return bool(row.type == part[0] and part[1] in (None, row.subtype))


# Questions asked of both people and models


def _compared(study: Study, stages: Sequence[Stage]) -> tuple[str, MeasureName | None]:
    """Return the kind of evaluation and the measure that asks the same question as a stage of the study; otherwise the
    main measure of the kind with the most runs, or none.
    """
    kinds = entries.kinds_of(study.benchmark)
    for kind in kinds:
        for stage in stages:
            if measure := measure_of(stage, kind):
                return kind, measure
    if pairs_of(stages):
        return BIVLC.name, main_measure(BIVLC.name)
    return (kinds[0], main_measure(kinds[0])) if kinds else ("", None)


# People


def _picks_by_stage(stages: Sequence[Stage]) -> dict[int, list[Scored]]:
    """Return each stage's right picks, except the baseline's own stages."""
    baseline = {stage.pk for pair in pairs_of(stages) for stage in pair.stages.values()}
    return {stage.pk: right_picks(stage) for stage in stages if stage.pk not in baseline}


def _people(
    stages: Sequence[Stage], given: Mapping[int, Sequence[Scored]], found: _Items, kind: str,
    measure: MeasureName | None,
) -> list[Row]:  # fmt: skip
    """Return a row for each stage whose question has a right answer."""
    asked = [stage for stage in stages if given.get(stage.pk)]
    if not asked:
        return []
    deciding = {
        (position, annotator)
        for stage in stages
        if any(map(measures, asked)) and not measures(stage)
        for position, annotator in _who_judged(stage, given)
    }
    rows = []
    for stage in asked:
        title = average_of("" if len(asked) == 1 else f"stage {stage.position}")
        row = _of_people(title, given[stage.pk], found, stage)
        row.apart = bool(measure and measure_of(stage, kind) != measure)
        if found.valid is not None:
            others = [] if not measures(stage) else [
                one for one in given[stage.pk] if (one.item, one.annotator) not in deciding
            ]  # fmt: skip
            _on_valid(row, others, found, NOBODY if measures(stage) else CIRCULAR)
        rows.append(row)
    return rows


def average_of(where: str) -> str:
    """Return the title for single annotators' average share correct; in the stage or study named by `where`."""
    return f"{SINGLE} {f'in {where}' if where else 'on average'}"


def answers_of(answers: int, people: int, simulated: int = 0) -> str:
    who = counted(people, "annotator") + simulated_mark(simulated, people)
    return f"average of {counted(answers, 'answer')} by {who}"


def _who_judged(stage: Stage, given: Mapping[int, Sequence[Scored]]) -> Iterable[tuple[int, int]]:
    """Yield items' positions, with who judged them."""
    if rows := given.get(stage.pk):
        return {(row.item, row.annotator) for row in rows}
    found = judgments_of(stage)
    counted_ones = found[found.is_judge & found.counted]
    return {(task[0], who) for task, who in zip(counted_ones.task.tolist(), counted_ones.annotator, strict=True)}


def _of_people(title: str, picks: Sequence[Scored], found: _Items, stage: Stage, study: int | None = None) -> Row:
    people = {one.annotator for one in picks}
    row = Row(title, HUMANS, answers_of(len(picks), len(people), len(people & stage.study.simulated)), study)
    if stage.source_id is None:
        row.all = share_of(picks)
        row.parts = [share_of([one for one in picks if _is_in(one, part)]) for part in found.parts]
    else:
        row.parts, row.why["all"] = [None for _ in found.parts], NOT_ALL
    return row


def _on_valid(row: Row, picks: Sequence[Scored], found: _Items, why: str) -> None:
    valid = found.places_of_valid()
    row.valid = share_of([one for one in picks if one.item in valid])
    if row.valid is None:
        row.why["valid"] = why


def _other_studies(
    study: Study, own: Sequence[Stage], found: _Items, kind: str, measure: MeasureName | None
) -> list[Row]:
    """Return people whom other studies asked the same about these items; their answers don't affect this one."""
    asks = any(map(asks_about_the_foil, own))
    stages = Stage.objects.filter(study__benchmark=study.benchmark_id).exclude(study=study).select_related("study")
    rows = []
    for stage in stages.order_by("study", "position"):
        same = measure_of(stage, kind) == measure if measure else asks and asks_about_the_foil(stage)
        if same and (picks := _among(right_picks(stage), found)):
            row = _of_people(average_of(f"“{stage.study.name}”"), picks, found, stage, stage.study_id)
            if found.valid is not None:
                _on_valid(row, picks, found, NOBODY)
            rows.append(row)
    return rows


def _among(picks: Sequence[Scored], found: _Items) -> list[Scored]:
    there = set(found.position.values())
    return [one for one in picks if one.item in there]


def _baselines(stages: Sequence[Stage], found: _Items, kind: str, measure: MeasureName | None) -> list[Row]:
    """Return the study's human baselines, with the scores on their own page."""
    pairs = pairs_of(stages)
    if kind != BIVLC.name or not measure:
        return []
    by_type, rows = table.ByType(kind, measure.name), []
    for pair, of in zip(pairs, human_baseline.of_pairs(pairs), strict=True):
        figure = _figure(of["measures"].get(measure.name))
        if figure is None:
            continue
        parts = _parts({**of, "groups": of["by_type"]}, by_type, found)
        row = Row("People", HUMANS, f"human baseline, {counted(of['items'], 'item')}", parts=parts)
        if all(stage.source_id is None for stage in pair.stages.values()):
            row.all = figure
        else:
            row.valid, row.why["all"] = figure, NOT_ALL
        if found.valid is not None and row.valid is None:
            row.why["valid"] = "measured on all items together"
        rows.append(row)
    return rows


# Models


def _models(study: Study, found: _Items, kind: str, measure: MeasureName, picks: Sequence[Scored]) -> list[Row]:
    runs = entries.runs_of(study.benchmark, kind, Study.objects.filter(pk=study.pk))
    run_figures.compute_missing(run_figures.of_runs(runs).missing)
    made = [one for one in table.only_newest(entries.entries_of(runs)[0])[0] if table.of_whole(one, measure)]
    scored_here = {one.run for one in made if not one.reported}
    of_items = _on_items([run for run in runs if run.pk in scored_here], study, found, measure, picks)
    by_type = table.ByType(kind, measure.name)
    rows = []
    for entry in made:
        here = of_items.get(entry.run or 0, {})
        whole = here.get("all", entry.figures)
        row = Row(entry.title, entry.stands, run=entry.run, in_both_orders=entry.asked_in_both_orders)
        row.valid = _figure(here["valid"]["measures"].get(measure.name)) if "valid" in here else None
        row.decided = _figure(here["decided"]["measures"].get(measure.name)) if "decided" in here else None
        row.gap, row.part_gaps, row.notes = here.get("gap"), here.get("part_gaps", []), entry.figures["notes"]
        if entry.stands == RESULT and found.valid is not None:
            row.parts, row.why["all"] = [None for _ in found.parts], ON_RESULT
        else:
            row.all = _figure(whole["measures"].get(measure.name))
            row.parts = _parts(whole, by_type, found)
        if found.valid is not None and row.valid is None:
            row.why["valid"] = "it is reported for all items" if entry.reported else "it has no answers about these"
        row.cut, row.read_alike = entry.cut, entry.read_alike
        rows.append(row)
    covers, record = figures_of(KINDS[kind])[measure.name].covers, KINDS[kind].measured.record
    asked = sum(covers(record(type=type, subtype=subtype)) for type, subtype in found.kinds.values())
    return _best_first(rows, asked, measure.lower)


def _best_first(rows: Sequence[Row], items: int, lower: bool) -> list[Row]:
    """Sort models, by way of asking; first those that answered the most of the `items` asked about. Reported scores are
    about all items."""
    way = {id(row): (row.in_both_orders, row.stands if row.stands in (HUMANS, RESULT) else "") for row in rows}
    ranked: dict[int, Figure] = {id(row): row.all or row.valid or {"share": None, "n": 0} for row in rows}
    answered = {one: items if of["n"] is None else of["n"] for one, of in ranked.items()}
    for row in rows:
        n = answered[id(row)]
        row.fewer = n < max(answered[one] for one, of in way.items() if of == way[id(row)])
        row.read_alike = min(row.read_alike, max(0, items - n))  # of a part of the benchmark
        row.about = _about(row, f"answered {n:,} of {items:,} items" if n < items and (row.all or not n) else "")
    sign = 1 if lower else -1
    return sorted(rows, key=lambda row: (*way[id(row)], row.fewer, sign * (ranked[id(row)]["share"] or 0)))


def _about(row: Row, answered: str) -> str:
    words = {
        HUMANS: "reported",
        table.REPORTED: "reported",
        RESULT: "on the kept items, with the images people chose",
        table.BLIND: table.TITLES[table.BLIND].lower(),
    }
    both = "asked in both orders, right only if both answers are" if row.in_both_orders else ""
    apart = "ranked apart" if both or row.fewer else ""
    return "; ".join(filter(None, [words.get(row.stands), answered, both, apart]))


def _figure(of: Mapping[str, Any] | None) -> Figure | None:
    return {name: of[name] for name in ("share", "low", "high", "n")} if of and of["share"] is not None else None


def _parts(figures: Mapping[str, Any], by_type: table.ByType, found: _Items) -> list[Figure | None]:
    return [_figure(by_type.part(figures, *part)) for part in found.parts]


def _on_items(
    runs: Sequence[Run], study: Study, found: _Items, measure: MeasureName, picks: Sequence[Scored]
) -> dict[int, dict[str, Any]]:
    """Return each run's scores on the valid items, and on all items if the study covers only part of its benchmark, and
    the `gap` and `part_gaps` to people with these picks. A study's result was chosen by the same people, so runs on it
    have none.
    """
    which = {"all": set(found.kinds)} if study.part else {}
    if found.valid:
        which["valid"] = set(found.valid)
        if found.decided > found.valid:
            which["decided"] = set(found.decided)
    together, later = run_figures.within(run_figures.INLINE, runs) if which or picks else ([], [])
    found_of: dict[int, dict[str, Any]] = {}
    for some in filter(None, [together, *([run] for run in later)]):
        answers = run_figures.records_of(some)
        for run in some:
            kind, records = KINDS[run.kind], answers[run.pk]
            of: dict[str, Any] = {
                name: stored.summarize([of for item, of in records.items() if item in items], kind)
                for name, items in which.items()
            }
            if run.study is None:
                right = verdicts(figures_of(kind)[measure.name], records, kind)
                right = {found.position[item]: one for item, one in right.items() if item in found.position}
                of["gap"] = _less(picks, right)
                of["part_gaps"] = [_less([one for one in picks if _is_in(one, part)], right) for part in found.parts]
            found_of[run.pk] = of
    return found_of


def _less(picks: Sequence[Scored], right: Mapping[int, bool]) -> dict[str, Any] | None:
    """Return the mean of each pick minus the model's verdict on its item (-1 to 1), on items both answered, with the
    interval for other annotators like these, if the judgments show how annotators differ; None without such items."""
    rows = [one._replace(value=one.value - right[one.item]) for one in picks if one.item in right]
    if not rows:
        return None
    of = summary(rows, Range(-1.0, 1.0))
    return {"value": of["value"], "low": of["low"], "high": of["high"], "n": of["n_items"]}


def many_answers(benchmark: Benchmark) -> bool:
    """Return whether the models have so many answers that the worker must count them."""
    answers = Prediction.objects.filter(run__benchmark=benchmark).values("pk")
    return answers[: MANY + 1].count() > MANY
