"""The figures that compare annotators: whom they show, what they count, what they say."""

import pytest

from annotation.charts import annotators
from annotation.charts.study import Subject
from annotation.measures import annotator_behaviour
from annotation.measures.agreement import ONE_LABEL, RatingTable
from annotation.measures.pairwise_kappa import MATRIX_ANNOTATORS, cohen_kappas, kappa_matrix
from annotation.wording import pseudonym

OF = Subject(3, "Pilot", "2026-03-02T09:30:00+00:00", 1, "choose")


def rows_of(plot) -> list[dict]:
    keys = [column.key for column in plot.columns]
    return [dict(zip(keys, row, strict=True)) for row in plot.rows]


# The matrix


def test_the_matrix_has_the_kappas_of_all_pairs_while_there_are_few():
    table = RatingTable([(1, 1, "a"), (1, 2, "a"), (2, 1, "b"), (2, 2, "a"), (3, 2, "a"), (3, 3, "a"), (4, 4, "a")])
    found = kappa_matrix(table)
    assert (found["annotators"], found["of"]) == ([1, 2, 3], 3)  # 4 shares nothing with anybody
    assert [(one["value"], one["n"]) for one in found["pairs"]] == [(one.value, one.n) for one in cohen_kappas(table)]
    assert found["pairs"][1] == {"first": 2, "second": 3, "value": None, "n": 1, "reason": ONE_LABEL}


def test_of_many_annotators_those_who_share_most_are_shown():
    crowd = range(1, 501)
    table = RatingTable([(item, who, "ab"[who % 2]) for who in crowd for item in range(3 + (who > 480) * 5)])
    found = kappa_matrix(table)
    assert len(found["annotators"]) == MATRIX_ANNOTATORS and found["of"] == 500
    assert set(range(481, 501)) <= set(found["annotators"])
    assert len(found["pairs"]) == MATRIX_ANNOTATORS * (MATRIX_ANNOTATORS - 1) / 2


def test_nobody_shares_anything():
    assert kappa_matrix(RatingTable([(1, 1, "a"), (2, 2, "b")])) == {"annotators": [], "of": 0, "pairs": []}


def test_the_matrix_says_how_many_of_how_many_and_where_its_ends_are():
    pairs = [
        {"first": "A-01", "second": "A-02", "value": 0.5, "n": 9, "reason": ""},
        {"first": "A-01", "second": "A-03", "value": -0.1, "n": 4, "reason": ""},
        {"first": "A-02", "second": "A-03", "value": None, "n": 1, "reason": ONE_LABEL},
    ]
    plot = annotators.kappa_matrix_plot(
        {"annotators": ["A-01", "A-02", "A-03"], "of": 500, "pairs": pairs}, "answer", OF
    )
    assert "The 3 with the most judgments of shared items, of 500 annotators" in plot.caption
    assert plot.description == (
        "Cohen’s κ on answer of 3 pairs of 3 annotators, out of 500: from −0.10 (A-01 and A-03) to 0.50 "
        "(A-01 and A-02), median 0.20; 1 not defined."
    )
    assert rows_of(plot)[2] == {"first": "A-02", "second": "A-03", "kappa": None, "n": 1, "note": ONE_LABEL}


# Answers


def stage(people: list[dict[str, int]]) -> dict:
    labels = {label: sum(own.get(label, 0) for own in people) for own in people for label in own}
    rows = [{"number": number, "judged": sum(own.values()), "labels": own} for number, own in enumerate(people, 1)]
    return {"rows": rows, "labels": labels, "coarse": "answer"}


def mixed(people: list[dict[str, int]]):
    return annotators.answer_mix_plot(stage(people), pseudonym, str.upper, OF)


def test_everybodys_answers_stand_above_each_annotators():
    plot = mixed([{"yes": 3, "no": 1}, {"yes": 4}, {}])
    assert [column.words for column in plot.columns] == ["annotator", "judgments", "YES", "NO"]
    assert plot.rows == [["everybody", 8, 7, 1], ["A-01", 4, 3, 1], ["A-02", 4, 4, 0]]
    assert plot.description == (
        "Of 8 judgments by 2 annotators: YES 88%, from 75% (A-01) to 100% (A-02); NO 12%, from 0% (A-02) to 25% (A-01)."
    )


def test_rare_answers_are_put_together():
    many = {f"{place}": 20 - place for place in range(12)}
    plot = mixed([many])
    assert [column.words for column in plot.columns][2:] == [*map(str, range(7)), annotators.OTHER_ANSWERS]
    assert all(sum(row[2:]) == row[1] for row in plot.rows)


def test_of_many_annotators_those_who_judged_most_have_bars():
    plot = mixed([{"yes": place} for place in range(1, 501)])
    assert len(plot.rows) == 1 + annotators.MOST_BARS and plot.rows[1][0] == "A-461"
    assert "the 40 of 500 who judged the most" in plot.caption


def test_nobody_has_answered():
    assert (mixed([{}]).rows, mixed([{}]).description) == ([], "Nothing has been judged yet.")


# Times


def test_times_fall_into_bins_of_one_width_and_the_long_ones_into_a_last():
    found = annotator_behaviour.time_histogram([1500] * 90 + [2500] * 9 + [900_000])
    assert found["n"] == 100 and found["median"] == 1.5 and found["quick"] == 0
    width = found["bins"][0]["to"]
    assert width == 0.1 and [one["from"] for one in found["bins"][14:16]] == [1.4, 1.5]
    assert found["bins"][-1] == {"from": 3.0, "to": None, "judgments": 1}
    assert sum(one["judgments"] for one in found["bins"]) == 100


@pytest.mark.parametrize("longest", [1, 99, 30_000, 10**9])
def test_there_are_never_many_bins_and_nothing_is_lost(longest):
    found = annotator_behaviour.time_histogram([longest, longest // 2, 0])
    assert len(found["bins"]) <= annotator_behaviour.HISTOGRAM_BINS + 1
    assert sum(one["judgments"] for one in found["bins"]) == 3


def test_half_of_the_median_is_marked_and_said():
    plot = annotators.time_plot(annotator_behaviour.time_histogram([1000, 4000, 6000, 8000]), OF)
    assert plot.mark == ("half the stage’s median: 2.5 s", 2.5)
    assert plot.description == (
        "The median of 4 judgments is 5.0 seconds; 1 (25.0%) took less than half as long, 2.5. The largest group, "
        "1, took 1 to 1.5 seconds."
    )
    assert sum(row["share"] for row in rows_of(plot)) == 1


def test_no_times():
    plot = annotators.time_plot(annotator_behaviour.time_histogram([]), OF)
    assert (plot.rows, plot.mark, plot.description) == ([], None, "Nothing has been judged yet.")
