"""The figures of studies whose question is a protocol file: on the scale of each answer, equal to independent ones."""

import itertools
import re

import krippendorff
import numpy as np
import pytest
from django.http import QueryDict
from django.urls import reverse
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from annotation.dashboard import agreement_page, study_overview
from annotation.figures import agreement, annotators
from annotation.figures.stage import study_figures
from annotation.measures.bradley_terry import Compared, bradley_terry
from tests.builders import declared

pytestmark = pytest.mark.usefixtures("savepoint")
ITEMS = 8
POINTS = [1, 2, 3, 4, 5]
RNG = np.random.default_rng(5)
FRAME = {
    "winnow": "protocol/1", "title": "A question", "ask": "What do you say?", "instructions": "Say it.",
    "item": {"images": {"positive": 1}, "captions": {"positive": 1, "negative": 1, "second_positive": 1}},
    "screen": [{"picture": "positive"}], "judgments": 3,
}  # fmt: skip
FIT = {
    "name": "fit",
    "ask": "How well?",
    "kind": "scale",
    "points": 5,
    "anchors": {1: "Not at all"},
    "not_applicable": "No text",
}
MEAN = {
    "measure": {"fit": {"score": "mean"}},
    "decide": [{"answer": "fit", "rule": "median", "at_least": 3, "below": "fits_badly"}],
}
ORDER = {"name": "order", "kind": "rank", "of": ["captions.positive", "captions.second_positive", "captions.negative"]}
CHECK = {"name": "holds", "ask": "?", "kind": "check", "statements": {"same": "S", "reads": "R"}}


def told(name: str, answers: list[dict], people: int, labels, **more) -> tuple:
    """The figures of a stage in which person w said `labels[i][w]` of item i, and the stage."""
    file = FRAME | {"name": name, "answers": answers} | more
    stage = declared.judge(declared.of_file(file, ITEMS), people, lambda task, who: labels[task.item.position][who])
    return stage, study_figures(stage)


def texts_of(client, stage) -> list[str]:
    """The stage's page, the agreement page, and those of the annotators, without line breaks."""
    where = [(name, [stage.study_id]) for name in ("study-agreement", "study-annotators")]
    where = [("study-stage", [stage.study_id, stage.position]), *where]
    addresses = [reverse(name, args=args) for name, args in where]
    addresses.append(reverse("study-annotator", args=[stage.study_id, 1]) + f"?stage={stage.position}")
    return [re.sub(r"\s+", " ", client.get(address).content.decode()) for address in addresses]


def test_a_scale_has_its_level_of_alpha_and_weighted_kappa(client, manager):
    true = RNG.integers(1, 6, (ITEMS, 1))
    points = (true + RNG.integers(-1, 2, (ITEMS, 3))).clip(1, 5)
    labels = points.astype(str).astype(object)
    labels[0, 0], labels[1, 1] = "cannot_judge", "not_applicable"
    stage, figures = told("likert", [FIT], 3, labels, **MEAN)
    (found,) = figures["agreement"]
    values = np.where(np.isin(labels, list("12345")), points, np.nan).astype(float)
    expected = krippendorff.alpha(values.T, level_of_measurement="ordinal", value_domain=POINTS)
    kappas = []
    for one, other in itertools.combinations(values.T, 2):
        both = ~np.isnan(one) & ~np.isnan(other)
        kappas.append(
            cohen_kappa_score(one[both].astype(int), other[both].astype(int), weights="quadratic", labels=POINTS)
        )
    assert (found["level"], found["aside"]) == ("ordinal", {"cannot_judge": 1, "not_applicable": 1})
    assert found["measures"]["alpha_ordinal"]["value"] == pytest.approx(expected, abs=1e-9)
    assert [pair["value"] for pair in found["kappa_pairs"]] == pytest.approx(kappas, abs=1e-9)
    headline = study_overview.overview(stage)["headline"]
    assert (headline["measure"], headline["value"]) == ("alpha_ordinal", found["measures"]["alpha_ordinal"]["value"])
    page = agreement.stage_agreement(stage, "answer")
    assert list(page["whole"]["measures"]) == ["percent", "weighted_cohen_mean", "alpha_ordinal"]
    whole = {name: page["whole"]["measures"][name]["value"] for name in ("weighted_cohen_mean", "alpha_ordinal")}
    assert whole == pytest.approx({"weighted_cohen_mean": np.mean(kappas), "alpha_ordinal": expected}, abs=1e-9)
    asked = agreement_page.Query.from_address(stage, QueryDict(""))
    page = agreement_page.contents(stage, asked, "test")
    assert (page["asked"].view, page["asked"].measure) == ("answer", "alpha_ordinal")
    square = page["pooled"]
    assert square["heads"] == ["1: Not at all", "2", "3", "4", "5"]
    first = annotators.annotators(stage)["stages"][0]
    near = first["rows"][0]["majority"]["answer"]
    mine = [(row[0], np.nanmedian(row[1:])) for row in values if not np.isnan(row[0])]
    assert near == {"same": sum(abs(own - rest) <= 1 for own, rest in mine), "n": len(mine)}
    score = figures["scores"]["answers"][0]["whole"]
    assert (score["value"], score["n_judgments"]) == (pytest.approx(np.nanmean(values)), 3 * ITEMS - 2)
    study, agreed, _, one = texts_of(client, stage)
    assert "α ordinal on answer" in study
    assert "Kept if the median of the answers of 3 people is at least 3. Dropped if it is less (fits badly)" in study
    assert (
        "on average, on a scale from 1 (Not at all) to 5" in study
        and "a tie" not in study
        and "no majority" not in study
    )
    assert all(words in agreed for words in ("Krippendorff’s α, ordinal", "1 “cannot judge”, 1 “No text”"))
    assert all(words in one for words in ("mean weighted κ", "Close to the others", "agreed with the others"))
    report = client.get(reverse("study-report", args=[stage.study_id])).content.decode()
    for page in (study, report):
        assert "mean weighted κ" in page and "close to others" in page
    item = client.get(reverse("study-item", args=[stage.study_id, 3])).content.decode()
    assert re.search(rf"score\s+<b><data value=\"{float(np.mean(values[3]))!r}\"", item)


