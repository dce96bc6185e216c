"""Judgments that were made elsewhere become a study: its rows, outcomes and release, and what is refused."""

import hashlib
import json
from io import StringIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from annotation.adjudication import decisions
from annotation.figures.annotators import annotators
from annotation.figures.stage import study_figures
from annotation.measures.declared import decided
from annotation.models import Annotator, Judgment, Lease, RatingsFile, Study
from annotation.protocol_files.publish import publish
from annotation.protocols import library
from annotation.protocols.ratings import read_rated
from annotation.protocols.registry import protocol_named
from annotation.releases.verification.verifying import verify
from annotation.studies.deletion import delete_study
from benchmarks.formats.base import ProblemLog
from tests.annotation.releases.released import ONE, exported, mend, release
from tests.builders import declared
from tests.builders.pipelines import with_originals

pytestmark = pytest.mark.django_db
FOIL = "image-caption-foil"
VOTES = (
    "id;who;said\n"
    + "".join(f"item-0;{who};positive\n" for who in "abcd")
    + "".join(f"item-1;{who};both\n" for who in "bcd")
    + "item-2;a;positive\nitem-2;e;negative\n"
)
MAPPING = {"winnow": "ratings/1", "item": "id", "annotator": "who", "answers": {"fit": "said"}}


def imported(folder, text: str, protocol: str = FOIL, mapping: dict | None = None, items: int = 4, **options) -> Study:
    """The study that the command makes of a file about `items` made to suit the protocol."""
    known = library.shipped(protocol) if "@" not in protocol else protocol_named(protocol).made_from
    benchmark = declared.benchmark(known, items)
    (file := folder / "votes.csv").write_text(text)
    (how := folder / "mapping.json").write_text(json.dumps(mapping or MAPPING))
    given = {
        "protocol": protocol,
        "ratings": file,
        "mapping": how,
        "source": "A paper",
        "stdout": StringIO(),
        **options,
    }
    call_command("import_ratings", benchmark.name, **given)
    return Study.objects.get(benchmark=benchmark)


def test_a_file_of_ratings_becomes_a_study(tmp_path):
    study = imported(tmp_path, VOTES)
    stage, people = study.stages.get(), list(study.annotators.order_by("number"))
    assert (study.state, len(people)) == ("paused", 5)
    assert {(one.imported, one.token, one.name) for one in people} == {(True, None, "")}
    assert {one.seats.get().stage for one in people} == {stage}
    (source,) = stage.ratings_files.all()
    assert source.sha256 == hashlib.sha256(VOTES.encode()).hexdigest() and source.source == "A paper"
    rows = Judgment.objects.filter(imported=source).values_list("imported_row", "answer", "lease__annotator__number")
    given = [line.split(";") for line in VOTES.splitlines()[1:]]
    stored = {"positive": "caption-positive-0", "negative": "caption-negative-0"}
    assert sorted(rows) == [
        (row, stored.get(said, said), "abcde".index(who) + 1) for row, (_, who, said) in enumerate(given, 2)
    ]
    assert {task.item.key: task.overlap for task in stage.tasks.all()} == {
        "item-0": 4, "item-1": 3, "item-2": 3, "item-3": 3,
    }  # fmt: skip
    free = stage.slots.filter(annotator=None).order_by("task__item__key").values_list("task__item__key", flat=True)
    assert list(free) == ["item-2", *["item-3"] * 3]


def test_outcomes_are_those_that_the_file_decides(tmp_path):
    study = imported(tmp_path, VOTES)
    rated = read_rated(tmp_path / "votes.csv", library.shipped(FOIL), ProblemLog(), json.dumps(MAPPING))
    found = decided(library.shipped(FOIL), rated.rows)
    for task in study.stages.get().tasks.exclude(item__key="item-3"):
        outcome = getattr(task, "decided", None)
        assert (outcome.state if outcome else "open") == found[task.item.key].state
    split = study.stages.get().tasks.get(item__key="item-2")
    assert split.entropy == 1 and split.differs == "kind"


