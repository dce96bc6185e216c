"""Rows of humans and models: what is best, what the gap is, what papers get; and how alike two orders are."""

import math
from dataclasses import replace

import pytest

from annotation.charts.study import Subject
from annotation.comparison import charts
from annotation.comparison import entries as comparison_entries
from annotation.comparison import latex as comparison_latex
from annotation.comparison import table as comparison_table
from annotation.comparison.table import Entry
from annotation.measures.rank_correlation import EXACT_UP_TO, spearman, student_p
from benchmarks.metrics.base import Z, wilson
from benchmarks.models import Job, Run
from benchmarks.predictions import stored
from benchmarks.predictions.kinds import BIVLC, HARD_POSITIVE, SUGARCREPE
from benchmarks.predictions.names import NAMES, measure_name
from benchmarks.runs.figures import shares
from benchmarks.runs.published_tables import TABLES

GROUP = measure_name("bivlc", "group")
TABLE_3 = ("CLIP", "CLIP COCO", "NegCLIP", "GNM", "CLIP TROHN-Text", "CLIP TROHN-Img")
SUBJECT = charts.OfBenchmark(7, "BiVLC", "2026-11-21T12:00:00+00:00")


def entry(title: str, stands="reported", n=None, groups=(), **percents) -> Entry:
    measures = {name: {**of, "n": n} for name, of in shares(percents).items()}
    figures = {"n": n, "measures": measures, "groups": list(groups), "notes": []}
    return Entry(
        title, stands, figures, "a paper", "", None, stands == "reported", asked_in_both_orders=stands == "asked"
    )  # fmt: skip


def published(kind: str) -> list[Entry]:
    rows = next(table.rows for table in TABLES if table.kind == kind)
    return [entry(row.model, "humans" if row.family == "human" else "reported", **row.measures) for row in rows]


def marks(entries, measure) -> dict[str, int]:
    columns = comparison_table.heads("bivlc", entries)
    place = [column.name for column in columns].index(measure)
    return {
        row.entry.title: row.cells[place].rank
        for section in comparison_table.table(entries, columns)
        for row in section.rows
        if row.cells[place].rank
    }


def test_best_and_second_are_those_of_the_papers_table():
    """BiVLC, Table 3, Group and T pos→I: bold and underlined."""
    entries = [one for one in published("bivlc") if one.title in TABLE_3]
    assert marks(entries, "group") == {"CLIP TROHN-Img": 1, "CLIP COCO": 2}
    assert marks(entries, "t_pos2i") == {"CLIP TROHN-Img": 1, "GNM": 2}


def test_models_asked_in_both_orders_are_ranked_among_themselves():
    once, twice = {"a": 60, "b": 50}, {"c": 90, "d": 30, "e": 20}
    entries = [entry(title, "measured", i2t=share) for title, share in once.items()]
    entries += [entry(title, "asked", i2t=share) for title, share in twice.items()]
    assert marks(entries, "i2t") == {"a": 1, "b": 2, "c": 1, "d": 2}
    assert {*comparison_table.named_alike(entries, measure_name("bivlc", "i2t"))} == {*once}
    assert [one.title for one in comparison_table.table(entries, [])][1].startswith("Models asked in both orders")


def test_items_that_a_model_reads_alike_have_a_column_and_a_model_that_answered_fewer_has_no_rank():
    entries = [entry("a", "measured", n=4, i2t=60), replace(entry("b", "measured", n=1, i2t=70), read_alike=3)]
    assert marks([*entries, entry("c", n=4, i2t=50), entry("d", i2t=40)], "i2t") == {"a": 1, "c": 2}
    columns = comparison_table.heads("bivlc", entries)
    sections = comparison_table.table(entries, columns)
    markdown, latex = (of(sections, columns) for of in (comparison_latex.markdown, comparison_latex.latex))
    assert "| model | n | read alike | I2T |" in markdown and "| b | 1 | 3 | 70.00 |" in markdown
    assert r"b & 1 & 3 & 70.00 \\" in latex and r"Chance &  &  & 25.00 \\" in latex
    assert "| *Chance* |  |  | 25.00 |" in markdown
    alone = comparison_latex.markdown(comparison_table.table(entries[:1], columns), columns)
    assert "| model | n | I2T |" in alone and "| *Chance* |  | 25.00 |" in alone


