"""Files of ratings as they are published, and each way in which a file can have them."""

import json
from pathlib import Path

import pytest

from annotation.measures.agreement import RatingTable
from annotation.measures.ratings_file import read_ratings
from annotation.measures.reliability import reliability
from benchmarks.formats.base import ProblemLog
from benchmarks.formats.own.format import FORMAT
from benchmarks.formats.own.mapping import NotAMapping
from benchmarks.formats.own.ratings import RatingsMapping, guess, read, understood

FOREIGN = Path(__file__).resolve().parents[5] / "shared" / "data" / "foreign"
TIFA160 = {"item": "{t2i_model}/{item_id}", "annotator": "worker_id", "answers": {"label": "answer"}}
GENEVAL = {
    "item": "Input.index", "answers": {"quality": "Answer.task-quality", "count": "Answer.task-count-0"},
}  # fmt: skip
PUBLISHED = {  # file: mapping, answer, measure, value, ratings
    "tifa": ("tifa_human_annotations.json", None, "label", "alpha_ordinal", 0.718576, 1600),
    "tifa160": ("tifa160-likert-anns.csv", TIFA160, "label", "alpha_ordinal", 0.685430, 3995),
    "geneval quality": ("annotations_if-xl.csv", GENEVAL, "quality", "alpha_ordinal", 0.309667, 1996),
    "geneval count": ("annotations_if-xl.csv", GENEVAL, "count", "alpha_interval", 0.903460, 1996),
}


@pytest.mark.real
@pytest.mark.parametrize("case", PUBLISHED)
def test_published_ratings_have_their_published_agreement(case):
    file, mapping, answer, measure, value, count = PUBLISHED[case]
    log = ProblemLog(skip_incomplete=True)
    how = json.dumps({"winnow": "ratings/1", **mapping}) if mapping else ""
    columns = read_ratings(FOREIGN / file, log, mapping=how)[answer]
    assert (log.problems, len(columns)) == ([], count)
    assert round(reliability(RatingTable(columns))["measures"][measure]["value"], 6) == value


@pytest.mark.real
def test_ragged_rows_are_refused_or_left_out_and_listed():
    """GenEval's table breaks four rows in two."""
    how = json.dumps({"winnow": "ratings/1", **GENEVAL})
    strict, lenient = ProblemLog(), ProblemLog(skip_incomplete=True)
    for log in (strict, lenient):
        read_ratings(FOREIGN / "annotations_if-xl.csv", log, mapping=how)
    assert ({one.code for one in strict.problems}, strict.count) == ({"RAGGED_ROW"}, 8)
    assert (lenient.count, lenient.left_out) == (0, 8)
    assert [one.row for one in lenient.notes if one.code == "RAGGED_ROW"][:2] == [423, 424]


def given(tmp_path, text: str, mapping: dict, name: str = "ratings.csv", skip: bool = False) -> list[tuple]:
    path, log = tmp_path / name, ProblemLog(skip)
    path.write_text(text)
    how = understood(path, json.dumps({"winnow": "ratings/1", **mapping}), log)
    found = [(one.item, one.annotator, *one.answers.items()) for one in read(path, how, log)]
    assert log.problems == []
    return found


ONE = {"item": "id", "answers": {"fit": "fit"}}
LONG = [("7", "1", ("fit", "4")), ("7", "2", ("fit", "5"))]