@pytest.mark.django_db(transaction=True)
def test_its_release_tells_what_was_imported_and_verifies(tmp_path):
    study = imported(tmp_path, VOTES)
    task = study.stages.get().tasks.get(item__key="item-2")
    decisions.decide(task=task, by="user:1", seen=decisions.seen(task), note="So it is.", answer="both")
    folder = exported(with_originals(study), tmp_path)
    digest = hashlib.sha256(VOTES.encode()).hexdigest()
    (stage,) = json.loads((folder / "manifest.json").read_text())["stages"]
    assert stage["imported"] == [
        {"file": "votes.csv", "sha256": digest, "source": "A paper", "mapping": MAPPING, "judgments": 9}
    ]
    made = release(folder, tmp_path / "release", splits=ONE)
    assert verify(made).problems == []
    card = (made / "README.md").read_text()
    assert "9 judgments were made elsewhere and imported from A paper" in card and digest in card
    table = pq.read_table(made / "judgments.parquet")
    assert set(table["imported"].to_pylist()) == {digest} and min(table["imported_row"].to_pylist()) == 2
    at = table.column_names.index("imported")
    pq.write_table(table.set_column(at, "imported", pa.array(["0" * 64] * len(table))), made / "judgments.parquet")
    mend(made)
    assert any("not in the manifest" in str(one) for one in verify(made).problems)


def test_a_time_that_nobody_measured_is_no_time(tmp_path):
    stage = imported(tmp_path, VOTES).stages.get()
    cost, found = study_figures(stage)["cost"], annotators(stage)
    assert (cost["active_minutes"], cost["expected_minutes"], cost["reason"]) == (0, None, "no time was measured")
    (of_stage,) = found["stages"]
    assert (of_stage["times"], of_stage["bands"]) == ({"n": 0, "median": None, "quick": 0, "bins": []}, [0] * 6)
    for row in [of_stage, *of_stage["rows"]]:
        assert (row["median_seconds"], row.get("quick_share"), row.get("log_time")) == (None, None, None)
    assert {row["quick_share"] for row in found["whole"]} == {None}


def test_it_can_be_deleted(tmp_path):
    study = imported(tmp_path, VOTES)
    delete_study(study=study, by="user:1")
    assert not Judgment.objects.exists() and not RatingsFile.objects.exists()


def test_outcomes_rest_on_what_each_item_knows(tmp_path):
    mapping = {"winnow": "ratings/1", "item": "id", "annotator": "who", "answers": {"holds": "said"}}
    text = "id,who,said\n" + "".join(f"item-{item},{who},yes\n" for item in range(4) for who in "abc")
    study = imported(tmp_path, text, "true-or-false", mapping)
    tasks = study.stages.get().tasks.select_related("item", "decided")
    found = {task.item.meta["label"]: task.decided.state for task in tasks}
    assert set(found.values()) == {"kept", "dropped"} and found["yes"] == "kept"


SETS = {
    "winnow": "protocol/1", "name": "goes", "title": "Goes", "ask": "Which two?", "instructions": "Choose two.",
    "item": {"images": {"fit": "1..2", "other": "2..3"}},
    "answers": [{"name": "goes", "kind": "pick", "of": ["images.fit", "images.other"], "many": 2}],
}  # fmt: skip


def test_sets_are_stored_with_the_number_of_options(tmp_path):
    name = str(publish(text=json.dumps(SETS), by="test"))
    mapping = {"winnow": "ratings/1", "item": "id", "annotator": "who", "answers": {"goes": "said"}}
    study = imported(tmp_path, 'id,who,said\nitem-0,a,"other-0,other-1;2+3"\n', name, mapping, items=1)
    assert Judgment.objects.get(lease__task__stage__study=study).answer == "other-0,other-1;2+3"


EVERY = (  # an answer to each question of MIXED, and stored labels
    "item,who,fit,how,holds,why,better\n"
    "item-0,a,positive,4,\"yes,unsure\",It is clear.,{own}\n"
    "item-0,b,neither,,\"no,no\",,Another caption.\n"
    "item-0,c,cannot_judge,,,,\n"
)  # fmt: skip
OF_EVERY = {**MAPPING, "item": "item", "answers": {one: one for one in ("fit", "how", "holds", "why", "better")}}


