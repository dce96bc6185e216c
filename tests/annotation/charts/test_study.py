"""The figures' tables and the sentences that stand for them, from small literals."""

import pytest

from annotation.charts import bars, study
from annotation.charts.study import Subject

WHOLE = Subject(3, "Pilot", "2026-03-02T09:30:00+00:00")
STAGE = Subject(3, "Pilot", "2026-03-02T09:30:00+00:00", 1, "choose")
STEP = {
    "stage": 1, "protocol": "bivlc-choose", "entered": 10, "kept": 6, "dropped": 3, "open": 1, "waiting": 2,
    "kept_share": 0.6, "dropped_share": 0.3,
}  # fmt: skip
FUNNEL = {
    "imported": 12, "stages": [STEP], "measuring": [], "kept": 6, "dropped": 3, "open": 3, "kept_share": 0.5,
    "dropped_share": 0.25,
}  # fmt: skip
MEASURING = {"stage": 2, "protocol": "bivlc-i2t", "sampled": 4, "tasks": 8, "answered": 5}


def as_dicts(plot: study.Plot) -> list[dict]:
    keys = [column.key for column in plot.columns]
    return [dict(zip(keys, row, strict=True)) for row in plot.rows]


def test_the_bars_of_a_funnel_are_of_all_imported_items_and_say_what_is_in_them():
    said = [(bar["label"], bar["says"]) for bar in bars.funnel_bars({**FUNNEL, "measuring": [MEASURING]})]
    assert said == [
        ("Imported", "12"), ("1 Choose the image that fits", "6 kept · 3 dropped · 1 open · 2 to come"),
        ("2 Image to text", "5 of 8 answered"),
    ]  # fmt: skip
    assert study.funnel_plot(FUNNEL, WHOLE).description == "; ".join(f"{label}: {says}" for label, says in said[:2])
    _, choose = list(bars.funnel_bars(FUNNEL))
    assert [(part["x"], part["width"]) for part in choose["parts"]] == [
        (0, 50),
        (50, 25),
        (75, pytest.approx(100 / 12)),
    ]


def test_its_files_say_the_study_the_stage_and_the_figure():
    assert study.funnel_plot(FUNNEL, WHOLE).file == "study-3-funnel"
    assert study.funnel_plot(FUNNEL, STAGE).file == "study-3-stage-1-funnel"
    assert (WHOLE.words, STAGE.words) == ("Pilot", "Pilot, stage 1 choose")


def test_the_funnel_has_a_row_for_what_was_imported_and_for_each_stage():
    imported, choose, i2t = as_dicts(study.funnel_plot({**FUNNEL, "measuring": [MEASURING]}, WHOLE))
    assert imported["items"] == 12 and imported["kept"] is None
    assert choose == {
        "step": "1 Choose the image that fits",
        "items": 10, "kept": 6, "kept_share": 0.6, "dropped": 3, "dropped_share": 0.3,
        "open": 1,
        "waiting": 2, "questions": None, "answered": None,
    }  # fmt: skip
    assert (i2t["items"], i2t["questions"], i2t["answered"], i2t["kept"]) == (4, 8, 5, None)
    assert "answered" not in as_dicts(study.funnel_plot(FUNNEL, WHOLE))[0]


def typed(kind: str, subtype: str, alpha: float | None, reason: str = "") -> dict:
    low, high = (None, None) if alpha is None else (alpha - 0.1, alpha + 0.1)
    measured = {"value": alpha, "low": low, "high": high, "n": 20, "note": reason}
    measures = {"alpha_nominal": measured, "ac1": {**measured, "value": 0.9}, "percent": {"value": 0.75}}
    return {"type": kind, "subtype": subtype, "measures": measures}


