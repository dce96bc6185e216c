"""Exports of what people wrote: columns, words and where they are from, the source's own layout, round trips."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from annotation.designs.plan import StagePlan
from annotation.exports.item_table import columns_of
from annotation.models import Judgment, Study
from annotation.releases.verification.differences import differences
from benchmarks.formats.registry import FORMATS
from tests.annotation.exports.test_export import export
from tests.annotation.releases.released import contents, lines
from tests.builders import studies, text_annotators
from tests.independent.papers import papers
from tests.independent.reading import Files
from tests.independent.recomputed import figures, recompute
from tests.lazy import LazyModule
from tests.made_once import made_once

datasets = LazyModule("datasets")
pytestmark = pytest.mark.django_db(transaction=True)
SECOND, CANDIDATE = "caption-second_positive-0", "caption-candidate-0"
MENDED = "In basket 0 a cat is to be found."


@pytest.fixture
def study(tmp_path) -> Study:
    """Triplets, worked through by made-up answers."""
    made = text_annotators.visla_study(tmp_path / "in", rows=8)
    text_annotators.work(made, seed=2)
    return made


@pytest.fixture
def paraphrase(tmp_path) -> Study:
    """One item of which nothing is said yet."""
    stages = [StagePlan("visla-paraphrase", name="paraphrase", settings={"overlap": 1})]
    return studies.study(benchmark=text_annotators.visla(tmp_path / "in", rows=1), stages=stages)


def judged(study: Study, *said: text_annotators.Says) -> Study:
    """A new annotator for each."""
    for one in said:
        assert text_annotators.says(studies.annotator(study), study.stages.get(), one)
    return study


# The split


def test_the_split_has_the_columns_of_its_format_and_loads(exports, offline):
    out = exports("written")
    data = datasets.load_dataset(str(out))["test"]
    assert data.column_names == [*FORMATS["visla"].split, "candidate_caption", "candidate_caption_2", "votes"]
    kept = {item["id"]: item for item in lines(out / "items.jsonl")}
    assert len(data) == len(kept) > 0
    for row in data:
        words = {one["role"]: one["text"] for one in reversed(kept[row["id"]]["captions"])}
        assert (row["caption"], row["second_positive"]) == (words["positive"], words["second_positive"])
        assert (row["negative_caption"], row["image"].size) == (words["negative"], (16, 16))


@pytest.mark.parametrize(
    ("values", "kind", "cells"),
    [
        (["a", None], "string", ["a", None]),
        ([1, 2], "int64", [1, 2]),
        ([1, 0.5], "double", [1.0, 0.5]),
        ([True, False], "bool", [True, False]),
        ([["a", "b"], 1], "string", ['["a", "b"]', "1"]),
    ],
)
def test_a_field_of_meta_is_a_column_of_its_kind(monkeypatch, values, kind, cells):
    monkeypatch.setitem(FORMATS, "jsonl", replace(FORMATS["jsonl"], split={"it": "meta:it"}))
    made = studies.benchmark(2, candidates=0)
    for item, value in zip(made.items.order_by("position"), values, strict=True):
        item.meta = {"it": value}
        item.save()
    (column,) = columns_of(made, [])
    found = [column.cell({"meta": item.meta}, {}) for item in made.items.order_by("position")]
    assert (str(column.kind), found) == (kind, cells)


# Words, and where they are from


TAKEN, LEFT, CONFIRMED, REJECTED, TWICE, ADJUDICATED = range(6)  # items by what became of them


@pytest.fixture
def told() -> Path:
    """The export of six items, of each of which people say something else."""
    return made_once("told-texts", tell) / "out"


def tell(folder: Path) -> None:
    mend = text_annotators.edits(CANDIDATE, MENDED)
    first = {
        TAKEN: text_annotators.picks(CANDIDATE), LEFT: text_annotators.picks(SECOND), CONFIRMED: mend,
        REJECTED: text_annotators.rejects, TWICE: mend, ADJUDICATED: text_annotators.rejects,
    }  # fmt: skip
    second = {
        CONFIRMED: text_annotators.takes_edit,
        TWICE: lambda lease, texts: text_annotators.edits(lease.task.proposals[0], "Third words.")(lease, texts),
    }
    stages = [StagePlan("visla-paraphrase", name="paraphrase", settings={"overlap": 1})]
    study = studies.study(benchmark=text_annotators.visla(folder / "in", rows=6), stages=stages)
    stage = study.stages.get()
    for said in (first, second):
        text_annotators.in_order(
            studies.annotator(study),
            stage,
            list(said),
            lambda lease, texts, said=said: said[lease.task.item.position](lease, texts),
        )
    text_annotators.adjudicate(stage.tasks.get(item__position=ADJUDICATED), {"second_positive": MENDED})
    export(study, folder / "out")


def of_item(position: int, rows: list[dict]) -> list[dict]:
    return [row for row in rows if row["position"] == position]


def item(folder: Path, position: int, name: str = "items.jsonl") -> dict:
    (found,) = of_item(position, lines(folder / name))
    return found


def second_positive(folder: Path, position: int) -> dict:
    return next(one for one in item(folder, position)["captions"] if one["role"] == "second_positive")


def test_a_candidate_taken_as_it_is_becomes_the_second_positive(told):
    taken = {"changed_by": "paraphrase", "made_of": CANDIDATE, "imported": "Basket 0 holds a cat."}
    words = "There is a cat, number 0, in basket 0."
    assert second_positive(told, TAKEN) == {"role": "second_positive", "text": words, **taken}
    rows = {row["id"]: row for row in pq.read_table(told / "data.parquet").to_pylist()}
    assert rows[item(told, TAKEN)["id"]]["second_positive"] == words


def test_what_stays_as_it_came_says_nothing_more(told):
    assert [set(one) for one in item(told, LEFT)["captions"]] == [{"role", "text"}] * 5


def test_a_confirmed_edit_says_what_it_was_and_what_of(told):
    found = second_positive(told, CONFIRMED)
    assert (found["text"], found["made_of"], found["changed_by"]) == (MENDED, CANDIDATE, "paraphrase")
    (decision,) = item(told, CONFIRMED)["decisions"]
    assert (decision["votes"], decision["decided_by"]) == ({"edit-A-01-1-1": 1, "edited": 1}, "unanimous")


def test_a_rejected_item_keeps_its_reason(told):
    assert item(told, REJECTED, "dropped.jsonl")["reason"] == "rejected"
    (row,) = of_item(REJECTED, pq.read_table(told / "judgments.parquet").to_pylist())
    assert (row["answer"], row["reason"]) == ("reject", "None of them says the same.")


def test_an_edit_of_an_edit_names_it(told):
    first, second = of_item(TWICE, lines(told / "texts.jsonl"))
    assert (second["made_of"], second["before"]) == (first["edit"], MENDED)
    task = item(told, TWICE, "tasks.jsonl")
    assert (task["proposals"], task["state"]) == ([first["edit"], second["edit"]], None)


def test_an_adjudicators_words_are_theirs_without_a_name(told):
    row = item(told, ADJUDICATED, "texts.jsonl")
    assert (row["by"], row["annotator"], row["text"], row["made_of"]) == ("adjudicator", None, MENDED, SECOND)
    (decision,) = lines(told / "adjudications.jsonl")
    assert decision["content"]["texts"] == {"second_positive": MENDED}
    assert second_positive(told, ADJUDICATED)["text"] == MENDED


def test_the_card_counts_what_became_of_the_items(told):
    assert "paraphrase (visla-paraphrase): 6 in, 4 kept, 2 accepted, 2 edited, 1 rejected" in card(told.parent)


def card(folder: Path) -> str:
    return (folder / "out/README.md").read_text()


def test_every_revision_of_a_text_is_there_with_who_made_it(paraphrase, tmp_path):
    person, stage = studies.annotator(paraphrase), paraphrase.stages.get()
    lease = text_annotators.screen(person, stage)
    for words in ("First words.", "Second words."):
        text_annotators.answer(lease, text_annotators.edits(CANDIDATE, words)(lease, {}))
    text_annotators.undo(person)
    text_annotators.answer(lease, text_annotators.picks(SECOND)(lease, {}))
    export(paraphrase, tmp_path / "out")
    rows = lines(tmp_path / "out/texts.jsonl")
    named = [(row["annotator"], row["revision"], row["text"], row["counted"], row["withdrawn"]) for row in rows]
    assert named == [
        ("A-01", 1, "First words.", False, False),
        ("A-01", 2, "Second words.", False, True),
        ("A-01", 4, "Basket 0 holds a cat.", True, False),
    ]
    assert [row["before"] for row in rows] == ["There is a cat, number 0, in basket 0."] * 2 + ["Basket 0 holds a cat."]
    assert [row["edit"] for row in rows] == ["edit-A-01-1-1", "edit-A-01-1-2", None]


def test_nothing_of_an_answer_is_lost_but_the_numbers_of_the_database(study, tmp_path):
    export(study, tmp_path / "out")
    rows = pq.read_table(tmp_path / "out/judgments.parquet").to_pylist()
    stored = Judgment.objects.filter(lease__slot__stage__study=study)
    told = sorted(json.dumps(json.loads(row["content"] or "{}").get("texts"), sort_keys=True) for row in rows)
    assert told == sorted(json.dumps(content.get("texts"), sort_keys=True) for content in stored_contents(stored))
    assert {row["content"] for row in rows if row["withdrawn"]} == {None}
    everything = b"".join(contents(tmp_path / "out").values())
    assert re.search(rb"edit-A-\d\d-1-\d", everything) and not re.search(rb"edit-\d", everything)


def stored_contents(judgments) -> list[dict]:
    return list(judgments.values_list("content", flat=True))


# The source's own layout


def test_the_source_folder_has_the_kept_rows_with_their_words(exports):
    out = exports("written")
    header, *rows = (out / "source/Generic_VISLA.tsv").read_bytes().decode().split("\r\n")
    kept = pq.read_table(out / "data.parquet").to_pylist()
    assert header == text_annotators.HEADER
    assert [row.split("\t")[1:] for row in rows] == [
        [row["caption"], row["second_positive"], row["negative_caption"]] for row in kept
    ]


def test_a_format_without_a_writer_says_why_it_has_no_source(tmp_path):
    export(studies.study(items=1), tmp_path / "out")
    assert not (tmp_path / "out/source").exists()
    assert "There is no `source/`" in card(tmp_path) and "came as jsonl" in card(tmp_path)


# The same state, the same bytes


def test_names_of_edits_do_not_depend_on_what_was_judged_before(tmp_path):
    told = []
    for name, items in (("one", [0, 1, 2]), ("two", [2, 0, 1])):
        stages = [StagePlan("visla-paraphrase", name="paraphrase", settings={"overlap": 1})]
        made = studies.study(benchmark=text_annotators.visla(tmp_path / name, rows=3), stages=stages)
        writer, reader = studies.annotator(made), studies.annotator(made)
        for said in (
            lambda lease, texts: text_annotators.edits(CANDIDATE, "Other words.")(lease, texts),
            text_annotators.takes_edit,
        ):
            text_annotators.in_order(
                writer if said is not text_annotators.takes_edit else reader, made.stages.get(), items, said
            )
        export(made, tmp_path / name / "out")
        told.append([(tmp_path / name / "out" / file).read_bytes() for file in ("tasks.jsonl", "items.jsonl")])
    assert told[0] == told[1]


# Anybody can recompute

MEASURING = {
    "hard-positive-rank": (text_annotators.hard_positives, {"overlap": 2, "sample": 8, "sample_each": True}),
    "sugarcrepe-compare": (text_annotators.two_origins, {"overlap": 1, "sample": 4, "sample_each": True}),
}


@pytest.mark.parametrize("protocol", MEASURING)
def test_every_figure_and_what_the_papers_report_can_be_recomputed(protocol):
    """Of the text protocols that only measure; tests/independent does so with VISLA's."""
    out = measured(protocol)
    ours = recompute(out)
    assert differences(ours, figures(out)) == []
    assert all(stage["paper"] for stage in ours["stages"])
    assert all(one["state"] for one in ours["outcomes"])


