"""What a study's report is made of, read from the database; computed once for each state of the study (figures/cache.py).

It rests on what the pages show: figures/stage.py, figures/agreement.py, figures/funnel.py, figures/human_baseline.py, figures/annotators.py. Beside these it
takes three queries of a study and a few of each stage.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import count

from django.conf import settings
from django.db import connection

from annotation.checks import attention_checks, qualification
from annotation.exports import readme
from annotation.figures import annotators, cache, human_baseline
from annotation.figures.agreement import PROMPT, stage_agreement
from annotation.figures.cache import Reckoned
from annotation.figures.funnel import funnel
from annotation.figures.stage import study_figures
from annotation.measures import pass_rules
from annotation.models import AttemptKind, Kind, Reckoning, Seat, Slot, Stage, Study
from annotation.pipeline import promotion
from annotation.pipeline.outcomes import rule_of
from annotation.protocols.registry import PROTOCOLS
from annotation.reports import report as assembly
from annotation.sql import fetch
from annotation.wording import pseudonym
from benchmarks.exports import source_layout
from benchmarks.jobs.jobs import Tell, silent

KIND = "report"
KEY = str(assembly.LAYOUT)  # what an earlier layout kept is no report of this one

INSTRUCTIONS = """
SELECT instructions.stage_id, instructions.version, instructions.text, count(judgment.id),
       count(slot.id) FILTER (WHERE slot.judgment_id = judgment.id)
FROM annotation_instructions instructions
LEFT JOIN (annotation_judgment judgment JOIN annotation_lease lease ON lease.id = judgment.lease_id
           JOIN annotation_slot slot ON slot.id = lease.slot_id
           JOIN annotation_task task ON task.id = slot.task_id AND task.kind = 'judge')
  ON judgment.instructions_id = instructions.id
WHERE instructions.stage_id IN (SELECT id FROM annotation_stage WHERE study_id = %(study)s)
GROUP BY instructions.id ORDER BY instructions.stage_id, instructions.version
"""

ELAPSED = """
SELECT annotator.number, coalesce(sum(judgment.elapsed_ms), 0)::bigint
FROM annotation_annotator annotator
JOIN annotation_lease lease ON lease.annotator_id = annotator.id
JOIN annotation_judgment judgment ON judgment.lease_id = lease.id
WHERE annotator.study_id = %(study)s GROUP BY annotator.number
"""


def look(study: Study, by: str = "app", small: bool | None = None) -> Reckoned:
    """What was computed last; a study with many judgments is left to the worker. `small`: of what size, if known."""
    first = study.stages.order_by("position").first()
    first.study = study
    small = is_small(study) if small is None else small
    if small:  # else the worker does
        promotion.take_in(study, by=by)
    return cache.look(first, KIND, KEY, by=by, small=small)


def is_small(study: Study) -> bool:
    most = min(PROMPT, cache.SMALL)
    judged = Slot.objects.filter(stage__study=study).exclude(judgment=None).values("pk")[: most + 1]
    return len(judged) <= most and cache.is_small(study)


def dated(found: Reckoned | Reckoning) -> dict:
    """The report with the moment that it is of; there must be one."""
    return assembly.dated(json.loads(found.data["report"]), found.made_at.isoformat())


@cache.reckons(KIND)
def kept(stage: Stage, key: str, tell: Tell) -> dict:
    """The report as text: PostgreSQL's jsonb would put its names into another order."""
    return {"report": json.dumps(report(stage.study, tell), ensure_ascii=False)}


def report(study: Study, tell: Tell = silent) -> dict:
    """reports.report.report of the study, of one moment."""
    with _one_moment():
        return _report(study, tell)


def _one_moment() -> AbstractContextManager:
    """The worker has begun one already."""
    return nullcontext() if connection.in_atomic_block else source_layout.snapshot()


def _report(study: Study, tell: Tell) -> dict:
    stages = list(study.stages.select_related("study__benchmark", "source", "after").order_by("position"))
    done, total = count(1), 2 + sum(2 + len(rule_of(stage).projections()) for stage in stages)

    def step() -> None:
        tell(next(done), total)

    tell(0, total)
    versions = versions_of(study)
    found = [of_stage(stage, versions[stage.pk], step) for stage in stages]
    whole, baselines = funnel(study), human_baseline.baselines(study)
    step()
    everybody = annotators.annotators(stages[0])
    step()
    return assembly.report(
        study=of_study(study), stages=found, funnel=whole, baselines=baselines, people=people(study, everybody),
        exclusions=exclusions(study, stages, everybody), version=settings.VERSION,
    )  # fmt: skip


# The study


def of_study(study: Study) -> dict:
    text = study.consent
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "name": study.name,
        "state": str(study.state),
        "benchmark": {
            "name": study.benchmark.name,
            "source": study.benchmark.source,
            "items": study.benchmark.items.count(),
        },
        "pay_per_hour": float(study.pay_per_hour),
        "currency": study.currency,
        "consent": {"text": text, "sha256": digest} if text else None,
    }


