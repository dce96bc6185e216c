"""The report of a study, the appendix of a paper: one dictionary of other modules' results.

It uses the same statistics as the pages (figures/{stage,agreement,funnel,human_baseline,annotators}.py), plus a few
queries per study and stage. designs/setup_wording.py has its wording; docs/guide/report.md describes its JSON. It is
computed once per state of the study (figures/cache.py), and the same state gives the same dictionary; only `dated` adds
a time.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from itertools import count
from statistics import fmean, quantiles

from django.conf import settings
from django.db import connection
from django.db.models import Count, Sum

from annotation.checks import attention_checks, qualification
from annotation.comparison.people_and_models import of_this_study
from annotation.designs import setup_wording
from annotation.exports import readme
from annotation.exports.protocol_files import describe_file
from annotation.figures import annotators, cache, human_baseline
from annotation.figures.agreement import stage_agreement
from annotation.figures.cache import LatestFigures
from annotation.figures.funnel import funnel
from annotation.figures.stage import stage_rows, study_figures, without_pairs
from annotation.measures import pass_rules
from annotation.measures.counts import hourly_rate, ratio
from annotation.measures.funnel import STATES
from annotation.measures.judgments import Judgments
from annotation.measures.stage_figures import answer_shares, with_steady
from annotation.models import AttemptKind, CachedFigures, Instructions, Judgment, Kind, Slot, Stage, Study
from annotation.pipeline.stage_rules import rule_of
from annotation.protocols import in_words
from annotation.protocols.base import Protocol
from annotation.protocols.registry import protocol_named
from benchmarks import transactions
from benchmarks.jobs.jobs import Tell, no_progress
from benchmarks.metrics.base import wilson

KIND = "report"
LAYOUT = 1  # version of the dictionary; raise it when a name in it changes or is removed
KEY = str(LAYOUT)  # reports of an earlier layout are not reused
QUESTIONS_AN_ITEM = 4  # in BiVLC's Table 1: two captions and two images make four retrieval questions
SPREAD = ("judged", "active_minutes", "per_hour", "pay_reached")
SUMMED = ("judgments_counted", "judgments_gone", "judgment_rows", "withdrawn", "surplus", "flags", "flags_open")
COSTS = ("active_minutes", "cost")
FUNNELS = ("imported", *STATES, *(f"{state}_share" for state in STATES))
CUT = ("comprehension", "instructions")  # omitted stage settings: right answers, and texts that appear elsewhere


def latest(study: Study, by: str = "app", small: bool | None = None) -> LatestFigures:
    """Return the latest report; the worker computes a large study's. `small`: the study's size, if known."""
    first, *_ = stages = list(study.stages.order_by("position"))
    first.study = study
    if small is None:
        small = cache.few_judged(Slot.objects.filter(stage__in=stages)) and cache.is_small(study)
    return cache.latest(first, KIND, KEY, by=by, small=small)


def dated(found: LatestFigures | CachedFigures) -> dict:
    """Return the report, which must exist, with its time and the fingerprint of everything else in it."""
    assert found.data and found.made_at
    report = json.loads(found.data["report"])
    return {"as_of": found.made_at.isoformat(), "fingerprint": fingerprint(report), **report}


def fingerprint(found: Mapping) -> str:
    """Hash its JSON, with sorted keys and no spaces, by SHA-256: the same state always gives the same hash."""
    text = json.dumps(found, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@cache.computes(KIND)
def _kept(stage: Stage, key: str, tell: Tell) -> dict:
    """Return the report as text, because PostgreSQL's jsonb would reorder its names."""
    return {"report": json.dumps(report(stage.study, tell), ensure_ascii=False)}


def report(study: Study, tell: Tell = no_progress) -> dict:
    """Build everything except `dated`'s time, from one snapshot, which the worker has already opened."""
    with nullcontext() if connection.in_atomic_block else transactions.snapshot():
        return _report(study, tell)


