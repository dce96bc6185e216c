"""A stage's agreement by its parts: against an independent script on an export, and small cases counted by hand."""

import numpy as np
import pytest

from annotation.exports.export import export_split
from annotation.figures import agreement
from annotation.measures import breakdowns, counts, pairwise_kappa
from annotation.measures.agreement import FEW_ITEMS, RatingTable
from annotation.measures.agreement_measures import RESTS_ON
from annotation.measures.breakdowns import Part, agreement_by
from annotation.measures.judgments import JudgmentRow, Judgments
from annotation.measures.pairwise_kappa import THIN_NOTE, AnnotatorPairs, cohen_kappas
from annotation.protocols.registry import PROTOCOLS
from tests.annotation.exports.test_export import with_originals
from tests.annotation.measures.test_agreement import some_rows
from tests.builders import crowds, studies
from tests.independent import agreement_page

MONDAY = 1_772_409_600_000_000  # 2 March 2026, 0:00 UTC, in microseconds
BREAKDOWNS = ("type", "subtype", "week", "annotator", "pair")


def given_at(item: int, annotator: int, at: int) -> JudgmentRow:
    return JudgmentRow(
        (item, "", 1), "judge", True, "swap", "obj", 1, annotator, "a", None, 4, 1, True, False, False, at
    )


def silent(done: int, total: int) -> None:
    pass


def differing(ours: dict, theirs: dict) -> list:
    """What is another in two rows: names, counts, and values or ends by more than 1e-9."""
    names = {key: value for key, value in theirs.items() if key != "measures" and ours[key] != value}
    found = list(names)
    for name, told in theirs["measures"].items():
        here = tuple(ours["measures"][name][end] for end in ("value", "low", "high"))
        there = told or (None, None, None)
        if any((a is None) != (b is None) or abs((a or 0) - (b or 0)) > 1e-9 for a, b in zip(here, there, strict=True)):
            found.append((name, here, there))
    return found


@pytest.mark.django_db(transaction=True)
def test_every_number_is_that_of_an_independent_script_on_the_export(tmp_path):
    stage = crowds.stage(items=16, people=3, overlap=2)
    export_split(study=with_originals(stage.study), out=tmp_path / "split", by="test")
    for view, see in (("answer", str), ("any or none", PROTOCOLS["bivlc-choose"].projections["any or none"])):
        theirs = agreement_page.figures(agreement_page.stages(tmp_path / "split")[stage.name], see)
        ours = agreement.stage_agreement(stage, view)
        assert ours["labels"] == theirs["labels"]
        assert differing(ours["whole"], theirs["whole"]) == []
        for name in BREAKDOWNS:
            assert len(ours[name]) == len(theirs[name]) > 0
            assert [differing(*rows) for rows in zip(ours[name], theirs[name], strict=True) if differing(*rows)] == []


@pytest.mark.django_db
def test_ac1_of_a_stage_counts_the_answers_that_it_offers():
    """Four items, *yes* seven times and *no* once; nobody uses *cannot tell* or *cannot judge*."""
    stage = studies.stage(items=4, protocol="verify", overlap=2)
    people = [studies.annotator(stage.study) for _ in range(2)]
    for number in range(8):
        studies.judgment(people[number % 2], stage, "no" if not number else "yes")
    found = agreement.stage_agreement(stage, "answer")
    assert found["labels"] == ["no", "yes"] and found["categories"] == {"n": 3, "are": "offered"}
    chance = 2 * 7 / 64 / 2
    assert found["whole"]["measures"]["ac1"]["value"] == pytest.approx((0.75 - chance) / (1 - chance))
    assert agreement.stage_agreement(stage, "holds or not")["categories"]["n"] == 2


@pytest.mark.django_db
def test_weeks_add_up_and_an_item_stands_in_the_week_of_its_last_judgment():
    assert agreement.week(MONDAY) == ("2026-W10", "2026-03-02")
    assert agreement.week(MONDAY - 1) == ("2026-W09", "2026-02-23")
    times = [(1, MONDAY - 1), (1, MONDAY), (1, MONDAY - 2), (2, MONDAY - 1)]
    rows = Judgments.of(given_at(item, annotator, at) for annotator, (item, at) in enumerate(times))
    parts = agreement.parts_of(counts.rating_table(rows), rows)["week"]
    assert [part.name["week"] for part in parts] == ["2026-W09", "2026-W10"]
    assert parts[1].rows.tolist() == [True, True, True, False]
    data = agreement.stage_agreement(crowds.stage(items=12, people=3, overlap=2), "answer")
    assert sum(row["n_items"] for row in data["week"]) == data["whole"]["n_items"]