def test_equal_as_printed_is_equally_good_and_humans_take_no_part():
    entries = [entry("a", i2t=80.001), entry("b", i2t=80.002), entry("c", i2t=70), entry("people", "humans", i2t=99)]
    assert marks(entries, "i2t") == {"a": 1, "b": 1, "c": 2}
    assert marks([entry("alone", i2t=80)], "i2t") == {}


def test_of_brittleness_the_least_is_the_best():
    entries = [entry("a", brittleness=20), entry("b", brittleness=30)]
    sections = comparison_table.table(entries, comparison_table.heads("hard_positive", entries))
    assert [row.cells[0].rank for row in sections[0].rows] == [1, 2]
    ordered = comparison_table.ordered(entries[::-1], "best", measure_name("hard_positive", "brittleness"))
    assert [one.title for one in ordered] == ["a", "b"]


def test_a_model_that_answered_fewer_items_comes_after_those_that_answered_more():
    entries = [
        entry("half", n=30, group=97),
        entry("full", n=60, group=72),
        entry("none"),
        entry("better", n=60, group=85),
    ]
    ordered = comparison_table.ordered(entries, "best", GROUP)
    assert [one.title for one in ordered] == ["better", "full", "half", "none"]


def test_sections_stand_in_their_order_and_rows_as_asked():
    given = {"r": ("reported", 1), "m": ("measured", 5), "h": ("humans", 9), "n": ("measured", 6)}
    entries = [entry(title, stands, group=value) for title, (stands, value) in given.items()]
    ordered = comparison_table.ordered(entries, "best", GROUP)
    sections = comparison_table.table(ordered, comparison_table.heads("bivlc", entries))
    assert [(one.title, [row.entry.title for row in one.rows]) for one in sections] == [
        ("People", ["h"]),
        ("Models measured here", ["n", "m"]),
        ("Reported", ["r"]),
    ]


def test_a_gap_has_newcombes_interval():
    """Newcombe 1998, Table II (a): 56/70 and 48/80 by method 10: 0.0524 to 0.3339."""
    one, other = (
        {"share": r / n, **dict(zip(("low", "high"), wilson(r, n), strict=True)), "n": n}
        for r, n in ((56, 70), (48, 80))
    )
    found = comparison_table.gap(one, other)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert found.n == (70, 80)
    assert comparison_table.gap(other, shares({"a": 70})["a"]).low is None
    assert comparison_table.gap(other, None) is None


def test_models_are_held_against_the_people_who_judged_most():
    people = [entry(f"{n} items", "humans", n=n, i2t=90) for n in (5, 9, None)]
    assert comparison_table.reference(people).title == "9 items"
    assert comparison_table.reference([entry("model", i2t=1)]) is None


def test_parts_have_columns_of_their_own():
    groups = [{"type": "swap", "subtype": sub, "measures": shares({"group": 40})} for sub in ("att", None, "")]
    one = entry("m", groups=groups, group=50)
    finds = comparison_table.ByType("bivlc", "group")
    assert [head.short for head in finds.heads([one], GROUP)] == ["swapped", "swapped no subtype", "swapped attribute"]
    assert finds(one, replace(GROUP, name="swap/att"))["share"] == 0.4


def test_of_sugarcrepe_types_are_called_otherwise_where_they_are_measured():
    groups = [{"type": "swap", "subtype": None, "measures": shares({name: 40})} for name in ("accuracy", "overall")]
    finds = comparison_table.ByType("sugarcrepe", "overall")
    assert [finds(entry("m", groups=[one]), replace(GROUP, name="swap/"))["share"] for one in groups] == [0.4, 0.4]


def test_of_several_of_one_name_the_measured_one_counts_and_older_ones_stand_apart():
    entries = [entry("CLIP ", group=1), entry("clip", "measured", group=2), entry("x", "imported", group=3)]
    assert comparison_table.named_alike(entries, GROUP) == {"clip": ("clip", 0.02), "x": ("x", 0.03)}
    twice = [entry("CLIP", "measured", n=1, group=1), entry("CLIP", "measured", n=2, group=1)]
    newest, older = comparison_table.only_newest(twice)
    assert ([one.figures["n"] for one in newest], [one.figures["n"] for one in older]) == ([2], [1])


# What papers get