def test_rankings_agree_by_tau(client, manager):
    options = ["positive", "second_positive", "negative"]
    ranks = np.array([RNG.permutation(3) for _ in range(2 * ITEMS)]).reshape(ITEMS, 2, 3)
    labels = [[">".join(options[at] for at in np.argsort(of)) for of in row] for row in ranks]
    stage, figures = told("ranked", [ORDER], 2, labels, judgments=2)
    taus = [kendalltau(*row).statistic for row in ranks]
    found = {key: one["value"] for key, one in figures["agreement"][0]["measures"].items()}
    assert found["tau_b"] == pytest.approx(np.mean(taus)) == found["tau_b_mean"]
    assert study_overview.overview(stage)["headline"]["measure"] == "tau_b"
    page = agreement.stage_agreement(stage, "answer")
    assert page["whole"]["measures"]["tau_b"]["value"] == pytest.approx(np.mean(taus))
    assert page["annotator"][0]["measures"]["tau_b"]["value"] == pytest.approx(np.mean(taus))
    study, agreed, _, one = texts_of(client, stage)
    assert "τ-b on answer" in study
    assert "Kendall’s τ-b, mean of pairs of rankings" in agreed and "mean τ-b" in one and "mean τ-b" in study


def test_sets_of_options_agree_by_what_they_share_and_by_option(client, manager):
    names = ["positive", "second_positive", "negative"]
    chosen = RNG.integers(0, 2, (ITEMS, 3, 3))
    chosen[:, :, 0] |= ~chosen.any(axis=2)  # at least one
    labels = [[",".join(sorted(np.array(names)[of.astype(bool)])) for of in row] for row in chosen]
    answer = {"name": "which", "kind": "pick", "of": [f"captions.{name}" for name in names], "many": True}
    right = {"right": {"which": ["positive", "second_positive"]}}
    stage, figures = told("sets", [answer], 3, labels, **right)
    sets, by_option = figures["agreement"]
    assert (sets["level"], by_option["on"], by_option["unit"]) == ("set", "by option", "option")
    units = chosen.transpose(1, 0, 2).reshape(3, -1).astype(float)
    expected = krippendorff.alpha(units, level_of_measurement="nominal")
    assert by_option["measures"]["alpha_nominal"]["value"] == pytest.approx(expected)
    wanted = np.array([1, 1, 0])
    shared = (chosen & wanted).sum(axis=2) / (chosen | wanted).sum(axis=2)
    (found,) = figures["scores"]["answers"]
    assert found["jaccard"]["whole"]["value"] == pytest.approx(shared.mean())
    assert found["kappa"]["value"] == pytest.approx(cohen_kappa_score(chosen.ravel(), np.tile(wanted, 3 * ITEMS)))
    page = agreement.stage_agreement(stage, "answer")
    assert page["whole"]["measures"]["alpha_jaccard"]["value"] == sets["measures"]["alpha_jaccard"]["value"]
    study, agreed, _, one = texts_of(client, stage)
    assert "α of sets on answer" in study and "average Jaccard index between chosen and correct options" in study
    assert "Jaccard index, mean of pairs of judgments" in agreed and "mean Jaccard" in study and "mean Jaccard" in one
    address = reverse("study-agreement", args=[stage.study_id])
    assert "options by 3 annotators" in re.sub(r"\s+", " ", client.get(address, {"view": "by option"}).content.decode())


