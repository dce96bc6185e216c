"""Every number of a study's pages is one that independent scripts compute from its export, to 1e-9.

The walk (page_numbers.py) takes each number of a page's main content with its part of the page and its row. It has to
be among the few that the scripts have for that place, and where the page carries its digits, equal to them.
"""

import json
import math
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from django.urls import reverse

from annotation.exports.export import export_split
from annotation.models import Study
from annotation.protocols.registry import title_of
from annotation.templatetags import figures as written
from benchmarks.naming import kind_name
from tests.annotation.dashboard.page_numbers import Seen, every, numbers
from tests.builders import cohorts, crowds
from tests.builders.pipelines import pipeline, with_originals
from tests.independent import agreement_page
from tests.independent.baselines import baselines
from tests.independent.reading import Files
from tests.independent.recomputed import read_stages, recompute

pytestmark = pytest.mark.django_db(transaction=True)
NO_FIGURES = re.compile(  # words of the pages, and what depends on the clock
    r"95 ?%|more than 3|3-SD|at least 20 judgments|fewer than \d+|below 0\.001 and at least 10 points"
    r"|each at level 0\.001|\d+ tasks? (?:is|are) open|in \d+ minutes?"
    r"|\([\d.]+% of all\) that two people who guess would agree on about [\d.]+%|up to 1\.9% of simulated"
    r"|\d+ /h|get 6\.25%|the latest \d+|v\d+|86\s+to\s+97%"
)
BIVLC = {0.492, 0.38, 0.66}  # the paper's Table 7: the mean kappa, and the lowest and the highest of a pair
Known = dict[str, dict[str, set[float]]]


class Export:
    """A study's export, and what the scripts make of its files alone."""

    def __init__(self, study: Study, folder: Path):
        export_split(study=study, out=folder, by="test")
        self.folder, self.manifest = folder, json.loads((folder / "manifest.json").read_text())
        found = recompute(folder)
        self.funnel, self.stages = found["funnel"], found["stages"]
        self.people, self.read = found["annotators"], read_stages(Files(folder))
        self.places = {float(stage["position"]) for stage in self.manifest["stages"]}


def unexplained(page: str, known: Known, always: set[float]) -> list[Seen]:
    """`known` by the part of the page and the head of the row; "" is what is known wherever nothing else is."""
    return [seen for seen in numbers(page) if not said_elsewhere(seen) and not explained(seen, known, always)]


def said_elsewhere(seen: Seen) -> bool:
    return any(seen.shown in found for found in NO_FIGURES.findall(seen.words))


def explained(seen: Seen, known: Known, always: set[float]) -> bool:
    part = known.get(seen.part, known[""])
    row = part.get(seen.row) or part.get(seen.row.partition(" ")[0]) or part.get("", set())
    return seen.is_one_of(row | always)


def step_name(row: dict) -> str:
    return f"{row['stage']} {title_of(row['protocol'])}"


def by_kind(rows: list[dict]) -> dict[str, set[float]]:
    return {kind_name(row["type"], row["subtype"]): every(row) for row in rows}


# What is known of each page


def of_study_page(export: Export, place: int) -> Known:
    found, settings = export.stages[place], export.manifest["stages"][place]
    types, totals = by_kind(found["by_type"]), every(found["outcomes"], found["progress"])
    people = {row["annotator"]: every(row) | top_share(row["places"]) for row in found["annotators"]}
    rates = {row["judgments"] * 60 / found["series"]["minutes"] for row in found["series"]["bins"]}
    pairs = {float(len(view["kappa_pairs"])) for view in found["agreement"]}
    agreement = every(found["agreement"], found["disagreements"]) | pairs | few_on_views(export, place)
    agreement |= ends(export, place)
    tiles = totals | agreement | every(found["cost"], found["pace"], found["study"]) | BIVLC
    return {
        "": {"": whole_of(export) | {float(len(export.stages)), share_settled(export)}},
        "live-stage": {"": every(settings, found["study"], of_batches(export, place))},
        "live-tiles": {"": tiles},
        "live-headline": {"": tiles},
        "live-outcomes": {"": totals},
        "kappas": {"": set(), **types},
        "series": {"": every(found["series"]) | rates},
        "live-annotators": people,
        "live-agreement": {"": agreement},
        "live-types": {"": set(), **types, "all": totals},
        "live-batches": {"": every(of_batches(export, place))},
        "live-disagreements": {"": said_how_often(export, place)},
        "live-flags": {"": every(found["progress"])},
    }