def test_beneath_a_row_are_the_intervals_of_its_figures_and_their_own_n():
    shares = {
        name: dict(zip(("share", "low", "high", "n"), of, strict=True))
        for name, of in {"i2t": (0.5, 0.25, 0.75, 8), "t2i": (0.4, 0.1, 0.7, 3)}.items()
    }
    made = Entry("m", "measured", {"n": 8, "measures": shares, "groups": [], "notes": []})
    columns = comparison_table.heads("bivlc", [made])
    sections = comparison_table.table([made], columns)
    assert "|  |  | 25.00–75.00 | 10.00–70.00, n 3 |\n" in comparison_latex.markdown(sections, columns)
    beneath = r" &  & \scriptsize 25.00--75.00 & \scriptsize 10.00--70.00, n 3 \\"
    assert beneath in comparison_latex.latex(sections, columns)


def test_markdown_and_latex_escape_what_they_must():
    entries = [entry("A_b|c & 50% {x}~", group=49.06), entry("B", group=50)]
    columns = comparison_table.heads("bivlc", entries)
    sections = comparison_table.table(entries, columns)
    latex = comparison_latex.latex(sections, columns)
    assert r"A\_b|c \& 50\% \{x\}\textasciitilde{}$^{\dagger}$ &  & \underline{49.06} \\" in latex
    assert r"\textbf{50.00} \\" in latex and r"Chance &  & 16.67 \\" in latex and r"\bottomrule" in latex
    markdown = comparison_latex.markdown(sections, columns)
    assert r"| A\_b\|c \& 50% {x}\~† |  | <u>49.06</u> |" in markdown
    assert "† Reported: a paper." in markdown and "| *Chance* |  | 16.67 |" in markdown


def test_latex_takes_no_name_for_an_argument_of_the_row_before():
    sections = comparison_table.table([entry("[b] x", "measured"), entry("*c", "measured")], [])
    lines = comparison_latex.latex(sections, []).splitlines()
    assert [line for line in lines if "&" in line][1:3] == [r"{[}b{]} x &  \\", r"{*}c &  \\"]


def test_every_line_of_latex_has_as_many_cells():
    entries = published("bivlc")
    columns = comparison_table.heads("bivlc", entries)
    lines = comparison_latex.latex(comparison_table.table(entries, columns), columns).splitlines()
    counts = {line.count("&") for line in lines if line.endswith("\\\\") and "multicolumn" not in line}
    assert counts == {len(columns) + 1}


@pytest.mark.parametrize(
    ("twice", "rows"),
    [
        ((), {"Chance": [50, 25, 16.67]}),
        (("b",), {"Chance": [50, 25, 16.67], "Chance, asked in both orders": [25, 6.25, 0.39]}),
        (("a", "b"), {"Chance, asked in both orders": [25, 6.25, 0.39]}),
    ],
)
def test_chance_is_lower_for_models_that_are_asked_in_both_orders(twice, rows):
    """Both answers to each question must be right: 1/4, for two questions 1/16, for four 1/256."""
    entries = [entry(one, "asked" if one in twice else "measured") for one in ("a", "b")]
    assert comparison_table.chances([entry("People", "humans")], []) == []
    columns = [measure_name("bivlc", name) for name in ("i_pos2t", "i2t", "group")]
    found = comparison_table.chances(entries, columns)
    assert {name: [round(100 * level, 2) for level in levels] for name, levels in found} == rows
    sections = comparison_table.table(entries, columns)
    for name, levels in rows.items():
        shown = [f"{level:.2f}" for level in levels]
        assert " & ".join([name, "", *shown]) in comparison_latex.latex(sections, columns)
        assert f"| *{name}* |  | {' | '.join(shown)} |" in comparison_latex.markdown(sections, columns)
    asked = Run(title="m", asked_in_both_orders=True)
    assert comparison_entries._entry(asked, {}).asked_in_both_orders
    assert measure_name("hard_positive", "brittleness").chance_in_both_orders == 2 * 1 / 4 * 3 / 4


def test_what_a_model_answers_in_each_order_alone_stands_below_the_table():
    of = {"share": 0.5, "low": 0.2, "high": 0.8, "n": 1200, "chance": 0.25}
    report = {"kind": "bivlc", "orders": {"first_order": {"i2t": of}, "second_order": {"i2t": of}}}
    asked = Run(title="m", asked_in_both_orders=True, job=Job(report=report))
    first, second = comparison_entries._entry(asked, {"notes": []}).figures["notes"]
    assert first == "in the first order, in percent: I2T 50.00 (95% 20.00 to 80.00, n 1,200, chance 25.00)"
    assert second.startswith("in the second order")
    imported = Run(title="m", asked_in_both_orders=True, job=Job(report={}))
    assert comparison_entries._entry(imported, {"notes": []}).figures["notes"] == []


