"""`manage.py decide`: a protocol's rules on ratings from elsewhere."""

import csv
import json
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.protocols import library
from annotation.protocols.ratings import read_rated
from benchmarks.formats.base import ProblemLog, Unreadable
from tests.annotation.protocols.files import changed, read

FOIL = "image-caption-foil"
INVALID = {"counting-hard": 132, "existence": 29, "foil-it": 57, "plurals": 149, "relations": 79}


def decided(*args, **options) -> dict:
    out = StringIO()
    call_command("decide", *map(str, args), json=True, stdout=out, **options)
    return json.loads(out.getvalue())


@pytest.fixture
def ratings(tmp_path):
    """`ratings(text)`: the path of a file with it."""

    def write(text: str) -> Path:
        path = tmp_path / "ratings.csv"
        path.write_text(text)
        return path

    return write


def test_numbers_are_read_checked_and_decided(ratings, tmp_path):
    count = {"name": "count", "kind": "number", "most": 20, "not_applicable": "Too many"}
    rule = {"answer": "count", "rule": "median", "at_least": 2, "below": "few"}
    path = tmp_path / "count.json"
    path.write_text(json.dumps(changed(("answers", [count]), ("decide", [rule]))))
    rows = "1,a,3\n1,b,4.0\n1,c,not_applicable\n2,a,1\n2,b,0\n2,c,20\n"
    found = decided("--protocol", path, "--ratings", ratings("item,annotator,count\n" + rows), items=True)
    outcomes = {key: (one["state"], one["outcome"]) for key, one in found["decisions"].items()}
    assert outcomes == {"1": ("kept", "3.5"), "2": ("dropped", "1")}
    assert found["agreement"]["count"]["level"] == "interval"
    log, file = ProblemLog(), read(json.loads(path.read_text()))
    assert read_rated(ratings("item,annotator,count\n1,a,2.5\n"), file, log) and log.count == 1
    assert log.problems[0].advice == "Write a whole number from 0 to 20."