def whole_of(export: Export) -> set[float]:
    """Of the funnel, with what each stage has settled."""
    whole = every({name: part for name, part in export.funnel.items() if name != "by_type"})
    return whole | {float(step["entered"] - step["open"]) for step in export.funnel["stages"]}


def of_overview(export: Export) -> Known:
    steps = [*export.funnel["stages"], *export.funnel["measuring"]]
    tiles = set().union(*(of_study_page(export, place)["live-tiles"][""] for place in range(len(export.stages))))
    series = set().union(*(of_study_page(export, place)["series"][""] for place in range(len(export.stages))))
    whole = whole_of(export) | {100.0}
    for found in export.stages:
        progress = found["progress"]
        whole.add(math.floor(1000 * progress["settled"] / progress["tasks"]) / 1000)
    reasons = {"check_item", "not_sampled", "not_suitable"}
    not_asked = sum(row["items"] for row in export.funnel["reasons"] if row["reason"] in reasons)
    settled = export.funnel["kept"] + export.funnel["dropped"] - not_asked
    shares = [n / export.funnel["imported"] for n in (not_asked, export.funnel["dropped"] - not_asked)]
    whole |= {float(not_asked), export.funnel["dropped"] - not_asked, *shares, float(settled)}
    if settled:
        share = export.funnel["kept"] / settled
        whole |= {share, *(found for n in (10.0, 20.0, 100.0) for found in (n, float(max(round(n * share), 1))))}
    whole.add(share_settled(export))
    where = {"": whole, **by_kind(export.funnel["by_type"])}
    return {
        "": {"": whole | tiles},
        "where-title": where,
        "funnel": {"": whole, **{step_name(row): every(row) for row in steps}, "imported": whole},
        "series": {"": series},
    }


def share_settled(export: Export) -> float:
    done = [(step["entered"] - step["open"], step["entered"]) for step in export.funnel["stages"]]
    done += [(step["answered"], step["tasks"]) for step in export.funnel["measuring"]]
    return math.floor(1000 * sum(n for n, _ in done) / sum(n for _, n in done)) / 1000


def top_share(places: list[int]) -> set[float]:
    """With the numbers of the places, which a cell's title names."""
    return {max(places) / sum(places), *map(float, range(1, len(places) + 1))} if sum(places) else set()


def of_batches(export: Export, place: int) -> dict:
    """Each place of each batch: its items, questions and judgments; who has it stands with the annotators."""
    stage = export.read[place]
    tasks = stage.tasks[stage.tasks.batch.notna()]
    seats = [(seat["batch"], seat["place"]) for who, seat in stage.people if not who["excluded"]]
    held = {(batch, number) for batch, number in seats if batch is not None}
    rows = []
    for batch, mine in tasks.groupby("batch"):
        told = stage.standing.merge(mine[["position", "question", "round"]], on=["position", "question", "round"])
        for number in range(1, int(mine.overlap.max()) + 1):
            judged = int((told.slot == number).sum())
            rows.append([float(batch), mine.item.nunique(), len(mine), judged])
            held |= {(batch, number)} if judged else set()
    done = sum(row[2] == row[3] for row in rows)
    return {"rows": rows, "count": tasks.batch.nunique(), "places": len(rows), "done": done, "given": len(held)}


def said_how_often(export: Export, place: int) -> set[float]:
    counts = export.read[place].standing.groupby(["position", "question", "round"]).answer.value_counts()
    return set(map(float, counts))