# The plane


def test_the_plane_has_everybody_who_has_both_and_chance():
    plot = charts.plane("bivlc", published("bivlc"), SUBJECT)
    assert len(plot.rows) == 11 and plot.rows[-1] == ["Chance", 0.25, 0.25, 1 / 6, "chance"]
    assert ["Open CapPa", 0.5772, 0.5619, None, "reported"] in plot.rows
    assert "9 have lower T2I than I2T" in plot.description
    assert plot.file == "benchmark-7-plane"
    assert charts.plane("sugarcrepe", published("sugarcrepe"), SUBJECT) is None
    assert charts.plane("bivlc", [entry("m", i2t=50)], SUBJECT) is None
    assert isinstance(SUBJECT, Subject)


# The order of models


def test_finding_3_of_bivlc():
    """SugarCrepe and BiVLC do not put the models of Tables 2 and 3 into one order."""
    one, other = (
        comparison_table.named_alike(published(kind), measure_name(kind, name))
        for kind, name in (("sugarcrepe", "overall"), ("bivlc", "group"))
    )
    names = [name for name in one if name in other]
    found = spearman([one[name][1] for name in names], [other[name][1] for name in names])
    assert (found.n, found.exact) == (8, True)
    # by hand: the squared differences of places 1 6 5 2 … sum to 32, so ρ = 1 − 6·32/(8·63)
    assert found.rho == pytest.approx(1 - 6 * 32 / (8 * 63)) and found.p == pytest.approx(0.115, abs=5e-4)


def test_rank_correlation_of_few_is_exact():
    """Of four, an order and its reverse are two of 24."""
    assert spearman([1, 2, 3, 4], [1, 2, 3, 4]).p == pytest.approx(2 / 24)
    assert spearman([1, 2, 3], [3, 2, 1]).rho == -1
    assert spearman([1, 1, 1], [1, 2, 3]).reason and spearman([1, 2], [1, 2]).reason


@pytest.mark.parametrize(("degrees", "t"), [(1, 12.7062), (2, 4.30265), (7, 2.36462), (8, 2.30600), (30, 2.04227)])
def test_students_t_at_its_tabled_5_percent(degrees, t):
    rho = t / math.sqrt(degrees + t * t)
    assert student_p(rho, degrees + 2) == pytest.approx(0.05, abs=1e-5)
    assert student_p(0.0, degrees + 2) == pytest.approx(1) and degrees + 2 != EXACT_UP_TO


# Stored predictions


def test_scores_and_choices_become_records_and_gaps_stay_open():
    columns = {
        "s(c0,i0)": stored.Column([1, 2], [0.9, 0.5], [None] * 2),
        "s(c1,i0)": stored.Column([1, 2], [0.1, 0.5], [None] * 2),
        "s(c0,i1)": stored.Column([1], [0.2], [None]),
        "t_neg2i": stored.Column([3], [None], ["right"]),
    }
    items = dict.fromkeys((1, 2, 3, 4), ("swap", "att"))
    found = stored.records(columns, items, BIVLC)
    said = [(one.i_pos2t, one.i_neg2t, one.t_pos2i, one.t_neg2i) for one in found]
    assert said == [(True, None, True, None), (False, None, None, None), (None, None, None, True)]
    told = stored.summarize(found, BIVLC)
    assert (told["n"], told["measures"]["i_pos2t"]["n"], told["measures"]["group"]["n"]) == (3, 2, 0)


def test_each_kind_has_the_names_of_its_figures():
    answers = {"caption": stored.Column([1], [None], ["positive"])}
    found = stored.summarize(stored.records(answers, {1: ("swap", "att")}, SUGARCREPE), SUGARCREPE)
    assert {*found["measures"]} <= {one.name for one in NAMES["sugarcrepe"]}
    scores = {f"s({name})": stored.Column([1], [score], [None]) for name, score in (("c", 3), ("cp", 1), ("cn", 2))}
    found = stored.summarize(stored.records(scores, {1: ("swap", "")}, HARD_POSITIVE), HARD_POSITIVE)
    assert found["measures"]["brittleness"]["share"] == 1
    assert {"type": "swap", "subtype": "mean of subtypes"}.items() <= found["groups"][-1].items()
    assert Z > 1.9