def test_the_confusion_of_all_pairs_counts_each_pair_once():
    table = RatingTable([(1, "x", "a"), (1, "y", "b"), (1, "z", "a"), (2, "x", "b"), (2, "y", "b")])
    assert breakdowns.pooled_confusion(table) == [[0, 0, 1], [0, 1, 2], [1, 1, 1]]


def test_an_annotator_is_compared_with_each_of_the_others():
    table = RatingTable([(1, "x", "a"), (1, "y", "a"), (1, "z", "b"), (2, "x", "b"), (2, "y", "b"), (3, "z", "a")])
    x, _, z = agreement_by(table, {}, silent)["annotator"]
    assert (x["n_items"], x["n_annotators"], x["n_ratings"]) == (2, 3, 5)
    assert x["measures"]["percent"]["value"] == pytest.approx(2 / 3)
    assert (z["measures"]["percent"]["value"], z["measures"]["percent"]["n"]) == (0, 2)
    assert z["measures"]["percent"]["low"] is None and z["measures"]["percent"]["note"] == FEW_ITEMS


@pytest.mark.parametrize("only", [None, 2])
def test_kappas_without_an_item_are_those_of_a_table_without_it(only):
    table = RatingTable(some_rows(3, people=5))
    pairs = AnnotatorPairs(table, table.pair_indices(only))
    names = [(a, b) for a in range(5) for b in range(a + 1, 5) if only in (None, a, b)]
    assert len(names) == len(pairs.kappas)
    for row in range(0, len(pairs.pair), 7):
        less = {(one.first, one.second): one.value for one in cohen_kappas(table.subset(table.item != pairs.item[row]))}
        assert pairs.without(slice(row, row + 1))[0] == pytest.approx(less[names[pairs.pair[row]]], abs=1e-12)
    if only is None:
        assert pairs.mean()["value"] == pytest.approx(np.mean([one.value for one in cohen_kappas(table)]), abs=1e-12)


def test_the_interval_of_the_mean_is_the_same_in_one_block_and_in_many(monkeypatch):
    pairs = AnnotatorPairs(RatingTable(some_rows(3, items=200, people=5)))
    whole = pairs.interval()
    monkeypatch.setattr(pairwise_kappa, "_BLOCK_SIZE", 7)
    assert pairs.interval() == pytest.approx(whole, abs=1e-12)


def test_kappas_of_few_shared_items_come_with_a_warning_and_no_interval():
    table = RatingTable(some_rows(3, items=30, people=5))
    found = agreement_by(table, {}, silent)["whole"]["measures"]["cohen_mean"]
    assert found["value"] and (found["low"], found["note"]) == (None, THIN_NOTE)


def test_progress_is_told_in_percent_and_comes_to_its_end():
    table, told = RatingTable(some_rows(5)), []
    agreement_by(table, {"type": [Part({"type": "swap"}, np.ones(len(table.item), bool))]}, lambda *at: told.append(at))
    assert told == sorted(set(told)) and told[-1] == (100, 100) and len(told) > 5


@pytest.mark.django_db
def test_nothing_is_judged_and_nothing_is_defined():
    data = agreement.stage_agreement(studies.stage(items=2), "answer")
    assert all(told["value"] is None and told["note"] for told in data["whole"]["measures"].values())
    assert data["pair"] == data["annotator"] == data["type"] == []


def test_who_cannot_judge_is_left_out_of_measures_on_a_scale_and_counted_beside_them():
    steps = [(1, "x", "1"), (1, "y", "2"), (2, "x", "3"), (2, "y", "3"), (3, "x", "1"), (3, "y", "1"), (3, "z", "2")]
    unsure = [(1, "z", "cannot_judge"), (2, "z", "cannot_judge"), (4, "x", "2"), (4, "y", "cannot_judge")]
    whole = agreement_by(RatingTable(steps + unsure), {}, silent)["whole"]["measures"]
    alone = agreement_by(RatingTable([*steps, (4, "x", "2")]), {}, silent)["whole"]["measures"]
    for name in ("alpha_ordinal", "alpha_interval"):
        assert whole[name]["value"] == pytest.approx(alone[name]["value"]) and whole[name]["n"] == 3
        assert "without the 3 “cannot judge” answers" in whole[name]["note"]
    assert whole["alpha_nominal"]["n"] == 4
    assert whole["alpha_nominal"]["note"] == RESTS_ON.format("3 items", "−0.106")  # (1/6 − 71/288) / (1 − 71/288)


def test_where_all_but_one_cannot_judge_there_is_no_measure_on_a_scale():
    rows = [(1, "x", "1"), (1, "y", "cannot_judge"), (2, "x", "cannot_judge"), (2, "y", "cannot_judge")]
    whole = agreement_by(RatingTable(rows), {}, silent)["whole"]["measures"]
    assert whole["alpha_ordinal"]["value"] is None and whole["alpha_ordinal"]["note"]
