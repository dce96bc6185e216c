"""A study's results: its people and models in one table, releases, report, exports, and the page to share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from annotation import permissions
from annotation.adjudication import cases
from annotation.charts.bars import funnel_bars
from annotation.charts.study import MeasuredRow, Plot, Subject, funnel_plot, interval_plot
from annotation.comparison import charts, people_and_models, tables
from annotation.comparison.table import HUMANS, RESULT
from annotation.dashboard import headline_tiles, home_page, stage_progress
from annotation.dashboard.headline_tiles import Tile
from annotation.dashboard.study_overview import overview
from annotation.exports import job as export_job
from annotation.figures import cache, human_baseline
from annotation.figures.cache import LatestFigures
from annotation.models import CachedFigures, SharedResults, Stage, Strategy, Study
from annotation.releases.listing import FROZEN, list_row, releases_of
from annotation.templatetags.figures import NOTHING, percent, to_percent
from annotation.wording import counted
from benchmarks.jobs.jobs import Tell, no_progress
from benchmarks.metrics.base import wilson
from benchmarks.naming import kind_name
from benchmarks.tables import Column, Table, bdi, exact, number, only_in_file, with_sub

KIND = "results"
RELEASES = 5
EXPORTS = 5

INTERVALS = "The 95% interval shows where the share may be with other people like these or, for models, on other items."

GAPS = (
    "People − model, paired: by how many points more often the study’s people are right than the model about the same "
    "items, with a 95% interval for other people and items like these."
)

Row = Mapping[str, Any]


@cache.computes(KIND)
def results(stage: Stage, key: str = "", tell: Tell = no_progress) -> dict:
    """Return the results for a study's first stage: `people_and_models` and, for the page to share, the headline
    `tiles` and what became of all items (`whole`); for an audit its `audit` (audit_block.summary).
    """
    found = people_and_models.people_and_models(stage.study)
    main = stage_progress.main_stage(stage_progress.stages_of(stage.study))
    main.study = stage.study
    of_main = overview(main, tell=tell)
    tiles = headline_tiles.of_results(main, of_main)
    return {**found, "tiles": [asdict(tile) for tile in tiles], "whole": of_main["whole"], "audit": of_main["audit"]}


def latest(first: Stage, by: str = "app") -> tuple[bool, LatestFigures]:
    """Return whether the study is small enough to compute results at once, and its `results`."""
    small = cache.is_small(first.study) and not people_and_models.many_answers(first.study.benchmark)
    # Kept for at most an hour, because answers by people in another study are not noticed here.
    return small, cache.latest(first, KIND, by=by, small=small, good=cache.CLOCK)


def rows_for(user, study: Study, data: Row) -> list[Row]:
    """Return the table's rows, without people in studies of which the user is not a member."""
    others = {row["study"] for row in data["rows"]} - {None, study.pk}
    seen = set(permissions.studies_for(user).filter(pk__in=others).values_list("pk", flat=True)) if others else ()
    return [row for row in data["rows"] if row["study"] in (None, *seen)]


def contents(request: HttpRequest, study: Study) -> dict:
    """Return everything that the page shows; for a large study, the table is as last computed."""
    stages = list(study.stages.order_by("position"))
    stages[0].study = study
    small, found = latest(stages[0])
    releases = [list_row(release) for release in releases_of(study)[:RELEASES]]
    shared = SharedResults.objects.filter(study=study).first()
    return {
        "study": study,
        "next": home_page.step_of(home_page.listed(request.user, study)) if study.may.manage else None,
        "latest": found,
        "large": not small,
        **_drawn(request, study, found),
        "releases": releases,
        "latest_release": next((row["release"] for row in releases if row["state"] == FROZEN), None),
        "to_decide": sum(cases.undecided(stages).values()) if study.may.manage else 0,
        "exports": list(export_job.exports_of(study)[:EXPORTS]),
        "measured": bool(human_baseline.pairs_of(stages)),
        "audits": [stage for stage in stages if stage.strategy == Strategy.AUDIT],
        "shared": shared and request.build_absolute_uri(reverse("shared-results", args=[shared.token])),
    }


