"""Recompute the figures of a release from its files with the web application's measures (annotation/measures).

tests/independent computes them a second time, with other code, and compares.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from annotation.measures import adaptive_overlap, annotator_figures, human_baseline, stage_figures
from annotation.measures import funnel as measures_funnel
from annotation.measures.audits.figures import audit_figures, is_stratified, stratum
from annotation.measures.audits.judges import Corrected, can_correct, corrected
from annotation.measures.audits.order import sampling_order, scores_hash
from annotation.measures.counts import TaskRow
from annotation.measures.funnel import Kind, Walk
from annotation.measures.human_baseline import Pair, QuestionRow
from annotation.measures.papers.base import JudgedTask
from annotation.measures.papers.registry import FIGURES
from annotation.measures.stage_figures import SETTINGS, StageRows
from annotation.protocols import item_data
from annotation.protocols.base import Attributes, carried_captions
from annotation.protocols.decision_rule import DROPPED, KEPT, OPEN, Decision
from annotation.releases import redaction
from annotation.releases.verification.outcomes import Decided
from annotation.releases.verification.rows import ReleasedStage, ReleasedTask, Rows, about

AUDIT = "audit"  # as in models.choices.Strategy
Outcomes = Mapping[str, Decided]  # by stage
_IS_KEPT, _IS_OPEN = (KEPT, ""), (OPEN, "")


def parts(rows: Rows, decided: Outcomes) -> dict[str, Callable[[], object]]:
    """Return functions that compute each public part of figures.json."""
    public = rows.place.public
    people = "annotators" in public
    found = {
        "funnel": lambda: _funnel(rows, decided),
        "stages": lambda: [redaction.public_stage(_stage(rows, one, decided[one.name]), public) for one in rows.stages],
        "baselines": lambda: [
            redaction.without_keys(_baseline(rows, pair, decided), () if people else {"annotators"})
            for pair in human_baseline.pairs_of(rows.stages)
        ],
    }
    return found | ({"annotators": lambda: redaction.public_annotators(_annotators(rows), public)} if people else {})


# The funnel


def walk_of(rows: Rows, decided: Outcomes) -> Walk:
    """Return the funnel, with items by position. Items in no file, waiting for a stage, have places below 0."""
    stages = [stage for stage in rows.stages if not stage.settings["measures"]]
    known = {one.pk: [task for task in one.known_tasks if task["own"]] for one in rows.stages}
    unsuited = {stage.pk: stage.settings["not_suitable"] for stage in stages}
    gone, kinds = set[int](), dict[int, Kind]()
    for line in rows.place.lines_of_items():
        kinds[line["position"]] = line["type"], line["subtype"]
        if line.get("reason") == measures_funnel.WITHDRAWN:
            gone.add(line["position"])
    met: list[Any] = [task for stage in stages for task in stage.live_tasks]
    met += [row for part in (known, unsuited) for lines in part.values() for row in lines]
    kinds |= {row["position"]: (row["type"], row["subtype"]) for row in met}
    counted, unmet = Counter(kinds.values()), []
    for row in rows.place.manifest["items_by_type"]:
        kind = row["type"], row["subtype"]
        unmet += [kind] * (row["imported"] - counted[kind])
    kinds |= {-number: kind for number, kind in enumerate(unmet, 1)}
    return Walk(
        stages, kinds, {stage.pk: _of_items(decided[stage.name]) for stage in stages}, _positions(known),
        _positions(unsuited), gone,
    )  # fmt: skip


def _positions(found: Mapping[object, list]) -> dict[object, set[int]]:
    return {stage: {row["position"] for row in lines} for stage, lines in found.items()}


def _of_items(decided: Decided) -> dict[int, tuple[str, str]]:
    """Return (state, reason) of each item: dropped by the first task that drops it, kept if every task keeps it."""
    found: dict[int, tuple[str, str]] = {}
    for task, decision in decided:
        item = task["position"]
        state = found.get(item, _IS_KEPT)
        if decision.state == DROPPED and state[0] != DROPPED:
            found[item] = DROPPED, decision.reason
        else:
            found[item] = state if decision.state == KEPT or state[0] == DROPPED else _IS_OPEN
    return found


def _funnel(rows: Rows, decided: Outcomes) -> dict:
    measured = []
    for stage in rows.stages:
        if stage.settings["measures"]:
            tasks = decided[stage.name]
            answered = sum(decision.state != OPEN for _, decision in tasks)
            items = {task["position"] for task, _ in tasks}
            measured.append(measures_funnel.measured(stage, len(items), len(tasks), answered))
    walk = walk_of(rows, decided)
    return measures_funnel.figures(walk, measures_funnel.fates(walk), measured)


# Stages


def _stage(rows: Rows, stage: ReleasedStage, decided: Decided) -> dict:
    study = rows.place.manifest["study"]
    settings = {
        "name": study["name"],
        "stage": stage.position,
        "stage_name": stage.name,
        **{name: stage.settings[name] for name in SETTINGS},
        **{name: study[name] for name in ("pay_per_hour", "earlier_pay") if name in study},
        "currency": study["currency"],
    }
    flags, tasks = rows.flags.get(stage.name, []), [_asked(task, decision) for task, decision in decided]
    adaptive = adaptive_overlap.of_stage(stage.rule, stage.settings.get("certainty"), stage.judgments, tasks)
    return stage_figures.figures(
        StageRows(
            settings, stage.rule, stage.judgments, tasks, (len(flags), flags.count(False)),
            list(_seats(rows, stage)),
            {**_paper(rows, stage, decided), **_audit(stage, decided), **adaptive},
            _attributes(rows, stage),
            sorted({one for task in stage.live_tasks for one in task["options"]}),
        )
    )  # fmt: skip


def _attributes(rows: Rows, stage: ReleasedStage) -> dict[int, Attributes]:
    """Return the attributes of items and their parts, by position."""
    file = stage.rule.protocol.file
    if file is None or not item_data.asks_items(file):
        return {}
    return {position: item_data.attributes_of(file, record) for position, record in rows.records.items()}


def _asked(task: ReleasedTask, decision: Decision) -> TaskRow:
    came = (None, None, None) if decision.state == OPEN else (decision.state, decision.reason, decision.by)
    return TaskRow(task.place, task["type"], task["subtype"], task["overlap"], *came)


def _seats(rows: Rows, stage: ReleasedStage) -> Iterator[tuple]:
    of_annotator = ("number", "simulated", "excluded", "exclusion_reason", "left")
    for line in rows.annotators:
        for seat in line["stages"]:
            if seat["stage"] == stage.name:
                yield *(line[name] for name in of_annotator), seat["batch"], seat["skipped"]


def _paper(rows: Rows, stage: ReleasedStage, decided: Decided) -> dict:
    figures = FIGURES.get(stage.protocol)
    told = [_told(rows, stage, task, decision) for task, decision in decided] if figures else []
    return {"paper": figures(told, stage.rule)} if figures else {}


def _audit(stage: ReleasedStage, decided: Decided) -> dict:
    """Return the order drawn again from the keys of all items, and the results of the items judged in it."""
    if stage.settings["strategy"] != AUDIT:
        return {}
    settings = {"stratify": stage.settings["stratify"], **stage.settings["audit"]}
    strata: dict[str, str] = {}
    scores: dict[str, float] = {}
    wrong: dict[str, bool | None] = {}
    for task, decision in decided:
        item, reasons = task["item"], settings["wrong_reasons"]
        strata[item] = stratum(task["type"], task["subtype"])
        if "score" in task:
            scores[item] = task["score"]
        one = (
            None
            if decision.state == OPEN
            else decision.state == DROPPED and (not reasons or decision.reason in reasons)
        )
        known = wrong.get(item, False)
        wrong[item] = True if True in (one, known) else None if None in (one, known) else False
    order = sampling_order(list(wrong), stage.settings["seed"], strata if is_stratified(settings) else None)
    results, kinds = [wrong[key] for key in order.keys], [strata[key] for key in order.keys]
    used = [scores.get(key, 0.0) for key in order.keys] if scores else None
    sha256 = scores_hash(order.keys, used) if used else ""
    tasks = {task["item"]: task for task, _ in decided}

    def without_errors(n: int) -> Corrected | None:
        if len(tasks) != len(decided) or not can_correct(stage.rule.protocol):
            return None
        given = ([answer.label for _, answer in stage.answers_to(tasks[key])] for key in order.keys[:n])
        reason, reasons = stage.rule.protocol.reason, settings["wrong_reasons"]
        return corrected(given, stage.known_answers(), reason, reasons, len(tasks))

    return {"audit": audit_figures(results, kinds, settings, order.sha256, used, sha256, without_errors)}


def _told(rows: Rows, stage: ReleasedStage, task: ReleasedTask, decision: Decision) -> JudgedTask:
    is_open = decision.state == OPEN
    return JudgedTask(
        task["type"], task["subtype"], task["overlap"], stage.answers_to(task),
        None if is_open else decision.state, decision.outcome, "" if is_open else decision.reason, decision.by,
        decision.content, task["texts"] | carried_captions(task["carried"]), rows.edits.get(about(task), {}),
        rows.origins.get(task["item"], []),
    )  # fmt: skip


# Annotators, and the human baseline


def _annotators(rows: Rows) -> dict:
    people = {line["number"]: line["excluded"] for line in rows.annotators}
    gold = "gold" in rows.place.public
    stages = []
    for stage in rows.stages:
        seats = {
            line["number"]: seat for line in rows.annotators for seat in line["stages"] if seat["stage"] == stage.name
        }
        passed = {who: seat["passed"] or {} for who, seat in seats.items()}
        known = annotator_figures.Known(people, seats, stage.checked() if gold else {}, passed)
        views = stage.rule.projections()
        stages.append(annotator_figures.of_stage(stage.position, stage.name, stage.judgments, views, known, rows.pay))
    whole, speed = annotator_figures.of_study(stages, list(people))
    return {"stages": stages, "whole": whole, "speed": speed}


def _baseline(rows: Rows, pair: Pair, decided: Outcomes) -> dict:
    outcomes, judgments = [], []
    answers_to = {stage.name: stage.answers_to for stage in rows.stages}
    for stage in pair.stages.values():
        for task, decision in decided[stage.name]:
            asked = QuestionRow(
                stage.pk, task["position"], task["type"], task["subtype"], task["question"], task["options"]
            )
            outcomes.append((asked, None if decision.state == OPEN else decision.state, decision.outcome))
            judgments += [(asked, who, answer.label) for who, answer in answers_to[stage.name](task)]
    return human_baseline.figures(pair, outcomes, judgments)
