"""The page of a study's report: lays out the report (report.py) as tables without computing anything itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType

from django.template.loader import render_to_string

from annotation.charts.study import Subject
from annotation.dashboard import human_baseline_page, results_page
from annotation.dashboard.agreement_page import measured
from annotation.dashboard.paper_block import paper_block
from annotation.dashboard.scores_block import scores_block
from annotation.figures.cache import LatestFigures
from annotation.measures.agreement_measures import COUNTS, mean_of_pairs_on
from annotation.measures.counts import EPOCH
from annotation.measures.warning_signs import KINDS
from annotation.models import Study
from annotation.protocols.base import NOMINAL, Protocol
from annotation.protocols.registry import protocol_named, title_of
from annotation.reports import report as study_report
from annotation.reports.finding import finding
from annotation.studies import markdown
from annotation.studies.instructions_images import pictures_by_stage
from annotation.studies.markdown import Picture
from benchmarks.formats.own.format import FORMAT as OWN
from benchmarks.formats.registry import FORMATS

NO_PICTURES: Mapping[int, Sequence[Picture]] = MappingProxyType({})
COLUMNS = 11  # types side by side, as in BiVLC's Table 1; with more, each has a row
PAIRS, PEOPLE = 20, 60  # rows at most; the JSON has more
TYPES, SUBTYPES = ("replace", "swap", "add"), ("obj", "att", "rel")  # in the order of Table 1
SPREADS = {
    "judged": ("judgments", "count"),
    "active_minutes": ("active time", "hours"),
    "per_hour": ("judgments per hour", "number"),
    "pay_reached": ("effective hourly pay", "money"),
}


def contents(study: Study, found: LatestFigures) -> dict:
    shown = {"study": study, "latest": found}
    if found.data is None:
        return shown
    return {**shown, **tables(study_report.dated(found), pictures_by_stage(study.pk))}


def tables(report: Mapping, pictures: Mapping[int, Sequence[Picture]] = NO_PICTURES) -> dict:
    """Return the report, and what else its tables need. `pictures` are the images in each stage's instructions."""
    people, paid = report["annotators"], bool(report["study"]["pay_per_hour"])
    stages = [stage(one, pictures.get(one["settings"]["position"], ())) for one in report["stages"]]
    source = FORMATS.get(report["study"]["benchmark"]["source"])
    models = report.get("people_and_models")
    return {
        "report": report,
        "finding": finding(report),
        "source": source.title if source and source != OWN else "",
        "consent": markdown.to_html((report["study"]["consent"] or {}).get("text", ""), level=3),
        "stages": stages,
        "has_paper": any(one["paper"] for one in stages),
        "has_scores": any(one["scored"] for one in stages),
        "funnel": funnel(report["funnel"], report["retrieval_questions"]),
        "baselines": [{**one, **human_baseline_page.tables(one)} for one in report["baselines"]],
        **human_baseline_page.HEADS,
        "models": models
        and results_page.read(models, models["rows"], Subject(0, "", report["as_of"]))
        | {"people_and_models": results_page.table_of(models, models["rows"])},
        "spreads": [
            {**people["spread"][name], "words": words, "unit": unit}
            for name, (words, unit) in SPREADS.items()
            if people["spread"][name]["n"] and (paid or unit != "money")
        ],
        "signs": [(KINDS[kind], n) for kind, n in people["signs"].items()],
        "people": first_of(people["rows"], PEOPLE),
        "level": _level(report["stages"]),
    }


def _level(stages: Sequence[Mapping]) -> str | None:
    """Return the level on which annotators are compared; None if labels have no order, or stages differ."""
    levels = {
        found.get("level")
        for one in stages
        for found in one["figures"]["agreement"]
        if found["on"] == one["figures"]["by_type_on"]
    }
    return levels.pop() if len(levels) == 1 else None


def first_of(rows: Sequence[Mapping], most: int) -> list[Mapping]:
    """Return the annotators who judged the most, in their order."""
    busy = [row for row in rows if row["judged"]]
    chosen = sorted(sorted(range(len(busy)), key=lambda at: -busy[at]["judged"])[:most])
    return [busy[at] for at in chosen]


# A stage


def stage(one: Mapping, pictures: Sequence[Picture]) -> dict:
    """Return a stage of the report with its texts as readers see them, and its agreement as tables."""
    protocol, paper = protocol_named(one["protocol"]["name"]), ""
    block = paper_block(protocol, one["figures"])
    if block:
        context = {**block, "protocol": protocol, "stage": one["settings"]}
        paper = render_to_string(block["paper_template"], context)
    return {
        **one,
        "asks": protocol,
        "versions": [
            {**version, "html": markdown.to_html(version["text"], pictures, level=5)} for version in one["instructions"]
        ],
        "views": [view(found) for found in one["agreement"]],
        "paper": paper,
        "paper_title": block.get("paper_title", ""),
        "scored": _scored(protocol, one["figures"]),
    }