def of_agreement_page(export: Export, stage, view: str) -> Known:
    rows = agreement_page.stages(export.folder)[stage.name]
    rows = rows.assign(label=rows.answer.map(stage.views[view]))
    found = agreement_page.figures(rows, stage.views[view])
    types = {
        kind_name(row["type"]): every(row, sizes(some))
        for row, (_, some) in zip(found["type"], rows.groupby("type"), strict=True)
    }
    pooled = every(sizes(rows), confusion(rows)) | {0.0}
    matrix = every([list(pair.values()) for pair in recompute_kappas(export, stage, view)])
    people = {float(rows.who.nunique())}
    compared = Counter(
        one[1] for of in agreement_page.by_item(rows).values() for pair in combinations(of, 2) for one in pair
    )
    shares = [n / compared.total() for n in compared.values()]
    guessing = {max(shares, default=0.0), sum(share**2 for share in shares)}
    return {
        "": {"": every({name: value for name, value in found["whole"].items() if name != "measures"})},
        "words-title": {"": every(found["whole"]) | pooled | few_others(rows) | guessing},
        "whole-title": {"": every(found["whole"]) | pooled | few_others(rows)},
        "pooled-title": {"": pooled},
        "parts-title": {"": set(), **types},
        "agreement-by-type": {"": set(), **types},
        "kappa-matrix": {"": matrix | people},
        "pair-title": {"": confusions_of_pairs(rows)},
    }


def ends(export: Export, place: int) -> set[float]:
    """Of the intervals of percent agreement, of the mean kappa and of AC1, on any view."""
    stage = export.read[place]
    rows = agreement_page.stages(export.folder)[stage.name]
    found = []
    for see in stage.views.values():
        seen = rows.assign(label=rows.answer.map(see))
        labels = sorted({*seen.label, *map(see, rows.attrs["offered"])})
        measures = agreement_page.part(seen, labels)["measures"]
        found += [list(measures[name] or ()) for name in ("percent", "cohen_mean", "ac1")]
    return every(found)


def few_on_views(export: Export, place: int) -> set[float]:
    """With AC1."""
    stage = export.read[place]
    rows = agreement_page.stages(export.folder)[stage.name]
    found: set[float] = set()
    for see in stage.views.values():
        seen = rows.assign(label=rows.answer.map(see))
        labels = sorted({*seen.label, *map(see, rows.attrs["offered"])})
        counts = [agreement_page.tally(given, labels) for given in agreement_page.by_item(seen).values()]
        steady = agreement_page.ac1(np.array(counts)) if counts else None
        found |= few_others(seen) | (set() if steady is None else {float(steady)})
    return found


def few_others(rows) -> set[float]:
    """How many tasks with two judgments have another label than the most frequent, if fewer than ten."""
    several = [[label for _, label in given] for given in agreement_page.by_item(rows).values() if len(given) > 1]
    said = Counter(label for labels in several for label in labels)
    if len(said) < 2:
        return set()
    most = min(said, key=lambda label: (-said[label], label))
    others = sum(set(labels) != {most} for labels in several)
    return {float(others)} if others < 10 else set()


def recompute_kappas(export: Export, stage, view: str) -> list[dict]:
    (found,) = [one for one in export.stages[stage.settings["position"] - 1]["agreement"] if one["on"] == view]
    return found["kappa_pairs"]


def sizes(rows) -> dict[str, int]:
    """What n is: pairs of judgments, tasks with two or more, pairs of annotators with a kappa and without."""
    given = [one for one in agreement_page.by_item(rows).values() if len(one) > 1]
    labels: dict[tuple, set] = {}
    for (first, said), (second, other) in (pair for one in given for pair in combinations(one, 2)):
        labels.setdefault((first, second), set()).update((said, other))
    defined = sum(len(one) > 1 for one in labels.values())
    return {
        "pairs": sum(math.comb(len(one), 2) for one in given),
        "items": len(given),
        "defined": defined,
        "left_out": len(labels) - defined,
    }


def confusion(rows) -> list[int]:
    """Of all pairs of judgments of a task, by their two labels; the square is mirrored."""
    given = agreement_page.by_item(rows).values()
    pairs = Counter(tuple(sorted((one[1], two[1]))) for of in given for one, two in combinations(of, 2))
    return list(pairs.values())


def confusions_of_pairs(rows) -> set[float]:
    found = Counter(
        (one[0], two[0], one[1], two[1])
        for of in agreement_page.by_item(rows).values()
        for one, two in combinations(of, 2)
    )
    return {0.0, *map(float, found.values())}