def _report(study: Study, tell: Tell) -> dict:
    stages = list(study.stages.select_related("study__benchmark", "source", "after").order_by("position"))
    done, total = count(1), 2 + sum(2 + len(rule_of(stage).projections()) for stage in stages)
    given: dict[int, Judgments] = {}

    def step() -> None:
        tell(next(done), total)

    tell(0, total)
    versions = _versions(study)
    described = [_stage(stage, versions[stage.pk], given, step) for stage in stages]
    whole, baselines = funnel(study), human_baseline.baselines(study)
    step()
    everybody = cache.current(stages[0], annotators.KIND) or annotators.of_stages(study, stages, given=given)
    step()
    about, everyone = _about(study), _people(study, everybody)
    protocols = {one["protocol"]["name"] for one in described}
    rules = {one["settings"].get("rule", "") for one in described}
    definitions = setup_wording.definitions(protocols, rules, bool(about["pay_per_hour"]))
    return {
        "layout": LAYOUT,
        "made_by": {"app": "Winnow", "version": settings.VERSION},
        "study": about,
        "totals": _totals(whole, described, everyone),
        "stages": described,
        "funnel": dict(whole),
        "retrieval_questions": _retrieval_questions(whole, protocols),
        "baselines": list(baselines),
        "people_and_models": of_this_study(study),
        "annotators": _annotators(everyone),
        "exclusions": _exclusions(study, stages, everybody),
        "definitions": definitions,
        "references": setup_wording.references(definitions),
    }


# The study


def _about(study: Study) -> dict:
    text = study.consent
    digest = hashlib.sha256(text.encode()).hexdigest()
    return {
        "name": study.name,
        "state": str(study.state_with(study.stages.all())),
        "benchmark": {
            "name": study.benchmark.name,
            "source": study.benchmark.source,
            "items": study.benchmark.items.count(),
        },
        **study.pay,
        "currency": study.currency,
        "consent": {"text": text, "sha256": digest} if text else None,
    }


def _versions(study: Study) -> Mapping[int, list[dict]]:
    """Return, by stage, each version of the instructions with its text and the number of judgments made under it."""
    judged = Judgment.objects.filter(lease__annotator__study=study, lease__task__kind=Kind.JUDGE).order_by()
    counts = {
        pk: {"judgment_rows": given, "counted": counted}
        for pk, given, counted in judged.values_list("instructions").annotate(Count("pk"), Count("counted_on"))
    }
    found: dict[int, list[dict]] = defaultdict(list)
    for one in Instructions.objects.filter(stage__study=study).order_by("version"):
        none = {"judgment_rows": 0, "counted": 0}
        found[one.stage_id].append({"version": one.version, "text": one.text, **counts.get(one.pk, none)})
    return found


def _totals(funnel: Mapping, stages: Sequence[Mapping], people: Sequence[Mapping]) -> dict:
    """Return totals over the stages: annotators, and the outcomes of the items."""
    figures = [one["figures"] for one in stages]
    decided, settled = (sum(one["adjudications"][name] for one in stages) for name in ("tasks", "settled"))
    return {
        **{name: sum(one["progress"][name] for one in figures) for name in SUMMED},
        **{name: sum(one["cost"][name] for one in figures) for name in COSTS},
        "settled": settled,
        "adjudicated": decided,
        "adjudicated_share": ratio(decided, settled),
        "annotators": len(people),
        "annotators_who_judged": sum(bool(one["judged"]) for one in people),
        "annotators_who_count": sum(bool(one["judged"]) and not one["excluded"] for one in people),
        **{name: sum(one[name] for one in people) for name in ("excluded", "left", "simulated")},
        **{name: funnel[name] for name in FUNNELS},
    }


def _retrieval_questions(funnel: Mapping, protocols: Iterable[str]) -> dict | None:
    """Count questions as in BiVLC's Table 1: four for each kept item. None if no stage makes such items."""
    if not any(name.startswith("bivlc-") for name in protocols):
        return None
    kept = [
        {"type": row["type"], "subtype": row["subtype"], "questions": QUESTIONS_AN_ITEM * row["kept"]}
        for row in funnel["by_type"]
    ]
    return {"all": QUESTIONS_AN_ITEM * funnel["kept"], "by_type": kept}


# A stage