def _drawn(request: HttpRequest, study: Study, found: LatestFigures) -> dict:
    if found.data is None or found.made_at is None:
        return {}
    data, rows = found.data, rows_for(request.user, study, found.data)
    of, whole = Subject(study.pk, study.name, found.made_at.isoformat()), data["whole"]
    return {
        "data": data, "tiles": data["tiles"], **read(data, rows, of),
        "people_and_models": table_of(data, rows, study, request),
        "no_models": bool(rows) and all(row["run"] is None for row in rows),
        "funnel": funnel_plot(whole, of) if len(whole["stages"]) + len(whole["measuring"]) > 1 else None,
    }  # fmt: skip


def shared(study: Study) -> dict:
    """Return what everybody with the address sees: as last computed, without people in other studies."""
    state = study.state_with(study.stages.all())
    found = CachedFigures.objects.filter(stage__study=study, kind=KIND, key="").order_by("stage__position").first()
    if found is None:
        return {"study": study, "state": state}
    rows = [row for row in found.data["rows"] if row["study"] is None]
    of, whole = Subject(study.pk, study.name, found.made_at.isoformat()), found.data["whole"]
    return {
        "study": study, "state": state, "data": found.data, "made_at": found.made_at, **read(found.data, rows, of),
        "public": True, "whole": whole,
        "parts": stage_progress.parts_of(whole, bool(found.data.get("audit")), not stage_progress.asks_nobody(study)),
        "stages": [*whole["stages"], *whole["measuring"]],
        "funnel": funnel_bars(whole), "plots": {"valid": valid_plot(whole["by_type"], of)},
        "tiles": [*(Tile(**one) for one in found.data["tiles"]), *_tiles(found.data, rows)][: headline_tiles.MOST],
        "people_and_models": table_of(found.data, rows),
    }  # fmt: skip


def valid_plot(kinds: Sequence[Row], of: Subject) -> Plot | None:
    """Plot the share of valid items among those decided, for each type and subtype if there are several."""
    decided = [(row, row["kept"] + row["dropped"]) for row in kinds if row["kept"] + row["dropped"]]
    rows: list[MeasuredRow] = [
        (kind_name(row["type"], row["subtype"]), row["kept"] / n, *wilson(row["kept"], n), n, "") for row, n in decided
    ]
    return interval_plot(("valid", "Valid items by type"), "type", "share valid", rows, of) if len(rows) > 1 else None


def _tiles(data: Row, rows: Sequence[Row]) -> Iterable[Tile]:
    person, best = _person(rows), _best(rows)
    if person and person["all"] and not person["apart"]:
        words = "answers that share of the items correctly, including bad items"
        yield Tile(person["title"], percent(person["all"]["share"]), words, "", _basis(person))
    if best:
        yield Tile("Best model", percent(best["all"]["share"]), best["title"], "", _basis(best))


def _basis(row: Row) -> str:
    of = row["all"]
    ends = "" if of["low"] is None else f"95%: {to_percent(of['low'], of['high'])}"
    return " · ".join(filter(None, [ends, of["n"] and counted(of["n"], "item")]))


# The table


def table_of(data: Row, rows: Sequence[Row], study: Study | None = None, request: HttpRequest | None = None) -> Table:
    """With links that sort it and a file of the study, if there is a request."""
    columns = [
        Column("who", "title", html=_named, name="row"),
        number("% right", "all.share", html=lambda row: _points(row["all"]), name="all"),
        number("95%", html=_interval),
        *only_in_file("all.low", "all.high", "all.n", "about"),
        *(only_in_file("cut") if any(row.get("cut") is not None for row in rows) else []),
        *([tables.left_out("read_alike")] if any(row.get("read_alike") for row in rows) else []),
    ]
    if data["valid"] is not None:
        valid = number("valid items", "valid.share", html=lambda row: _points(row["valid"]), name="valid")
        columns += [valid, *only_in_file("valid.low", "valid.high", "valid.n")]
    paired = any(row["gap"] for row in rows)
    if paired:
        columns.append(number("people\u00a0− model, paired", "gap.value", html=_gap, name="gap"))
        columns += only_in_file("gap.low", "gap.high", "gap.n")
    columns += [column for place, name in enumerate(data["parts"]) for column in _part(place, name, paired)]
    asked = {row["in_both_orders"] for row in rows if row["stands"] != HUMANS}
    guesses = {"": (False, data["chance"]), ", asked in both orders": (True, data["chance_in_both_orders"])}
    foot = [
        [f"models that guess{how}", f"{100 * chance:.1f}", *[""] * (len([one for one in columns if one.page]) - 2)]
        for how, (twice, chance) in guesses.items()
        if chance is not None and twice in asked
    ]
    return Table(
        "people-and-models", columns, rows, label="people-and-models-title", cards=True,
        request=request, foot=foot,
        row_css=lambda row: "people" if row["stands"] == HUMANS else "", download=request is not None,
        empty="No results yet.",
        advice="Models get rows when they are scored on the benchmark, or when their answers are imported.",
        button=("Models", reverse("benchmark-models", args=[study.benchmark_id])) if study and request else None,
    )  # fmt: skip