def test_every_kind_of_answer_is_stored_as_a_judgment_has_it(tmp_path):
    name = str(publish(text=declared.MIXED, by="test"))
    own = declared.benchmark(protocol_named(name).made_from, 1).items.get().captions.get(role="positive").text
    study = imported(tmp_path, EVERY.format(own=own), name, OF_EVERY, items=1)
    found = Judgment.objects.filter(lease__task__stage__study=study).order_by("imported_row")
    assert [(one.answer, one.content, one.reason) for one in found] == [
        ("positive/4/yes,unsure/written/unchanged", {"texts": {"why": "It is clear.", "better": own}}, ""),
        ("neither//no,no//edited", {"texts": {"better": "Another caption."}}, ""),
        ("cannot_judge", {}, "as imported"),
    ]


def test_capitals_and_spaces_make_no_other_answer(tmp_path):
    name = str(publish(text=declared.MIXED, by="test"))
    text = EVERY.replace("positive", " Positive ").replace("neither", "NEITHER").replace("yes,unsure", "Yes, Unsure")
    study = imported(tmp_path, text.replace("cannot_judge", "Cannot_Judge"), name, OF_EVERY, items=1)
    labels = {"positive/4/yes,unsure/written/edited", "neither//no,no//edited", "cannot_judge"}
    assert {*Judgment.objects.filter(lease__task__stage__study=study).values_list("answer", flat=True)} == labels


@pytest.mark.parametrize(
    ("protocol", "rows", "code", "words"),
    [
        (FOIL, "item-9;a;both\n", "UNKNOWN_ID", "no item “item-9”"),
        (FOIL, "item-0;a;maybe\n", "WRONG_VALUE", "no answer “maybe”"),
        (FOIL, "item-0;a;both\nitem-0;a;both\n", "REPEATED_RATING", "already"),
        (FOIL, "item-0;;both\n", "VALUE_MISSING", "who"),
        (FOIL, "item-0;a;both;7\n", "RAGGED_ROW", "3 cells"),
        ("one-of-four", "item-0;a;candidate-7\n", "WRONG_VALUE", "candidate-7"),
        ("image-questions", 'item-0;a;"yes,no"\n', "WRONG_VALUE", "has 60 statements"),
        ("rank-images", "item-0;a;picture-0>picture-1\n", "WRONG_VALUE", "Rank the item’s options"),
        ("word-by-word", "item-0;a;3;\n", "RAGGED_ROW", "cells"),
        ("word-by-word", 'item-0;a;"3;"\n', "WRONG_VALUE", "words"),
        (FOIL, "".join(f"item-0;{who};both\n" for who in range(51)), "TOO_MANY_ROWS", "at most 50"),
    ],
)
def test_a_row_that_no_judgment_could_be_refuses_the_file(tmp_path, protocol, rows, code, words):
    out = StringIO()
    answer = library.shipped(protocol).answers[0].name
    mapping = {**MAPPING, "answers": {answer: "said"}}
    with pytest.raises(CommandError, match="Nothing was stored"):
        imported(tmp_path, f"id;who;said\n{rows}", protocol, mapping, stdout=out)
    assert code in out.getvalue() and words in out.getvalue()
    assert not Study.objects.exists() and not Judgment.objects.exists()


def test_ratings_of_other_items_can_be_left_out(tmp_path):
    out = StringIO()
    study = imported(tmp_path, VOTES + "item-9;a;both\n", skip_unknown=True, stdout=out)
    assert "Skipped rows: 1" in out.getvalue()
    assert Judgment.objects.filter(lease__task__stage__study=study).count() == 9


def test_the_database_keeps_imported_people_without_links_and_judgments_with_rows(tmp_path):
    study = imported(tmp_path, VOTES)
    who, lease = study.annotators.first(), Lease.objects.filter(task__stage__study=study).first()
    with pytest.raises(IntegrityError, match="annotator_imported_without_link"), transaction.atomic():
        Annotator.objects.filter(pk=who.pk).update(token="a-link")
    with pytest.raises(IntegrityError, match="judgment_imported_with_row"), transaction.atomic():
        Judgment.objects.create(
            lease=lease, revision=2, key="00000000-0000-4000-8000-000000000000", digest="", answer="both",
            instructions=study.stages.get().instructions.get(), imported=RatingsFile.objects.get(),
        )  # fmt: skip