def test_each_answer_has_its_own_agreement_and_a_check_one_item_for_each_statement(client, manager):
    said = [
        [f"{RNG.choice(['yes', 'no'])},{RNG.choice(['yes', 'no'])}/{RNG.integers(1, 6)}" for _ in range(3)]
        for _ in range(ITEMS)
    ]
    said[0][0] = "cannot_judge"
    overall = {"scores": {"overall": {"geometric_mean": ["holds", "fit"]}}}
    stage, figures = told("two", [CHECK, FIT], 3, said, **overall)
    by_view = {found["on"]: found for found in figures["agreement"]}
    assert list(by_view) == ["answer", "holds", "fit"] and figures["by_type_on"] == "holds"
    parts = np.array([
        [np.nan if label == "cannot_judge" else label.split("/")[0].split(",")[place] == "yes" for label in row]
        for row in said for place in (0, 1)
    ], dtype=float)  # fmt: skip
    expected = krippendorff.alpha(parts.T, level_of_measurement="nominal")
    alpha = by_view["holds"]["measures"]["alpha_nominal"]
    assert alpha["value"] == pytest.approx(expected)
    assert (alpha["n"], by_view["holds"]["unit"]) == (2 * ITEMS, "statement")
    fits = np.array([[np.nan if one == "cannot_judge" else int(one[-1]) for one in row] for row in said], dtype=float)
    expected = krippendorff.alpha(fits.T, level_of_measurement="ordinal", value_domain=POINTS)
    assert by_view["fit"]["measures"]["alpha_ordinal"]["value"] == pytest.approx(expected)
    assert agreement.stage_agreement(stage, "holds")["whole"]["n_items"] == 2 * ITEMS
    asked = agreement_page.Query.from_address(stage, QueryDict("view=fit"))
    assert agreement_page.contents(stage, asked, "test")["pooled"]["heads"][0] == "1 (Not at all)"
    report = client.get(reverse("study-report", args=[stage.study_id])).content.decode()
    assert all("The geometric mean of holds and fit." in page for page in (texts_of(client, stage)[0], report))


def test_a_pairwise_study_shows_the_strengths_of_models(client, manager):
    """Four models, each pair of an item once: the lower number wins three times in four, every fifth is a tie."""
    stage = declared.study("preference", ITEMS).stages.get()

    def said(task, who) -> str:
        first, second = task.question.split("/")
        number = task.item.position + int(first[-1]) + int(second[-1])
        return "tie" if number % 5 == 0 else first if number % 4 else second

    figures = study_figures(declared.judge(stage, 1, said))
    tasks = stage.tasks.select_related("item").order_by("item__position", "question")
    points = []
    for task in tasks:
        first, second = (f"model-{name[-1]}" for name in task.question.split("/"))
        score = {"tie": 0.5}.get(label := said(task, 0), float(label[-1] == first[-1]))
        points.append(Compared(task.item.position, first, second, score))
    (found,) = figures["scores"]["strengths"]
    expected, _ = bradley_terry(points)
    assert [row["name"] for row in found["rows"]] == [one.name for one in expected]
    for row, one in zip(found["rows"], expected, strict=True):
        ends = [one.measured[end] for end in ("value", "these_low", "these_high")]
        assert [row[end] for end in ("value", "these_low", "these_high")] == pytest.approx(ends)
    assert [(row["first"], row["second"]) for row in found["differences"]] == list(
        itertools.combinations([one.name for one in expected], 2)
    )
    study = texts_of(client, stage)[0]
    assert "Strengths in “better” by model" in study and "gives each model a strength" in study


def test_a_rule_by_a_check_counts_a_question_only_where_its_parents_hold():
    check = {"name": "ok", "kind": "check", "of": "lists.question", "parents": "parents"}
    rule = {"answer": "ok", "rule": "mean", "at_least": 0.5, "below": "few"}
    item = {"images": {"positive": 1}, "lists": {"question": "1..4"}, "attributes": ["parents"]}
    data = FRAME | {"name": "dsg", "item": item, "answers": [check], "decide": [rule], "judgments": 1}
    stage = declared.of_file(data, 2)
    first = stage.study.benchmark.items.get(position=0)
    first.captions.filter(position__gt=0).update(attributes={"parents": [1]})
    declared.judge(stage, 1, lambda task, who: "no,yes,yes,yes")
    outcomes = stage.tasks.order_by("item__position").values_list("decided__state", "decided__outcome")
    assert list(outcomes) == [("dropped", "0"), ("kept", "0.75")]