def _named(row: Row) -> object:
    return with_sub(bdi(row["title"]), row["about"], "not the question that models were asked" if row["apart"] else "")


def _points(of: Row | None) -> object:
    """Return a share in percent, and its number of items."""
    if not of:
        return NOTHING
    return with_sub(exact(of["share"], lambda share: f"{100 * share:.1f}"), of["n"] and f"n\u00a0{of['n']:,}")


def _interval(row: Row) -> str:
    of = row["all"]
    return NOTHING if not of or of["low"] is None else f"{100 * of['low']:.1f}–{100 * of['high']:.1f}"


def _gap(row: Row) -> object:
    of = row["gap"]
    return tables.difference(of["value"], of["low"], of["high"], f"n\u00a0{of['n']:,}") if of else NOTHING


def _part(place: int, name: str, paired: bool) -> Iterable[Column]:
    """Return a column for a part of the items; `paired`: also what people have more than each model."""
    yield number(name, f"parts.{place}.share", html=lambda row: _points(row["parts"][place]), name=name)
    for end in ("low", "high", "n"):
        yield Column(end, f"parts.{place}.{end}", name=f"{name}.{end}", page=False)
    for end in ("value", "low", "high") if paired else ():
        yield Column(end, f"part_gaps.{place}.{end}", name=f"{name}.gap.{end}", page=False)


# The sentences that interpret it


def read(data: Row, rows: Sequence[Row], of: Subject) -> dict:
    """Return the `sentences` that interpret the table, its `notes` on missing numbers, and its `plot`."""
    others = f"{people_and_models.SINGLE} in "  # too long beside a plot
    twice = f" (guessing: {percent(data['chance_in_both_orders'])})"  # the plot's line is for models asked once
    plotted = [
        {**row, "title": row["title"].removeprefix(others) + twice * row["in_both_orders"]}
        for row in rows
        if row["all"] and not row["apart"]
    ]
    once = any(row["stands"] != HUMANS and not row["in_both_orders"] for row in plotted)
    sentences = [*_overall(rows, data["measure"], data["items"]), *_on_valid(data, rows)]
    return {
        "sentences": sentences,
        "notes": [
            *_notes(rows, " ".join(sentences)),
            *(f"{row['title']}: {note}" for row in rows for note in row.get("notes", ())),
            *([INTERVALS] if rows else []),
            *([GAPS] if any(row["gap"] for row in rows) else []),
        ],
        "plot": charts.beside_people(plotted, data["chance"] if once else None, of) if plotted else None,
    }


def _person(rows: Sequence[Row]) -> Row | None:
    return next((row for row in rows if row["stands"] == HUMANS and row["study"] is None and not row["run"]), None)


def _best(rows: Sequence[Row]) -> Row | None:
    """Return the best row; models are in order, best first."""
    return next((row for row in rows if row["stands"] != HUMANS and row["all"]), None)


def _overall(rows: Sequence[Row], measure: Mapping[str, str] | None, items: int) -> list[str]:
    person, best = _person(rows), _best(rows)
    name = f" ({measure['short']}: {measure['long']})" if measure and measure["name"] == "group" else ""
    single = person and person["title"].startswith(people_and_models.SINGLE)
    who = "On average, one person is" if single else "People are"
    some = _of_some(best, "all", items) if best else ""
    which = " that answered all items" if not some and any(row.get("fewer") for row in rows) else ""
    model = best and f"the best model{which}, {best['title']},"
    share = best and percent(best["all"]["share"])
    if person and person["all"] and not person["apart"]:
        asked, own = person["all"]["n"], person["all"]["share"]
        beside = f", {model} on {share}{some}" if model else ""
        if best and best["gap"] and best["gap"]["n"] == asked != items:
            whole = f"{share}{some or f' of all {items:,}'}"
            beside = f", {model} on {percent(own - best['gap']['value'])} of the same and {whole}"
        of = "all items" if asked in (None, items) else f"the {asked:,} items that were answered"
        return [f"{who} right on {percent(own)} of {of}{name}{beside}."]
    return [f"{model[0].upper()}{model[1:]} is right on {share}{some or ' of all items'}{name}."] if model else []