def _stage(stage: Stage, versions: list[dict], given: dict[int, Judgments], step: Callable[[], None]) -> dict:
    rows, protocol, settings = stage_rows(stage), protocol_named(stage.protocol), readme.settings_of(stage)
    given[stage.pk], shares = rows.judgments, answer_shares(rows)
    figures = with_steady(rows, study_figures(stage, rows), shares)
    step()
    agreement = []
    for view in rule_of(stage).projections():
        agreement.append(_agreement(stage_agreement(stage, view, brief=True, given=rows)))
        step()
    found = {
        "settings": {name: value for name, value in settings.items() if name not in CUT},
        "in_words": setup_wording.in_words(settings, stage.study.part),
        "protocol": _protocol(protocol) | _of_file(protocol),
        "instructions": versions,
        "before": _before(stage),
        "checks": _checks(stage),
        "figures": published(figures),
        "shares": shares,
        "agreement": agreement,
        "adjudications": adjudications(figures),
    }
    step()
    return found


def _protocol(protocol: Protocol) -> dict:
    """Return the question to annotators and the possible answers, with their keys."""
    form = protocol.form
    answers = [{"says": protocol.picks[1], "keys": [protocol.picks[0]]}] if protocol.picks[0] else []
    answers += [{"says": says, "keys": [keys]} for keys, says in (form.keys if form else ())]
    answers += [{"says": one.label, "keys": [key.upper() for key in one.keys]} for one in protocol.fixed]
    return {
        "name": protocol.name,
        "title": protocol.title,
        "question": protocol.question,
        "shown": protocol.shown,
        "answers": [*answers, {"says": "Cannot judge, with a reason", "keys": []}],
        "guidelines": [asdict(one) for one in (form.guidelines if form else ())],
        "drops": dict(protocol.drops),
        "measures": protocol.measures,
        "edits": list(protocol.edits),
        "views": ["answer", *protocol.projections],
    }


def _of_file(protocol: Protocol) -> dict:
    """Return further contents of a protocol file; nothing for other protocols."""
    if protocol.file is None:
        return {}
    return {
        "says": in_words.answers_in_words(protocol.file),
        "measured": in_words.measures_in_words(protocol.file),
        "file": describe_file(protocol.name),
    }


def published(figures: Mapping) -> dict:
    """Return a stage's statistics, except clock-dependent ones and every pair's kappa (`agreement` has the first)."""
    return without_pairs({name: part for name, part in figures.items() if name != "now"})


def _agreement(found: Mapping) -> dict:
    """Return a view's agreement: whole stage, types, subtypes, pairs; the agreement page has annotators and weeks."""
    kept = {name: part for name, part in found.items() if name not in ("annotator", "week", "shares")}
    whole, *pairs = (
        {name: row[name] for name in row if name != "confusion"} for row in (found["whole"], *found["pair"])
    )
    return kept | {"whole": whole, "pair": pairs}


def adjudications(figures: Mapping) -> dict:
    """Return how many of the settled tasks an adjudicator decided."""
    count, settled = figures["outcomes"]["decided_by"].get("adjudicator", 0), figures["progress"]["settled"]
    return {"tasks": count, "settled": settled, "share": ratio(count, settled)}


def _before(stage: Stage) -> dict:
    """Return the qualification before the first screen, its pass rule and how many passed, but no right answers."""
    results, items = qualification.results(stage), qualification.practice_tasks(stage).count()
    tried = {kind: [of[kind].passed for of in results.values() if kind in of] for kind in AttemptKind.values}
    questions = [{name: one[name] for name in ("question", "options")} for one in stage.comprehension]
    return {
        "on_failure": str(stage.on_failure),
        "questions": questions,
        "questions_tries": qualification.tries_of(stage, AttemptKind.COMPREHENSION) if questions else None,
        "questions_results": _passed(tried[AttemptKind.COMPREHENSION]),
        "practice_items": items,
        "practice_pass": stage.practice_pass,
        "practice_needed": pass_rules.required_right(items, stage.practice_pass),
        "practice_tries": stage.practice_tries,
        "practice_results": _passed(tried[AttemptKind.PRACTICE]),
    }


def _passed(results: list[bool | None]) -> dict:
    named = {"passed": True, "failed": False, "going_on": None}
    return {"tried": len(results), **{name: results.count(value) for name, value in named.items()}}


