"""Counts of a release: what a retrieval question is, captions and images, and Table 1 as BiVLC has it."""

import csv

import pytest

from annotation.releases.documents.statistics import compute, questions
from annotation.releases.documents.write import TEMPLATES
from tests.builders.documented_release import image, line

TABLES = TEMPLATES.get_template("_tables.md.j2").module


@pytest.mark.parametrize(
    ("roles", "images", "asked"),
    [
        ({"positive", "negative"}, 2, (2, 2)),  # BiVLC
        ({"positive", "negative"}, 1, (1, 0)),  # SugarCrepe, ARO
        ({"positive", "second_positive", "negative"}, 1, (1, 0)),  # VISLA
        ({"positive"}, 2, (0, 1)),
        ({"positive", "negative"}, 0, (0, 0)),
    ],
)
def test_retrieval_questions_of_an_item(roles, images, asked):
    assert questions(roles, images) == asked


def test_an_image_counts_once_and_only_if_it_is_in_the_data():
    found = compute([line(0), line(1)])["whole"]
    assert (found["items"], found["images"], found["captions"], found["questions"]) == (2, 3, 4, 8)


def test_lengths_of_captions():
    long = line(1, captions=[{"role": "positive", "text": "  Two words "}])
    found = compute([line(0), long])["whole"]["captions_by_role"]
    assert found["positive"] == {
        "captions": 2,
        "words": {"mean": 2.5, "min": 2, "max": 3},
        "characters": {"mean": 11.5, "min": 11, "max": 12},
    }
    assert found["negative"]["words"] == {"mean": 4, "min": 4, "max": 4}


def test_splits_types_and_both_make_the_whole():
    kinds = [("swap", "att"), ("add", "obj"), ("swap", "att"), ("add", "att")]
    found = compute([line(n, split, kind) for n, (split, kind) in enumerate(zip("abab", kinds, strict=True))])
    assert {name: cell["items"] for name, cell in found["splits"].items()} == {"a": 2, "b": 2}
    assert [(row["type"], row["subtype"], row["items"]) for row in found["types"]] == [
        ("add", "att", 1),
        ("add", "obj", 1),
        ("swap", "att", 2),
    ]
    assert [(row["split"], row["type"], row["questions"]) for row in found["rows"]] == [
        ("a", "swap", 8),
        ("b", "add", 4),
        ("b", "add", 4),
    ]


def test_nothing_is_nothing():
    found = compute([])
    assert (found["whole"]["items"], found["types"], found["splits"]) == (0, [], {})
    assert "| `test` | 0 |" in TABLES.splits(found, ["test"])


def test_other_types_are_a_plain_table():
    found = compute([line(0, kind=("spatial", "left|right"))])
    assert "| spatial | left\\|right | 1 | 4 |" in TABLES.questions_by_type(found, ["test"])


@pytest.mark.real
def test_table_1_of_bivlc(real):
    with (real / "data/bivlc/results_CLIP_COCO.csv").open(newline="", encoding="utf-8") as file:
        kinds = [(row["type"], row["subtype"]) for row in csv.DictReader(file)]
    images = [image("positive-0", "a"), image("negative-0", "b", chosen=True)]
    found = compute((line(n, kind=kind, images=images) for n, kind in enumerate(kinds)))
    table = TABLES.questions_by_type(found, ["test"]).splitlines()
    assert table[0].startswith(
        "|  | I2T | T2I | REPLACE OBJ | REPLACE ATT | REPLACE REL | SWAP OBJ | SWAP ATT | ADD OBJ |"
    )
    assert table[2] == "| `test` | ✓ | ✓ | 4,800 | 1,748 | 1,848 | 324 | 1,112 | 1,596 | 304 | 11,732 |"