def of_people_page(export: Export, study: Study) -> Known:
    people = export.people
    rows = people["whole"]
    everywhere = [row for stage in people["stages"] for row in stage["rows"]]
    own, compared = ([sum(row[name]["p"] is not None for name in of) for row in everywhere] for of in (OWN, COMPARED))
    told = float(sum(own) + sum(compared))
    false_alarms = [sum(own) * 0.001 + sum(count > 0 for count in compared) * share for share in (0.0065, 0.018)]
    stage = max(people["stages"], key=lambda one: one["times"]["n"])
    times = stage["times"]
    shares = {row["judgments"] / times["n"] for row in times["bins"]}
    mix = {pseudonym(row["number"]): every(row["labels"], row["judged"]) | {0.0} for row in stage["rows"]}
    minutes, pay = (sum(row[name] for row in rows) for name in ("active_minutes", "paid"))
    signs = {number: of_signs(people, number) for number in (row["number"] for row in rows)}
    total = sum(len(one.tasks) for one in export.read)  # who may still be asked what is not in the export
    could = set(map(float, range(total + 1))) | {float(one.quota or 0) for one in study.stages.all()}
    lists = {pseudonym(row["number"]): of_row(row) | signs[row["number"]] | could for row in rows}
    pay_per_hour, judged = float(study.pay_per_hour), (float(row["judged"]) for row in everywhere)
    decisions = {f"decide-{number}": {"": takes(export, number, pay_per_hour)} for number in signs}
    return {
        "": {
            "": {told, *false_alarms, 0.001, 20.0, *map(float, range(len(rows) + 1)), *judged} | every(people["speed"])
        },
        "list-title": {"": set().union(*signs.values(), could), **lists},
        "pay-title": {"": {minutes, pay, pay_per_hour}},
        **decisions,
        "mix-title": {"": {float(len(mix)), *map(float, range(len(people["stages"]) + 1))}},
        "times-title": {"": every(times)},
        "answers": {"": {float(len(mix))}, "everybody": every(stage["labels"], times["n"]), **mix},
        "times": {"": every(times) | shares | {times["median"] / 2}},
    }


def takes(export: Export, number: int, pay: float) -> set[float]:
    """What excluding somebody takes: the answers that count, checks included, and the time to ask the others again."""
    stages = [(stage, row) for stage in export.people["stages"] for row in stage["rows"] if row["number"] == number]
    judged = sum(row["judged"] for _, row in stages)
    minutes = sum(row["judged"] * stage["median_seconds"] / 60 for stage, row in stages)
    checks = sum(row["checks"]["n"] for _, row in stages if row["checks"])
    return {float(judged), float(judged + checks), minutes, minutes / 60 * pay}


OWN, COMPARED = ("side", "runs"), ("labels_test", "agreement")  # tests of an annotator's picks, and with the others


def pseudonym(number: int) -> str:
    return f"A-{number:02d}"


def of_row(row: dict) -> set[float]:
    """An annotator's figures, and those that the list makes of them."""
    shares = [row["majority"]["same"] / row["majority"]["n"]] if row["majority"]["n"] else []
    return every(row, shares, [60 * row["active_minutes"] / row["answers"]] if row["answers"] else [])


def of_signs(people: dict, number: int) -> set[float]:
    """What the sentences of somebody's signs say, in whichever stage."""
    found = every(people["speed"])
    for stage in people["stages"]:
        for row in (row for row in stage["rows"] if row["number"] == number):
            checks, side = row["checks"] or {"n": 0, "guess": 0}, row["side"]
            own, others = (Counter(row[name]) for name in ("labels", "others"))
            shares = [of[label] / of.total() for of in (own, others) if of for label in own | others]
            shares += [count / side["n"] for count in side["counts"] if side["n"]]
            found |= every(row, shares, checks["n"] * checks["guess"], stage["median_seconds"])
            for same in row["majority"].values():  # on the view that a sign compares, and where they are apart
                found |= every([same["n"] - same["same"]], [same["same"] / same["n"]] if same["n"] else [])
            found |= {float(sum(row["bands"])), float(checks["n"] - checks.get("right", 0)), 0.001}
            found |= {float(round(wanted)) for wanted in side["expected"]}
            if row["runs"]["p"] is not None:
                found.add(float(round(row["runs"]["chance"] * (row["runs"]["n"] - 1))))
    return found