def _checks(stage: Stage) -> dict:
    """Return the results of checks over all annotators, with Wilson's interval, but no right answers or items.

    `guess` is the share that picking at random would get right.
    """
    found = list(attention_checks.results(stage).values())
    n, right = sum(one.n for one in found), sum(one.right for one in found)
    guess = sum(one.guess_rate * one.n for one in found) / n if n else None
    low, high = wilson(right, n)
    return {
        "items": stage.tasks.filter(kind=Kind.CHECK, live=True).count(),
        "rate": stage.check_rate,
        "annotators": len(found),
        "failed": sum(one.failed for one in found),
        "answered": n,
        "right": right,
        "share": ratio(right, n),
        "low": low,
        "high": high,
        "guess": guess,
    }


# People


def _people(study: Study, everybody: Mapping) -> list[dict]:
    """Return all annotators over all stages, in order of joining, and their status.

    `pay_reached`: the pay for active time, per hour of the whole time from showing a screen to its answer.
    """
    judged = Judgment.objects.filter(lease__annotator__study=study)
    elapsed = dict(judged.values_list("lease__annotator__number").annotate(Sum("elapsed_ms")).order_by())
    whole = {row["number"]: row for row in everybody["whole"]}
    found = []
    for who in study.annotators.filter(number__in=whole).order_by("number"):
        row, minutes = whole[who.number], elapsed.get(who.number, 0) / 60_000
        same = row["majority"]
        found.append(
            {
                "annotator": who.pseudonym,
                **{name: row[name] for name in ("judged", "answers", "active_minutes", "paid", "kappa")},
                "per_hour": hourly_rate(row["answers"], row["active_minutes"] / 60),
                "elapsed_minutes": minutes,
                "pay_reached": ratio(row["paid"], minutes / 60),
                "with_majority": ratio(same["same"], same["n"]),
                "compared": same["n"],
                "signs": [{name: sign[name] for name in ("kind", "words", "stage")} for sign in row["signs"]],
                "simulated": who.simulated,
                "excluded": who.excluded_at is not None,
                "left": who.left_at is not None,
            }
        )
    return found


def _annotators(people: Sequence[Mapping]) -> dict:
    """Return all annotators in order of joining, the spread over those who judged, and how many show each sign."""
    busy = [one for one in people if one["judged"]]
    signs = Counter(kind for one in people for kind in {sign["kind"] for sign in one["signs"]})
    return {
        "rows": list(people),
        "spread": {name: spread([one[name] for one in busy if one[name] is not None]) for name in SPREAD},
        "signs": dict(sorted(signs.items())),
    }


def spread(values: Sequence[float]) -> dict:
    """Return minimum, quartiles (linear, both ends included), maximum and mean; None if there are no values."""
    if not values:
        return dict.fromkeys(("least", "lower", "median", "upper", "most", "mean"), None) | {"n": 0}
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    ends = {"least": min(values), "lower": low, "median": middle, "upper": high, "most": max(values)}
    return {**ends, "mean": fmean(values), "n": len(values)}


def _exclusions(study: Study, stages: list[Stage], everybody: Mapping) -> list[dict]:
    """Return annotators excluded, or screened out of a stage: when, how and why, in chronological order."""
    whole = {row["number"]: row for row in everybody["whole"]}
    found = [*_excluded(study, whole), *_screened_out(stages)]
    return sorted(found, key=lambda row: (row["at"], row["annotator"]))


def _excluded(study: Study, whole: Mapping[int, dict]) -> Iterator[dict]:
    for who in study.annotators.exclude(excluded_at=None):
        row = whole.get(who.number, {"judged": 0, "signs": []})
        assert who.excluded_at
        yield {
            "annotator": who.pseudonym, "at": who.excluded_at.isoformat(), "stage": None,
            "by": "a manager’s decision", "why": who.exclusion_reason, "judgments": row["judged"],
            "signs": [sign["words"] for sign in row["signs"]],
        }  # fmt: skip


def _screened_out(stages: list[Stage]) -> Iterator[dict]:
    for stage in stages:
        tried = qualification.results(stage)
        for seat in stage.seats.exclude(screened_out_at=None).select_related("annotator"):
            failed = [kind for kind, of in tried.get(seat.annotator.number, {}).items() if of.passed is False]
            assert seat.screened_out_at
            yield {
                "annotator": seat.annotator.pseudonym, "at": seat.screened_out_at.isoformat(),
                "stage": stage.position, "by": "the stage’s rule", "judgments": 0, "signs": [],
                "why": f"failed {' and '.join(failed) or 'the qualification'}, no attempts left",
            }  # fmt: skip