def _of_some(row: Row, name: str, items: int) -> str:
    """Return how many items a model's share is based on, if not all."""
    n = row[name]["n"]
    return "" if n in (None, items) else f" of the {counted(n, 'item')} that it {_did(row)}"


def _did(row: Row) -> str:
    return "reads apart" if row.get("read_alike") else "answered"


def _on_valid(data: Row, rows: Sequence[Row]) -> list[str]:
    """Describe how models change on the valid items, and people's share there, or why there is none."""
    if data["valid"] is None:
        return []
    best = _best(rows)
    person = _person(rows)
    asked = person["all"]["n"] if person and person["all"] and best and best["gap"] else None
    found = [_without_the_bad(best, data["valid"], asked)] if best and best["valid"] and best.get("decided") else []
    people = [row for row in rows if row["stands"] == HUMANS and not row["run"] and not row["apart"]]
    if known := [row for row in people if row["valid"]]:
        found.append(_of_those_who_did_not_choose(known))
    elif people and "valid" in people[0]["why"]:
        found.append(f"People have no share of the valid items, because {people[0]['why']['valid']}.")
    if best := next((row for row in rows if row["stands"] == RESULT and row["valid"]), None):
        found.append(
            f"The best model on the kept items, {best['title']}, is right on {percent(best['valid']['share'])} "
            f"of {best['valid']['n']:,}."
        )
    return found


def _of_those_who_did_not_choose(rows: Sequence[Row]) -> str:
    """Describe each group's share on valid items; for a single group, why it may be below its share on all."""
    of_others = [row for row in rows if row["study"] is not None]
    if len(rows) > 1:
        shares = sorted(row["valid"]["share"] for row in rows)
        who = f"People in {len(rows)} other studies" if of_others == [*rows] else f"{len(rows)} other groups of people"
        low, high = min(counts := [row["valid"]["n"] for row in rows]), max(counts)
        each = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        return (
            f"{who}, who did not choose the valid items, are right on {to_percent(shares[0], shares[-1])} of those "
            f"that they answered ({each} items each)."
        )
    (row,) = rows
    who = "People in another study" if of_others else "People in this study who did not choose any of them"
    on_valid, on_all = row["valid"]["share"], row["all"] and row["all"]["share"]
    said = f"{who} are right on {percent(on_valid)} of the {row['valid']['n']:,} valid items that they answered"
    if on_all is None or on_all <= on_valid:
        return f"{said}."
    whole = f"{percent(on_all)} of all {row['all']['n']:,}"
    return f"{said} ({whole}): others chose these items, so the share need not be higher."


def _without_the_bad(best: Row, all_valid: int, asked: int | None) -> str:
    """Describe how the best model does without the items that people found wrong; also with them, unless these are the
    `asked` items, of which another sentence has its share.
    """
    decided, valid = best["decided"], best["valid"]
    some = "" if valid["n"] in (None, all_valid) else f" that it {_did(best)} (of {all_valid:,})"
    on_valid = f"{valid['n']:,} valid ones{some}"
    if decided["n"] == asked:
        return f"Of the {on_valid}, it is right on {percent(valid['share'])}."
    return (
        f"Of the {counted(decided['n'], 'item')} decided on, it is right on {percent(decided['share'])}; of the "
        f"{on_valid}, on {percent(valid['share'])}."
    )


def _notes(rows: Sequence[Row], said: str) -> list[str]:
    """Explain why numbers are missing, each reason once, with its rows, unless already `said`."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for name, why in row["why"].items():
            if why in said:
                continue
            reasons.setdefault((name, why), []).append(row["title"])
    return [
        f"{titles[0] if len(titles) == 1 else counted(len(titles), 'row')}: no share of {name} items, because {why}."
        for (name, why), titles in reasons.items()
    ]
