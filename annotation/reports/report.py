"""The report of a study, the appendix of a paper: one dictionary of what other modules computed. Pure.

reports/report_data.py reads what goes in; exports/setup_wording.py has its words. docs/guide/report.md describes every part. The same state
gives the same dictionary; only `dated` adds a time.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean, quantiles

from annotation.exports import setup_wording
from annotation.measures.counts import ratio
from annotation.protocols.base import Protocol
from annotation.wording import pseudonym
from benchmarks.metrics.base import wilson

LAYOUT = 1  # of the dictionary; another one where a name in it changes or goes
QUESTIONS_AN_ITEM = 4  # of BiVLC's Table 1: two captions and two images are four retrieval questions
SPREAD = ("judged", "active_minutes", "per_hour", "pay_reached")
SUMMED = ("judgments_counted", "judgments_gone", "judgment_rows", "withdrawn", "surplus", "flags", "flags_open")
COSTS = ("active_minutes", "cost")
FUNNELS = ("imported", "kept", "dropped", "open", "kept_share", "dropped_share", "open_share")
CUT = ("comprehension", "instructions")  # of a stage's settings: right answers, and what stands beside


def report(
    *, study: Mapping, stages: Sequence[Mapping], funnel: Mapping, baselines: Sequence[Mapping],
    people: Sequence[Mapping], exclusions: Sequence[Mapping], version: str,
) -> dict:  # fmt: skip
    """`stages` are made by `stage`, `people` by `person`; the rest is JSON-able as it is."""
    protocols = {one["protocol"]["name"] for one in stages}
    rules = {one["settings"].get("rule", "") for one in stages}
    definitions = setup_wording.definitions(protocols, rules, bool(study["pay_per_hour"]))
    return {
        "layout": LAYOUT,
        "made_by": {"app": "Winnow", "version": version},
        "study": dict(study),
        "totals": totals(funnel, stages, people),
        "stages": list(stages),
        "funnel": dict(funnel),
        "retrieval_questions": retrieval_questions(funnel, protocols),
        "baselines": list(baselines),
        "annotators": annotators(people),
        "exclusions": list(exclusions),
        "definitions": definitions,
        "references": setup_wording.references(definitions),
    }


def dated(found: Mapping, at: str) -> dict:
    """The report with the moment that it is of (ISO 8601), and the fingerprint of everything else in it."""
    return {"as_of": at, "fingerprint": fingerprint(found), **found}


def fingerprint(found: Mapping) -> str:
    """SHA-256 of its JSON with sorted keys and without spaces: the same for the same state, whenever it is made."""
    text = json.dumps(found, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# A stage


def stage(
    *, settings: Mapping, protocol: Protocol, figures: Mapping, agreement: Sequence[Mapping],
    instructions: Sequence[Mapping], before: Mapping, checks: Mapping,
) -> dict:  # fmt: skip
    """`figures` is figures.stage.study_figures, `agreement` a stage_agreement for each view of the answers."""
    return {
        "settings": {name: value for name, value in settings.items() if name not in CUT},
        "in_words": setup_wording.in_words(settings),
        "protocol": told(protocol),
        "instructions": list(instructions),
        "before": dict(before),
        "checks": dict(checks),
        "figures": published(figures),
        "agreement": [agreed(one) for one in agreement],
        "adjudications": adjudications(figures),
    }


def told(protocol: Protocol) -> dict:
    """What annotators are asked and what they may answer, with the keys for it."""
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


def published(figures: Mapping) -> dict:
    """A stage's figures without those of the clock, and without the kappa of every pair: `agreement` has the first."""
    found = {name: part for name, part in figures.items() if name != "now"}
    found["agreement"] = [{name: of[name] for name in of if name != "kappa_pairs"} for of in figures["agreement"]]
    return found


def agreed(found: Mapping) -> dict:
    """A view's agreement: the whole stage, types, subtypes and pairs; the agreement page has annotators and weeks."""
    kept = {name: part for name, part in found.items() if name not in ("annotator", "week")}
    return kept | {"whole": _unconfused(found["whole"]), "pair": [_unconfused(row) for row in found["pair"]]}


def _unconfused(row: Mapping) -> dict:
    return {name: part for name, part in row.items() if name != "confusion"}


def adjudications(figures: Mapping) -> dict:
    """How many of the settled tasks an adjudicator decided."""
    count, settled = figures["outcomes"]["decided_by"].get("adjudicator", 0), figures["progress"]["settled"]
    return {"tasks": count, "settled": settled, "share": ratio(count, settled)}


def tested(n: int, right: int, guess: float | None) -> dict:
    """Answers to checks, with Wilson's interval; `guess` is what picking at random would have got right."""
    low, high = wilson(right, n)
    return {"answered": n, "right": right, "share": ratio(right, n), "low": low, "high": high, "guess": guess}


# The study


def totals(funnel: Mapping, stages: Sequence[Mapping], people: Sequence[Mapping]) -> dict:
    """Sums over the stages; who came, and what became of the items."""
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
        **{name: sum(one[name] for one in people) for name in ("excluded", "left", "simulated")},
        **{name: funnel[name] for name in FUNNELS},
    }


def retrieval_questions(funnel: Mapping, protocols: Iterable[str]) -> dict | None:
    """BiVLC's Table 1 counts questions, not items: four of each kept one. None where no stage makes such items."""
    if not any(name.startswith("bivlc-") for name in protocols):
        return None
    kept = [{**_kind(row), "questions": QUESTIONS_AN_ITEM * row["kept"]} for row in funnel["by_type"]]
    return {"all": QUESTIONS_AN_ITEM * funnel["kept"], "by_type": kept}


def _kind(row: Mapping) -> dict:
    return {"type": row["type"], "subtype": row["subtype"]}


def person(row: Mapping, elapsed_minutes: float, who: Mapping) -> dict:
    """An annotator over all stages, by pseudonym: `row` of figures.annotators.annotators, and what became of them (`who`).

    `pay_reached`: the pay for active time over the whole time from painted to answered, an hour.
    """
    same = row["majority"]
    return {
        "annotator": pseudonym(row["number"]),
        **{name: row[name] for name in ("judged", "answers", "active_minutes", "per_hour", "paid", "kappa")},
        "elapsed_minutes": elapsed_minutes,
        "pay_reached": ratio(row["paid"], elapsed_minutes / 60),
        "with_majority": ratio(same["same"], same["n"]),
        "compared": same["n"],
        "signs": [{name: sign[name] for name in ("kind", "words", "stage")} for sign in row["signs"]],
        **who,
    }


def annotators(people: Sequence[Mapping]) -> dict:
    """Everybody, in the order of joining; how those who judged are spread; how many show each sign."""
    busy = [one for one in people if one["judged"]]
    signs = Counter(kind for one in people for kind in {sign["kind"] for sign in one["signs"]})
    return {
        "rows": list(people),
        "spread": {name: spread([one[name] for one in busy if one[name] is not None]) for name in SPREAD},
        "signs": dict(sorted(signs.items())),
    }


def spread(values: Sequence[float]) -> dict:
    """Least, quartiles (linear, both ends included), most and mean of the values; None where there are none."""
    if not values:
        return dict.fromkeys(("least", "lower", "median", "upper", "most", "mean"), None) | {"n": 0}
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    ends = {"least": min(values), "lower": low, "median": middle, "upper": high, "most": max(values)}
    return {**ends, "mean": fmean(values), "n": len(values)}