@pytest.mark.real
def test_the_votes_of_valse_give_its_invalid_items(real, tmp_path):
    """Votes for “other” count as neither."""
    pieces = {path.stem: json.loads(path.read_text()) for path in sorted((real / "data/valse").glob("*.json"))}
    with (tmp_path / "votes.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["item", "annotator", "answer"])
        for piece in pieces.values():
            for key, item in piece.items():
                votes = item["mturk"]
                said = ["positive"] * votes["caption"] + ["negative"] * votes["foil"] + ["neither"] * votes["other"]
                writer.writerows((key, f"w{place}", value) for place, value in enumerate(said))
    found = decided("--protocol", FOIL, "--ratings", tmp_path / "votes.csv", items=True)
    assert (found["items"], found["kept"], sum(found["dropped"].values()), found["open"]) == (4148, 3702, 446, 0)
    dropped = {key for key, one in found["decisions"].items() if one["state"] == "dropped"}
    assert Counter(name for name, piece in pieces.items() for key in piece if key in dropped) == INVALID
    assert found["agreement"]["fit"]["level"] == "nominal"


ONE = (
    "item,annotator,answer\n1,a,positive\n1,b,both\n1,c,positive\n2,a,positive\n3,a,both\n3,b,both\n3,c,cannot_judge\n"
)


def test_kept_dropped_and_open(ratings):
    found = decided("--protocol", FOIL, "--ratings", ratings(ONE))
    assert {name: found[name] for name in ("items", "kept", "dropped", "open")} == {
        "items": 3, "kept": 1, "dropped": {"both_fit": 1}, "open": 1,
    }  # fmt: skip
    out = StringIO()
    call_command("decide", protocol=FOIL, ratings=ratings(ONE), stdout=out)
    assert "3 items: 1 kept, 1 dropped, 1 open" in out.getvalue()


def test_an_item_with_too_few_judgments_is_counted_by_what_it_needs(ratings):
    table = ONE + "4,a,both\n4,b,both\n5,b,both\n"
    found = decided("--protocol", FOIL, "--ratings", ratings(table))
    assert (found["open"], found["too_few_judgments"]) == (
        3,
        [{"needs": 3, "has": 1, "items": 2}, {"needs": 3, "has": 2, "items": 1}],
    )
    out = StringIO()
    call_command("decide", protocol=FOIL, ratings=ratings(table), stdout=out)
    assert "  open, needs 3 judgments and has 1: 2\n  open, needs 3 judgments and has 2: 1\n" in out.getvalue()


VSR = {
    "winnow": "ratings/1", "attributes": {"label": "label"},
    "answers": {"holds": {"voters": {"yes": "vote_true_validator_id", "no": "vote_false_validator_id"}}},
}  # fmt: skip
MEANS = {  # file: mapping, judgments of an item, the means of models
    "tifa_human_annotations.json": (
        {"item": "key", "answers": {"fit": "human_scores"}, "attributes": {"model": "{key - text_id}"}}, 2,
        {"mini_dalle": 3.8, "stable_diffusion_v1_1": 3.69, "stable_diffusion_v1_5": 4.06, "stable_diffusion_v2_1": 4.26,
         "vq_diffusion": 3.63},
    ),
    "tifa160-likert-anns.csv": (
        {"item": "{t2i_model}/{item_id}", "annotator": "worker_id", "answers": {"fit": "answer"},
         "attributes": {"model": "t2i_model"}}, 5,
        {"mini-dalle": 3.84, "sd1dot1": 3.74, "sd1dot5": 3.99, "sd2dot1": 4.15, "vq-diffusion": 3.61},
    ),
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("file", MEANS)
def test_published_ratings_have_a_mean_for_each_model(real, tmp_path, file):
    mapping, judgments, means = MEANS[file]
    (how := tmp_path / "mapping.json").write_text(json.dumps({"winnow": "ratings/1", **mapping}))
    found = decided("--protocol", "prompt-fit", "--ratings", real / "data/foreign" / file, mapping=how)
    assert found["too_few_judgments"] == ([] if judgments > 2 else [{"needs": 3, "has": 2, "items": 800}])
    (score,) = found["scores"]["answers"]
    assert {row["name"]: round(row["value"], 2) for row in score["by"]["model"]} == means
    assert round(found["agreement"]["fit"]["measures"]["alpha_ordinal"]["value"], 6) in (0.718576, 0.685430)


@pytest.mark.real
def test_the_votes_in_vsrs_own_rows_keep_as_many_statements_as_its_paper(real, tmp_path):
    """379 votes are given twice, and the paper counts each."""
    (how := tmp_path / "mapping.json").write_text(json.dumps(VSR))
    (file := tmp_path / "vsr.yaml").write_text(library.text_of("true-or-false").replace("judgments: 3", "judgments: 2"))
    table = real / "data/foreign/all_vsr_raw_data.jsonl"
    asked = {"protocol": str(file), "ratings": table, "mapping": how}
    out = StringIO()
    with pytest.raises(CommandError, match="379 problems"):
        call_command("decide", **asked, stdout=out)
    assert "REPEATED_RATING" in out.getvalue()
    found = decided(**asked, repeated="all")
    assert (found["kept"], found["dropped"], found["open"]) == (10_972, {"label_doubted": 1_837}, 0)


@pytest.mark.parametrize(("repeated", "mean", "annotators"), [("first", 4, 2), ("last", 3, 2), ("all", 3.6667, 3)])
def test_a_second_rating_by_an_annotator_counts_as_is_said(ratings, repeated, mean, annotators):
    table = ratings("item,annotator,answer\n1,a,5\n1,b,3\n1,a,3\n")
    found = decided("--protocol", "prompt-fit", "--ratings", table, repeated=repeated)
    assert round(found["scores"]["answers"][0]["whole"]["value"], 4) == mean
    assert found["agreement"]["fit"]["n_annotators"] == annotators


def test_tasks_that_a_file_names_are_scored_as_groups(ratings):
    pairs = {
        "positive/positive": "yes",
        "positive/negative": "no",
        "negative/positive": "no",
        "negative/negative": "yes",
    }
    rows = "".join(f"7,{pair},{who},{said}\n" for who in range(10) for pair, said in pairs.items())
    found = decided("--protocol", "winoground-pairs", "--ratings", ratings(f"item,question,annotator,answer\n{rows}"))
    assert {one["group"]: one["whole"]["value"] for one in found["scores"]["groups"]} == {
        "text": 1, "image": 1, "group": 1, "all_four": 1,
    }  # fmt: skip
    assert found["scores"]["answers"][0]["right"]["whole"]["value"] == 1
    with pytest.raises(CommandError, match="1 problem"):
        decided("--protocol", "winoground-pairs", "--ratings", ratings("item,question,annotator,answer\n7,x,1,yes\n"))


def test_scores_are_those_that_a_study_would_have(ratings):
    table = ratings("item,annotator,answer\n1,a,4\n1,b,5\n2,a,2\n2,b,1\n3,a,3\n3,b,cannot_judge\n")
    (score,) = decided("--protocol", "prompt-fit", "--ratings", table)["scores"]["answers"]
    assert (score["whole"]["value"], score["whole"]["n_items"], score["cannot_judge"]) == (3, 3, 1)
    out = StringIO()
    call_command("decide", protocol="prompt-fit", ratings=table, stdout=out)
    assert "fit, mean: 3.0000 (95%: 1.1743 to 4.8257 for these annotators" in out.getvalue()


@pytest.mark.parametrize(
    ("protocol", "cells"), [("preference", "picture-0 picture-1"), ("winoground-pairs", "yes no"), ("rank-images", "")]
)
def test_what_needs_to_know_the_task_is_left_out_where_a_file_does_not_say_it(ratings, protocol, cells):
    first, second = cells.split() or ("picture-0>picture-1", "picture-1>picture-0")
    found = decided("--protocol", protocol, "--ratings", ratings(f"item,annotator,answer\n1,a,{first}\n2,a,{second}\n"))
    assert found["scores"]["groups"] == found["scores"]["strengths"] == []
    assert all("right" not in one for one in found["scores"]["answers"])


def test_a_file_of_ones_own_with_several_answers(ratings, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(changed(("judgments", 2))))
    table = ratings("item,annotator,fit,sure\n1,a,both,2\n1,b,both,2.0\n2,a,positive,\n2,b,positive,\n")
    found = decided("--protocol", path, "--ratings", table, items=True)
    assert found["dropped"] == {"both_fit": 1} and found["decisions"]["2"]["state"] == "kept"
    assert found["agreement"]["sure"]["level"] == "ordinal"


@pytest.mark.parametrize(
    ("table", "code", "words"),
    [
        ("item,annotator\n1,a\n", "COLUMN_MISSING", "answer"),
        ("item,annotator,answer\n1,a,\n", "VALUE_MISSING", "Fill in"),
        ("item,annotator,answer\n1,,both\n", "VALUE_MISSING", "annotator"),
        ("item,annotator,answer\n1,a,perhaps\n", "WRONG_VALUE", "positive, negative, both, neither"),
        ("item,annotator,answer\n1,a,both\n1,a,both\n", "REPEATED_RATING", "already"),
    ],
)
def test_a_wrong_table_is_refused_by_row(ratings, table, code, words):
    out = StringIO()
    with pytest.raises(CommandError, match="Nothing was done"):
        call_command("decide", protocol=FOIL, ratings=ratings(table), stdout=out)
    assert code in out.getvalue() and words in out.getvalue()


@pytest.mark.parametrize(
    ("protocol", "cells", "words"),
    [
        ("word-by-word", ["20000000;"], "number of words"),
        ("word-by-word", ["yes"], "number of words"),
        ("word-by-word", ["1.0"], "number of words"),
        ("word-by-word", ["²;"], "number of words"),
        ("word-by-word", ["0;"], "number of words"),
        ("word-by-word", ["-1;"], "number of words"),
        ("word-by-word", ["5;6:{mark}"], "number of words"),
        ("word-by-word", ["7;2,3"], "number of words"),
        ("word-by-word", ["5;2:{mark},2:{mark}"], "number of words"),
        ("word-by-word", ["5;2:zzz"], "no answer “zzz”"),
        ("word-by-word", ["5;", "6;"], "earlier row"),
        ("image-questions", ["yes,no", "yes"], "earlier row"),
        ("image-questions", ["yes,"], "no answer “”"),
        ("image-questions", [",".join(["yes"] * 61)], "1 to 60 answers"),
        ("rank-images", ["picture-0"], "Rank all options"),
        ("rank-images", ["picture-0>picture-1", "picture-0>picture-2"], "earlier row"),
        ("rank-images", ["picture-0>picture-0"], "once"),
        ("hard-positive-rank", ["positive>negative"], "Rank all options"),
        ("prompt-fit", ["nan"], "Write one of"),
        ("prompt-fit", ["1e400"], "Write one of"),
        ("describe", ["x" * 5001], "characters"),
        ("revise", ["x" * 5001], "characters"),
    ],
)
def test_a_cell_of_every_kind_of_answer_is_checked(ratings, protocol, cells, words):
    mark = next(iter(getattr(library.shipped(protocol).answers[0], "marks", "x")))
    rows = "".join(f'1,{place},"{cell.format(mark=mark)}"\n' for place, cell in enumerate(cells))
    out = StringIO()
    with pytest.raises(CommandError, match="1 problem"):
        call_command("decide", protocol=protocol, ratings=ratings(f"item,annotator,answer\n{rows}"), stdout=out)
    assert words in out.getvalue() and f"· {len(cells) + 1} · answer ·" in out.getvalue()


def test_cells_are_stored_as_a_judgment_would_have_them(ratings):
    path = ratings(
        "item,annotator,answer\n1,a,second_positive=positive>negative\n1,b,positive=second_positive>negative\n"
    )
    rows = read_rated(path, library.shipped("hard-positive-rank"), ProblemLog()).rows
    assert {row.label for row in rows} == {"positive=second_positive>negative"}
    path = ratings(
        'item,annotator,answer\n1,a,"9;3:not_shown,10:not_shown"\n2,a,"12;10:cannot_tell,3:not_shown"\n2,b,12;\n'
    )
    log = ProblemLog()
    rows = read_rated(path, library.shipped("word-by-word"), log).rows
    assert [row.label for row in rows] == ["12;3:not_shown,10:cannot_tell", "12;"]
    assert [one.row for one in log.problems] == [2]


def test_the_words_of_a_file_have_a_limit(ratings):
    log = ProblemLog()
    rows = "".join(f"{place},a,9999;\n" for place in range(202))
    with pytest.raises(Unreadable):
        read_rated(ratings(f"item,annotator,answer\n{rows}"), library.shipped("word-by-word"), log)
    assert [one.code for one in log.problems] == ["TOO_LONG"]


def test_who_cannot_judge_answers_nothing_else(ratings, tmp_path):
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(changed(("judgments", 2))))
    out = StringIO()
    with pytest.raises(CommandError, match="1 problem"):
        table = ratings("item,annotator,fit,sure\n1,a,cannot_judge,zzz\n")
        call_command("decide", protocol=str(path), ratings=table, stdout=out)
    assert "WRONG_VALUE" in out.getvalue() and "sure" in out.getvalue()


@pytest.mark.parametrize(("given", "code"), [("no-such", "NO_SUCH_PROTOCOL"), ("ratings.csv", "NOT_A_PROTOCOL")])
def test_a_wrong_protocol_is_refused_by_name(ratings, given, code, tmp_path):
    table = ratings(ONE)
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("decide", protocol=str(tmp_path / given), ratings=table, stdout=out)
    assert code in out.getvalue()


BY_ITEM = changed(
    ("item", {"images": {"scene": 1}, "captions": {"caption": 1}}), ("judgments", 2),
    ("screen", [{"picture": "scene"}, {"sentence": "caption"}]),
    ("answers", [{"name": "holds", "kind": "pick", "fixed": {"yes": "Yes", "no": "No"}}]),
    ("decide", [{"answer": "holds", "rule": "at_least", "of": "right", "m": "2/3", "drop": {"else": "doubted"}}]),
    ("right", {"from": "label"}),
)  # fmt: skip
VOTES = "item,annotator,holds,label\n1,a,yes,1\n1,b,yes,1\n1,c,no,1\n2,a,no,1\n2,b,yes,1\n3,a,no,0\n3,b,no,False\n"


def test_items_are_decided_by_right_answers_that_the_table_has(ratings, tmp_path):
    (file := tmp_path / "by-item.yaml").write_text(json.dumps(BY_ITEM))
    found = decided("--protocol", file, "--ratings", ratings(VOTES))
    assert (found["kept"], found["dropped"], found["open"]) == (2, {"doubted": 1}, 0)
    for wrong, words in (
        (VOTES.replace("1,b,yes,1", "1,b,yes,0"), "a different right answer"),
        (VOTES.replace("2,b,yes,1", "2,b,yes,maybe"), "which is not an answer to holds"),
        (VOTES.replace(",label", ",other"), "label"),
    ):
        with pytest.raises(CommandError):
            call_command("decide", protocol=str(file), ratings=ratings(wrong), stdout=(out := StringIO()))
        assert words in out.getvalue()