@pytest.mark.parametrize(
    ("text", "mapping", "found"),
    [
        ("id,fit\n7,4\n7,5\n", ONE, LONG),  # without annotators
        ("id;fit\n7;4\n7;5\n", ONE, LONG),
        ("id\tfit\n7\t4\n7\t5\n", ONE, LONG),
        ('[{"id": 7, "fit": 4}, {"id": 7, "fit": 5}]', ONE, LONG),
        ('{"id": 7, "fit": 4}\n{"id": 7, "fit": 5}\n', ONE, LONG),
        ('{"7": {"fit": [4, 5]}, "8": {"fit": [3]}}', {**ONE, "item": "key"}, [*LONG, ("8", "1", ("fit", "3"))]),
        ('id,fit\n7,"[4, 5]"\n', ONE, LONG),
        ("id,r1,r2\n7,4,5\n", {**ONE, "answers": {"fit": ["r1", "r2"]}},
         [("7", "r1", ("fit", "4")), ("7", "r2", ("fit", "5"))]),
        ("id,r1,r2\n7,4,\n", {**ONE, "answers": {"fit": ["r1", "r2"]}}, [("7", "r1", ("fit", "4"))]),
        ('[{"id": 7, "fit": {"ann": 4, "bob": 5}}]', ONE, [("7", "ann", ("fit", "4")), ("7", "bob", ("fit", "5"))]),
        ('[{"id": 7, "t": [3, 9], "f": [2]}]', {**ONE, "answers": {"ok": {"voters": {"yes": "t", "no": "f"}}}},
         [("7", "3", ("ok", "yes")), ("7", "9", ("ok", "yes")), ("7", "2", ("ok", "no"))]),
        ('[{"id": 7, "t": [3, 3], "f": [3]}]', {**ONE, "answers": {"ok": {"voters": {"yes": "t", "no": "f"}}}},
         [("7", "3", ("ok", "yes")), ("7", "3", ("ok", "yes")), ("7", "3", ("ok", "no"))]),
        ("id,t,f\n7,2,1\n", {**ONE, "answers": {"ok": {"voters": {"yes": "t", "no": "f"}}}},
         [("7", "1", ("ok", "yes")), ("7", "2", ("ok", "yes")), ("7", "3", ("ok", "no"))]),
        ("id,who,fit,sure\n7,a,4,\n7,b,,2\n",
         {"item": "id", "annotator": "who", "answers": {"fit": "fit", "sure": "sure"}},
         [("7", "a", ("fit", "4")), ("7", "b", ("sure", "2"))]),
        ("id,fit\n7,good\n", {**ONE, "answers": {"fit": {"from": "fit", "values": {"good": "5"}}}},
         [("7", "1", ("fit", "5"))]),
        ("id,image,fit\n7,7_sd-3.png,4\n", {**ONE, "item": "{image - id}"}, [("sd-3.png", "1", ("fit", "4"))]),
        ("fit\n4\n5\n", {"answers": {"fit": "fit"}},
         [("ratings-1", "1", ("fit", "4")), ("ratings-2", "1", ("fit", "5"))]),
    ],
)  # fmt: skip
def test_a_row_has_the_answers_of_one_annotator_or_of_several(tmp_path, text, mapping, found):
    assert given(tmp_path, text, mapping) == found


def test_rows_without_ids_are_called_as_an_import_calls_their_items(tmp_path):
    """So that a file has items and their votes in the same rows, as VSR's has."""
    text = "caption,yes\nA cup.,3\n,2\nA hat.,1\n"
    rated = given(tmp_path, text, {"answers": {"ok": {"voters": {"yes": "yes"}}}})
    log, how = ProblemLog(skip_incomplete=True), {"winnow": "mapping/1", "texts": {"positive": "caption"}}
    items = FORMAT.read(tmp_path / "ratings.csv", log, mapping=json.dumps(how))
    assert {one.key for one in items} == {"ratings-1", "ratings-3"} < {item for item, *_ in rated}


def test_incomplete_rows_can_be_left_out(tmp_path):
    text = "id,who,fit\n7,a,4\n7,,5\n,b,5\n7,c,\n7,d,5,6\n"
    found = given(tmp_path, text, {"item": "id", "annotator": "who", "answers": {"fit": "fit"}}, skip=True)
    assert found == [("7", "a", ("fit", "4"))]


@pytest.mark.parametrize(
    ("names", "wanted", "mapping"),
    [
        ("item annotator label", "", {"item": "item", "annotator": "annotator", "answers": {"label": "label"}}),
        ("item_id worker_id question answer", "fit",
         {"item": "item_id", "question": "question", "annotator": "worker_id", "answers": {"fit": "answer"}}),
        ("image_path rater_1 rater_2 rater_3", "fit",
         {"item": "image_path", "answers": {"fit": ["rater_1", "rater_2", "rater_3"]}}),
        ("prompt_id overall_rating fidelity_rating", "",
         {"item": "prompt_id", "answers": {"overall_rating": "overall_rating", "fidelity_rating": "fidelity_rating"}}),
        ("key human_scores human_avg", "", {"item": "key", "answers": {"label": "human_scores"}}),
        ("HITId Input.index Answer.quality Answer.count", "",
         {"item": "Input.index", "answers": {"Answer.quality": "Answer.quality", "Answer.count": "Answer.count"}}),
    ],
)  # fmt: skip
def test_columns_are_recognised_by_their_names(names, wanted, mapping):
    found = guess(names.split(), wanted=wanted.split())
    assert found.as_json() == {"winnow": "ratings/1", **mapping}
    assert RatingsMapping.from_json(found.as_json()) == found


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ("{", "Correct the JSON"),
        ('{"winnow": "mapping/1", "answers": {"a": "b"}}', '"winnow": "ratings/1"'),
        ('{"winnow": "ratings/1"}', "at least one answer"),
        ('{"winnow": "ratings/1", "answers": {"a": "b"}, "anotator": "x"}', "Did you mean “annotator”"),
        ('{"winnow": "ratings/1", "answers": {"a": {"from": "b", "values": {"1": 2}}}}', "object of texts"),
        ('{"winnow": "ratings/1", "answers": {"a": {"voters": 3}}}', "as an object"),
    ],
)
def test_what_is_wrong_with_a_mapping_is_said(mapping, words):
    with pytest.raises(NotAMapping, match=words):
        RatingsMapping.from_text(mapping)
