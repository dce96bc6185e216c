"""`manage.py agreement` and `manage.py aggregate` on anybody's table."""

import json
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.measures import ratings_file
from annotation.measures.agreement_measures import BY_KEY, RESTS_ON, measures_on
from annotation.protocols.base import NOMINAL
from annotation.wording import signed

HEADER = "item,annotator,label\n"
RATINGS = HEADER + "1,x,a\n1,y,a\n2,x,b\n2,y,a\n3,x,b\n3,y,b\n"
KEYS = "n_items n_annotators n_ratings measures labels categories pairs"


@pytest.fixture
def table(tmp_path):
    def write(text, name="ratings.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def run(command, *args):
    out = StringIO()
    call_command(command, *map(str, args), stdout=out)
    return out.getvalue()


def test_agreement_answers_every_key(table):
    found = json.loads(run("agreement", "--ratings", table(RATINGS), "--json"))
    assert {*found} == {*KEYS.split()} and [*found["measures"]] == [one.key for one in measures_on(NOMINAL)]
    assert (found["n_items"], found["n_annotators"], found["n_ratings"]) == (3, 2, 6)
    assert found["measures"]["cohen_mean"]["value"] == pytest.approx(0.4)
    assert found["measures"]["alpha_interval"]["value"] is None and found["measures"]["alpha_interval"]["note"]


@pytest.mark.parametrize("label", ["nan", "inf", "1e400", "1e300", "1_0"])
def test_what_is_no_finite_number_is_a_name(table, label):
    text = run("agreement", "--ratings", table(HEADER + f"1,x,1\n1,y,{label}\n2,x,1\n2,y,1\n"), "--json")
    found = json.loads(text, parse_constant=pytest.fail)
    values = {key: one["value"] for key, one in found["measures"].items()}
    assert values["alpha_interval"] is None and values["alpha_nominal"] is not None
    assert "linear" not in found["pairs"][0]


ORDERED = HEADER + "1,x,bad\n1,y,good\n2,x,bad\n2,y,bad\n3,x,good\n3,y,good\n4,x,good\n4,y,bad\n"


def test_a_step_of_the_order_that_nobody_used_changes_only_measures_that_count_choices(table):
    """With more, the weighted kappas see the step between; ordinal alpha counts judgments, and there are none."""
    found = [
        json.loads(run("agreement", "--ratings", table(ORDERED), "--json", "--order", order))
        for order in ("bad,good", "bad,fair,good", "very bad,bad,fair,good,best")
    ]
    for one in found:
        del one["categories"]
        few = RESTS_ON.format("3 items", signed(one["measures"]["ac1"]["value"], 3))  # of which AC1 counts choices
        one["measures"] = {key: found for key, found in one["measures"].items() if not BY_KEY[key].of_choices}
        for key, measure in one["measures"].items():
            if BY_KEY[key].of_rare and measure["value"] is not None:
                assert measure["note"].endswith(few)
                measure["note"] = measure["note"].removesuffix(few)
    assert found[0] == found[1] == found[2] and found[0]["measures"]["alpha_ordinal"]["value"] is not None


def test_a_step_between_that_nobody_used_counts_for_weighted_kappas(table):
    of = "1,x,bad\n1,y,fair\n2,x,fair\n2,y,good\n3,x,bad\n3,y,good\n4,x,good\n4,y,good\n"
    found = json.loads(run("agreement", "--ratings", table(HEADER + of), "--json", "--order", "bad,fair,unused,good"))
    # x: bad 2, fair 1, good 1; y: fair 1, good 3. Steps apart: observed 1 + 2 + 3 of 4; expected below.
    expected = (2 * 1 * 1 + 2 * 3 * 3 + 1 * 3 * 2 + 1 * 1 * 2) / 16
    assert found["pairs"][0]["linear"] == pytest.approx(1 - (6 / 4) / expected)


def test_an_order_that_repeats_a_label_is_refused_in_a_sentence(table):
    with pytest.raises(CommandError, match="repeats bad"):
        run("agreement", "--ratings", table(ORDERED), "--order", "bad,good,bad")


@pytest.mark.parametrize("order", ["bad\n,good", "bad\rgood", '"bad" x,good', '"bad,good'])
def test_an_order_that_is_no_line_of_csv_is_refused_in_a_sentence(table, order):
    with pytest.raises(CommandError, match="on one line"):
        run("agreement", "--ratings", table(ORDERED), "--order", order)


def test_a_label_with_a_comma_is_quoted_in_the_order(table):
    text = ORDERED.replace("good", '"good, even"')
    found = json.loads(run("agreement", "--ratings", table(text), "--json", "--order", 'bad, "good, even"'))
    assert found["labels"] == ["bad", "good, even"] and found["measures"]["alpha_ordinal"]["value"] is not None


@pytest.mark.parametrize("column", ["item", "annotator", "label"])
def test_one_word_in_two_unicode_spellings_is_refused(table, column):
    composed, apart = "\u00e9", "e\u0301"
    first, second = ({"item": "1", "annotator": "x", "label": "a"} | {column: name} for name in (composed, apart))
    text = HEADER + "".join(",".join(row.values()) + "\n" for row in (first, second))
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("agreement", "--ratings", str(table(text)), stdout=out)
    assert "TWO_SPELLINGS" in out.getvalue() and "Row 2" in out.getvalue()


def test_an_import_limit_does_not_apply_to_ratings(table, monkeypatch):
    monkeypatch.setattr("benchmarks.formats.limits.MAX_ROWS", 2)
    monkeypatch.setattr("benchmarks.formats.limits.MAX_LINES", 2)
    assert json.loads(run("agreement", "--ratings", table(RATINGS), "--json"))["n_ratings"] == 6
    monkeypatch.setattr(ratings_file, "RATINGS", replace(ratings_file.RATINGS, rows=5))
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("agreement", "--ratings", str(table(RATINGS)), stdout=out)
    assert "Use at most 5 ratings" in out.getvalue()


def test_one_number_in_two_spellings_is_refused(table):
    with pytest.raises(CommandError, match=r"1 and 1\.0 are the same number"):
        run("agreement", "--ratings", table(HEADER + "1,x,1\n1,y,1.0\n2,x,2\n2,y,2\n"), "--json")


def test_a_second_rating_is_refused_unless_it_is_said_which_counts(table):
    twice = table(RATINGS + "3,y,a\n")
    with pytest.raises(CommandError, match="1 problem"):
        run("agreement", "--ratings", twice, "--json")
    first, last = (
        json.loads(run("agreement", "--ratings", twice, "--json", "--repeated", how)) for how in ("first", "last")
    )
    assert (
        first["n_ratings"] == last["n_ratings"] == 6
        and first["labels"] == last["labels"] == ["a", "b"]
        and first["measures"]["percent"] != last["measures"]["percent"]
    )
    assert json.loads(run("aggregate", "--ratings", twice, "--method", "majority", "--json", "--repeated", "all"))[
        "ties"
    ] == {"2": ["b", "a"]}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("item,annotator\n1,x\n", "COLUMN_MISSING"),
        (HEADER, "NO_ROWS"),
        ("", "EMPTY_FILE"),
        (HEADER + "1,x,\n", "VALUE_MISSING"),
        (HEADER + "1,x,a,b\n", "RAGGED_ROW"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(table, text, code):
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("agreement", "--ratings", str(table(text)), stdout=out)
    assert code in out.getvalue()


def test_aggregate_answers_every_key_and_knows_gold(table):
    gold = table("item,label\n1,a\n2,b\n3,b\n", "gold.csv")
    for method in ("majority", "dawid-skene"):
        found = json.loads(run("aggregate", "--ratings", table(RATINGS), "--gold", gold, "--method", method, "--json"))
        assert {"labels", "posteriors", "class_shares", "ties", "accuracy", "accuracy_ties_shared"} <= set(found)
    assert found["n_gold"] == 3
    majority = json.loads(
        run("aggregate", "--ratings", table(RATINGS), "--gold", gold, "--method", "majority", "--json")
    )
    assert (majority["accuracy"], majority["accuracy_ties_shared"]) == (pytest.approx(2 / 3), pytest.approx(5 / 6))


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ((), "Gwet’s AC1: 0.680000  (95%: {}; of the 2 labels that occur; --order names all)"),
        (("--order", "1,2"), "Gwet’s AC1: 0.680000  (95%: {}; of the 2 labels in --order)"),
        (("--order", "1,2,3,4,5"), "Gwet’s AC1: 0.735537  (95%: {}; of the 5 labels in --order)"),
    ],
)
def test_ac1_says_how_many_labels_it_counts(table, order, words):
    ratings = table(
        "item,annotator,label\n"
        + "".join(f"{n},{who},{1 + (n == 0 and who == 'x')}\n" for n in range(4) for who in "xy")
    )
    said = next(
        line for line in run("agreement", "--ratings", ratings, *order).splitlines() if line.startswith("Gwet’s AC1")
    )
    start, end = words.split("{}")
    assert said.startswith(start) and said.endswith(end)


def test_without_json_it_is_written_for_people(table):
    assert "Gwet’s AC1" in run("agreement", "--ratings", table(RATINGS))
    assert "2: tied: b, a" in run("aggregate", "--ratings", table(RATINGS), "--method", "majority")


def test_an_order_names_every_label(table):
    with pytest.raises(CommandError, match="lacks b"):
        run("agreement", "--ratings", table(RATINGS), "--order", "a")