def measured(protocol: str) -> Path:
    """The export of a stage that three people worked on."""

    def make(folder: Path) -> None:
        build, settings = MEASURING[protocol]
        stages = [StagePlan(protocol, name="asked", settings=settings)]
        made = studies.study(benchmark=build(folder / "in"), stages=stages)
        text_annotators.work(made, people=3)
        export(made, folder / "out")

    return made_once(f"measured-{protocol}", make) / "out"


def test_the_simulated_work_has_something_of_everything(exports):
    out = exports("written")
    paraphrase, triplet = papers(Files(out)).values()
    assert min(paraphrase["fates"][fate] for fate in ("accepted", "confirmed", "dropped")) > 0
    assert min(triplet["fates"][fate] for fate in ("accepted", "edited", "dropped")) > 0
    assert {"only_answer", "unanimous"} <= {row["decided_by"] for row in lines(out / "tasks.jsonl")}


def test_a_measuring_stage_keeps_every_item_and_says_so():
    out = measured("sugarcrepe-compare")
    data = pq.read_table(out / "data.parquet").to_pylist()
    assert (len(data), data[0]["origins"], data[0]["other_negative_caption"]) == (
        12,
        json.dumps(["SUGARCREPE", "ARO+CREPE"]),
        "A second cat.",
    )
    assert "asked (sugarcrepe-compare): 8 asked, 8 answered; it drops nothing" in card(out.parent)