def _scored(protocol: Protocol, figures: Mapping) -> str:
    """Return the scores of a declared protocol's answers, with tables instead of plots; "" if there are none."""
    study = figures["study"]
    at = figures["pace"]["last"] or EPOCH.isoformat()
    block = scores_block(protocol, dict(figures), Subject(0, study["name"], at, study["stage"], protocol.title))
    if not block:
        return ""
    return render_to_string("reports/_scores.html", {**block, "tables": block["score_plots"], "score_plots": []})


def view(found: Mapping) -> dict:
    """Return one view's agreement: `lines` for the stage, `rows` by type in columns `heads`, `pairs` of annotators."""
    whole = found["whole"]
    level = found.get("level", NOMINAL)
    shown = measured(whole, _by_kind(found["type"], found["subtype"]), level, found.get("unit", ""))
    return {
        "on": found["view"],
        **{name: whole[name] for name in COUNTS},
        **shown,
        "of_pairs": mean_of_pairs_on(level),
        "pairs": [
            {**row, "percent": row["measures"]["percent"], "kappa": row["measures"][mean_of_pairs_on(level).key]}
            for row in found["pair"][:PAIRS]
        ],
        "pair_count": found["pair_count"],
    }


def _by_kind(types: Iterable[Mapping], subtypes: Iterable[Mapping]) -> Iterator[Mapping]:
    """Yield each type (with `subtype` None), then its named subtypes."""
    below = list(subtypes)
    for row in types:
        yield {**row, "subtype": None}
        mine = [one for one in below if one["type"] == row["type"]]
        yield from mine if any(one["subtype"] for one in mine) else ()


# The funnel


def funnel(whole: Mapping, questions: Mapping | None) -> dict:
    """Return `lines` of counts and shares with a cell for each type and subtype, in the columns of BiVLC's Table 1;
    `groups` are the types above them. `upright`: too many for the page width, so each has a row.
    """
    kinds = sorted(whole["by_type"], key=_place)
    lines = []

    def add(words: str, rows: Iterable[Mapping], name: str, share: bool = False) -> None:
        *cells, every = [row[name] for row in rows]
        lines.append({"words": words, "cells": cells, "all": every, "share": share})

    ends = [*kinds, whole]
    add("imported", ends, "imported")
    stages = whole["stages"]
    only = len(stages) == 1 and stages[0]["entered"] == whole["imported"]  # then the study's own lines suffice
    for place, stage in enumerate([] if only else stages):
        steps, name = [row["stages"][place] for row in ends], f"stage {stage['stage']} ({title_of(stage['protocol'])})"
        add(f"entered {name}", steps, "entered")
        add(f"kept by {name}", steps, "kept")
        add("of the items that entered", steps, "kept_share", share=True)
    add("finally kept", ends, "kept")
    add("of imported", ends, "kept_share", share=True)
    add("dropped", ends, "dropped")
    add("of imported", ends, "dropped_share", share=True)
    if whole["not_asked"]:
        add("not asked about", ends, "not_asked")
    add("open", ends, "open")
    if questions is not None:
        counts = {(row["type"], row["subtype"]): row for row in questions["by_type"]}
        asked = [counts[row["type"], row["subtype"]] for row in kinds]
        add("retrieval questions", [*asked, {"questions": questions["all"]}], "questions")
    return {
        "groups": [{"type": name, "span": len(list(rows))} for name, rows in groupby(kinds, itemgetter("type"))],
        "kinds": kinds,
        "lines": lines,
        "upright": len(kinds) > COLUMNS,
        **_titled(whole),
        "open_in": whole["open_in"],
    }


def _titled(whole: Mapping) -> dict[str, list[dict]]:
    """Return the rows that name a stage, with its title."""
    titles = {row["stage"]: title_of(row["protocol"]) for row in (*whole["stages"], *whole["measuring"])}
    parts = ("reasons", "not_asked_in", "measuring")
    return {part: [{**row, "name": titles[row["stage"]]} for row in whole[part]] for part in parts}


def _place(row: Mapping) -> tuple:
    """Sort the types and subtypes of Table 1 first, in its order; then others by name."""
    places = [
        (order.index(name) if name in order else len(order), name)
        for order, name in ((TYPES, row["type"]), (SUBTYPES, row["subtype"]))
    ]
    return tuple(places)