def test_agreement_by_type_has_every_interval_and_says_why_there_is_none():
    rows = [typed("swap", "obj", 0.5), typed("", "", None, "one label")]
    plot = study.type_plot({"by_type_on": "answer", "by_type": rows}, (0.7, 0.3), STAGE)
    first, second = as_dicts(plot)
    assert first == {
        "name": "swapped object",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "percent": 0.75,
        "n": 20,
        "note": "",
    }
    assert (second["name"], second["value"], second["note"]) == ("no type", None, "one label")
    assert plot.description == (
        "Krippendorff’s α, nominal on answer: swapped object 0.50 (0.40 to 0.60), n = 20; no type not "
        "defined, one label."
    )
    steady = study.type_plot({"by_type_on": "answer", "by_type": rows[:1]}, (0.9, 0.1), STAGE)
    assert steady.columns[1].words == "AC1" and as_dicts(steady)[0]["value"] == 0.9


def test_many_values_are_said_by_their_ends_and_their_middle():
    rows = [(f"pair {place}", place / 10, None, None, 9, "") for place in range(14)] + [
        ("last", None, None, None, 1, "")
    ]
    plot = study.interval_plot(("by-pair", "By pair"), "pair", "percent agreement", rows, STAGE)
    said = "percent agreement of 15: from 0.00 (pair 0) to 1.30 (pair 13), median 0.65; 1 not defined."
    assert plot.description == said
    assert plot.caption.startswith("Percent agreement: ")


@pytest.mark.parametrize(
    ("rows", "said"), [([], "x: nothing has been judged yet."), ([("a", None)], "no value is defined")]
)
def test_nothing_to_say(rows, said):
    assert (study.describe_spread(rows) if rows else study.describe_intervals("x", rows)) == said


def test_judgments_over_time_are_counts_and_the_last_span_may_be_running():
    bins = [
        {"from": "2026-03-02T09:00:00+00:00", "judgments": 6},
        {"from": "2026-03-02T09:15:00+00:00", "judgments": 2},
    ]
    running = study.series_plot({"minutes": 15, "bins": bins}, "2026-03-02T09:20:00+00:00", STAGE)
    over = study.series_plot({"minutes": 15, "bins": bins}, "2026-03-02T09:30:00+00:00", STAGE)
    assert [(row["judgments"], row["span"]) for row in as_dicts(running)] == [(6, "over"), (2, "still running")]
    assert [row["span"] for row in as_dicts(over)] == ["over", "over"]
    assert running.description == (
        "8 judgments in 2 spans of 15 minutes, starting 2 Mar 2026, 09:00 UTC; most in the span from "
        "2 Mar 2026, 09:00 UTC: 6. The last span is still running, with 2 so far."
    )
    assert (
        study.series_plot({"minutes": 60, "bins": []}, "2026-03-02T09:20:00+00:00", STAGE).description
        == "Nothing has been judged yet."
    )


@pytest.mark.parametrize(
    ("minutes", "said"), [(1, "1 minute"), (60, "1 hour"), (360, "6 hours"), (1440, "1 day"), (10080, "1 week")]
)
def test_spans_in_words(minutes, said):
    assert said in study.series_plot({"minutes": minutes, "bins": []}, "2026-03-02T09:20:00+00:00", STAGE).caption


def test_an_audit_has_a_row_for_each_look_and_says_how_the_interval_narrowed():
    audit = {"band": [(1, 0.0, 0.0, 0.8), (40, 0.1, 0.05, 0.25)], "items": 1200, "aim": "± 5%", "target_percent": 5}
    plot = study.audit_plot(audit | {"is_bound": False}, STAGE)
    assert as_dicts(plot)[1] == {"n": 40, "estimate": 0.1, "low": 0.05, "high": 0.25}
    assert plot.mark == ("upper end at the target, ± 5%", pytest.approx(0.15))
    assert plot.description == (
        "After 40 of 1,200 items, the share of wrong items is 10.0%, with a 95% interval from 5.0% to 25.0%. "
        "After 1 it was from 0.0% to 80.0%."
    )
    assert study.audit_plot(audit | {"band": [], "is_bound": True}, STAGE).mark == ("the target, ± 5%", 0.05)
