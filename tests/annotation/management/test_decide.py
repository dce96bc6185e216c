"""`manage.py decide`: a protocol's rules on ratings from elsewhere."""

import csv
import json
from collections import Counter
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from tests.annotation.protocols.declared.files import changed

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
        ("item,annotator,answer\n1,a,Both\n", "WRONG_VALUE", "positive, negative, both, neither"),
        ("item,annotator,answer\n1,a,both\n1,a,both\n", "REPEATED_RATING", "already"),
    ],
)
def test_a_wrong_table_is_refused_by_row(ratings, table, code, words):
    out = StringIO()
    with pytest.raises(CommandError, match="Nothing was done"):
        call_command("decide", protocol=FOIL, ratings=ratings(table), stdout=out)
    assert code in out.getvalue() and words in out.getvalue()


@pytest.mark.parametrize(("given", "code"), [("no-such", "NO_SUCH_PROTOCOL"), ("ratings.csv", "NOT_A_PROTOCOL")])
def test_a_wrong_protocol_is_refused_by_name(ratings, given, code, tmp_path):
    table = ratings(ONE)
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("decide", protocol=str(tmp_path / given), ratings=table, stdout=out)
    assert code in out.getvalue()