def versions_of(study: Study) -> Mapping[int, list[dict]]:
    """By stage: each version of the instructions with its text and the judgments that were made under it."""
    found: dict[int, list[dict]] = {stage: [] for stage in study.stages.values_list("pk", flat=True)}
    for stage, *row in fetch(INSTRUCTIONS, study=study.pk):
        found[stage].append(dict(zip(("version", "text", "judgment_rows", "counted"), row, strict=True)))
    return found


# A stage


def of_stage(stage: Stage, versions: list[dict], step: Callable[[], None]) -> dict:
    figures = study_figures(stage)
    step()
    agreement = [
        _stepping(step, partial(stage_agreement, stage, view, brief=True)) for view in rule_of(stage).projections()
    ]
    return _stepping(
        step,
        lambda: assembly.stage(
            settings=readme.settings_of(stage), protocol=PROTOCOLS[stage.protocol], figures=figures,
            agreement=agreement, instructions=versions, before=before(stage), checks=checked(stage),
        ),
    )  # fmt: skip


def _stepping(step: Callable[[], None], compute: Callable[[], dict]) -> dict:
    found = compute()
    step()
    return found


def before(stage: Stage) -> dict:
    """What comes before the first screen, how it is passed, and how many did. No right answers."""
    results, items = qualification.results(stage), qualification.training_tasks(stage).count()
    tried = {kind: [of[kind].passed for of in results.values() if kind in of] for kind in AttemptKind.values}
    questions = [{name: one[name] for name in ("question", "options")} for one in stage.comprehension]
    return {
        "on_failure": str(stage.on_failure),
        "questions": questions,
        "questions_tries": qualification.tries_of(stage, AttemptKind.COMPREHENSION) if questions else None,
        "questions_results": _passed(tried[AttemptKind.COMPREHENSION]),
        "training_items": items,
        "training_pass": stage.training_pass,
        "training_needed": pass_rules.required_right(items, stage.training_pass),
        "training_tries": stage.training_tries,
        "training_results": _passed(tried[AttemptKind.TRAINING]),
    }


def _passed(results: list[bool | None]) -> dict:
    named = {"passed": True, "failed": False, "going_on": None}
    return {"tried": len(results), **{name: results.count(value) for name, value in named.items()}}


def checked(stage: Stage) -> dict:
    """Checks and how they went over all annotators; no right answers, nor which items they are."""
    found = list(attention_checks.results(stage).values())
    n, right = sum(one.n for one in found), sum(one.right for one in found)
    guess = sum(one.guess_rate * one.n for one in found) / n if n else None
    return {
        "items": stage.tasks.filter(kind=Kind.CHECK, live=True).count(),
        "rate": stage.check_rate,
        "annotators": len(found),
        "failed": sum(one.failed for one in found),
        **assembly.tested(n, right, guess),
    }


# People


def people(study: Study, everybody: Mapping) -> list[dict]:
    """reports.report.person of everybody, in the order of joining."""
    elapsed = dict(fetch(ELAPSED, study=study.pk))
    whole = {row["number"]: row for row in everybody["whole"]}
    return [
        assembly.person(
            whole[who.number], elapsed.get(who.number, 0) / 60_000,
            {"simulated": who.simulated, "excluded": who.excluded_at is not None, "left": who.left_at is not None},
        )
        for who in study.annotators.order_by("number")
        if who.number in whole
    ]  # fmt: skip


def exclusions(study: Study, stages: list[Stage], everybody: Mapping) -> list[dict]:
    """Whoever does not count, or did not come past the start of a stage: when, by what, why. In the order of time."""
    whole = {row["number"]: row for row in everybody["whole"]}
    found = [*_excluded(study, whole), *_screened_out(stages)]
    return sorted(found, key=lambda row: (row["at"], row["annotator"]))


def _excluded(study: Study, whole: Mapping[int, dict]) -> Iterator[dict]:
    for who in study.annotators.exclude(excluded_at=None):
        row = whole.get(who.number, {"judged": 0, "signs": []})
        yield {
            "annotator": pseudonym(who.number), "at": who.excluded_at.isoformat(), "stage": None,
            "by": "a manager’s decision", "why": who.exclusion_reason, "judgments": row["judged"],
            "signs": [sign["words"] for sign in row["signs"]],
        }  # fmt: skip


def _screened_out(stages: list[Stage]) -> Iterator[dict]:
    for stage in stages:
        tried = qualification.results(stage)
        for seat in Seat.objects.filter(stage=stage).exclude(screened_out_at=None).select_related("annotator"):
            failed = [kind for kind, of in tried.get(seat.annotator.number, {}).items() if of.passed is False]
            yield {
                "annotator": pseudonym(seat.annotator.number), "at": seat.screened_out_at.isoformat(),
                "stage": stage.position, "by": "the stage’s rule", "judgments": 0, "signs": [],
                "why": f"failed {' and '.join(failed) or 'what comes before the first screen'}, all tries used",
            }  # fmt: skip