def of_baseline_page(export: Export) -> Known:
    (found,) = baselines(Files(export.folder))
    types = {kind_name(row["type"], row["subtype"]): every(row) for row in found["by_type"]}
    people = {row["annotator"]: every(row) for row in found["annotators"]}
    whole = every({name: of for name, of in found.items() if name not in ("by_type", "annotators")})
    return {"": {"": whole | designs(export), **types, **people}}


def designs(export: Export) -> set[float]:
    """How many items were answered by one annotator, by others each, and partly by the same."""
    people: dict[int, list[str]] = {}
    for stage in export.read:
        if stage.settings["measures"]:
            for row in stage.standing.itertuples():
                people.setdefault(row.position, []).append(row.annotator)
    several = [names for names in people.values() if len(names) > 1]
    one = sum(len(set(names)) == 1 for names in several)
    apart = sum(len(set(names)) == len(names) for names in several)
    return {float(one), float(apart), float(len(several) - one - apart)}


# The walks


def told(seen: Seen) -> str:
    return f"{seen.part} | {seen.row} | {seen.shown} ({seen.exact}) in {seen.words[:150]!r}"


class Walk:
    """Through some pages: how many numbers there were, and lines of those that nothing explains."""

    def __init__(self, client, export: Export):
        self.client, self.export, self.count, self.wrong = client, export, 0, []

    def to(self, url: str, known: Known) -> None:
        page = self.client.get(url).text
        self.count += len(list(numbers(page)))
        self.wrong += [f"{url} {told(seen)}" for seen in unexplained(page, known, self.export.places)]


def test_every_number_of_a_study_of_several_stages(client, manager, tmp_path):
    study = pipeline(crowds.benchmark(24))
    export = Export(study, tmp_path / "out")
    walk = Walk(client, export)
    for place, stage in enumerate(export.read):
        walk.to(reverse("study-stage", args=[study.pk, place + 1]), of_study_page(export, place))
        view = list(stage.views)[-1]  # one alone: the script is slow
        url = reverse("study-agreement", args=[study.pk], query={"stage": place + 1, "view": view, "by": "type"})
        walk.to(url, of_agreement_page(export, stage, view))
    walk.to(reverse("study-annotators", args=[study.pk]), of_people_page(export, study))
    walk.to(reverse("study-baseline", args=[study.pk]), of_baseline_page(export))
    walk.to(reverse("study-detail", args=[study.pk]), of_overview(export))
    assert "\n".join(walk.wrong) == "" and walk.count > 1200


def test_every_number_of_the_annotators_and_a_figure_that_the_page_gets_wrong(client, manager, tmp_path, monkeypatch):
    study = with_originals(cohorts.study(judgments=30)[0].study)
    export = Export(study, tmp_path / "out")
    walk = Walk(client, export)
    walk.to(reverse("study-annotators", args=[study.pk], query={"plots": 1}), of_people_page(export, study))
    assert "\n".join(walk.wrong) == "" and walk.count > 250
    true = written.data
    monkeypatch.setattr(written, "data", lambda value, shown: true(value + 2e-9 if value > 0.5 else value, shown))
    walk.to(reverse("study-stage", args=[study.pk, 1]), of_study_page(export, 0))
    assert {"live-agreement", "live-tiles"} <= {line.split()[1] for line in walk.wrong}


@pytest.mark.parametrize(
    ("cell", "fine"),
    [
        ('<data value="0.7164179104477612">71.6%</data>', True),
        ('<data value="0.7164179204477612">71.6%</data>', False),  # 1e-8 away
        ('<data value="0.7164179104477612">71.7%</data>', False),  # rounded wrong
        ("72%", True),
        ("71%", False),
        ("1,234", True),
        ("1,235", False),
        ("stage 2 of i2t, A-07, item-9", True),
    ],
)
def test_the_walk_sees_what_is_wrong(cell, fine):
    row = f'<tr><th scope="row">swap</th><td>{cell}</td></tr>'
    page = f'<main><section aria-labelledby="t"><table>{row}</table></section></main>'
    known: Known = {"": {"": set()}, "t": {"": set(), "swap": {0.7164179104477612, 1234.0}}}
    assert (unexplained(page, known, {2.0}) == []) == fine
