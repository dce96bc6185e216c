"""The dataset card and the data statement: what people wrote comes through, what nobody stated is not there."""

import json
import re

import pytest
from huggingface_hub import DatasetCard

from annotation.exports import markdown
from annotation.measures.jackknife import INTERVAL_METHOD
from annotation.releases.documents import hub_metadata
from tests.builders.documented_release import JUDGMENT, release
from tests.lazy import LazyModule

datasets = LazyModule("datasets")

WORDS = {
    "summary": '# Not a heading\n- *not* a list <script>alert(1)</script>\n\n2. "Quoted": it\'s 100 % | 🐈 $x_1$ `c`',
    "authors": "no: #1; 'Ana' \"B\" [x](y)",
    "licence": "CC-BY-4.0",
    "language": "no, eu",
    "citation": "@misc{x,\n title={```}}",
    "collection": "Images of COCO, see https://example.org/a_b|c.",
    "platform": "Prolific",
    "contact": "a_b@example.org",
}


def test_the_hub_reads_the_head(tmp_path):
    folder = release(tmp_path / "a", WORDS).written()
    data = DatasetCard.load(folder / "README.md").data.to_dict()
    assert data["pretty_name"] == "cats 1.2"
    assert (data["license"], data["language"], data["size_categories"]) == ("cc-by-4.0", ["no", "eu"], ["n<1K"])
    assert data["annotations_creators"] == ["crowdsourced"] and data["source_datasets"] == ["extended|coco"]
    assert data["task_categories"] == ["image-to-text", "text-to-image"]
    default, judgments = data["configs"]
    assert [one["path"] for one in default["data_files"]] == ["data/train-*.parquet", "data/test-*.parquet"]
    assert judgments["data_files"] == [{"split": "rows", "path": "judgments.parquet"}]


def test_what_was_not_stated_is_not_in_the_head_and_said_to_be_not_stated_below(tmp_path):
    made = release(tmp_path / "a")
    data = DatasetCard.load(made.written() / "README.md").data.to_dict()
    assert not {"license", "language", "annotations_creators", "source_datasets"} & set(data)
    for said in (
        "Summary: not stated.",
        "Licence of the annotations: not stated",
        "**Uses.** Not stated.",
        "**Time frame.** Not stated.",
        "**Social impact.** Not stated.",
    ):
        assert said in made.text("README.md")
    assert "**Pay.** Not published." in made.text("README.md")


def test_splits_and_judgments_load(tmp_path, offline):
    folder = str(release(tmp_path / "a", WORDS).written())
    found = datasets.load_dataset(folder)
    assert {name: split.num_rows for name, split in found.items()} == {"train": 2, "test": 1}
    assert found["test"][0]["image"].size == (200, 190)
    assert datasets.load_dataset(folder, "judgments", split="rows")[0]["answer"] == JUDGMENT["answer"]
    assert datasets.load_dataset("json", data_files=f"{folder}/items.jsonl")["train"].num_rows == 3


def test_tables_without_rows_are_named_and_load_as_streams(tmp_path, offline):
    made = release(tmp_path / "a", WORDS)
    folder = made.written()
    empty = ["adjudications.jsonl", "corrections.jsonl", "dropped.jsonl", "flags.jsonl", "not_asked.jsonl",
             "tasks.jsonl", "texts.jsonl"]  # fmt: skip
    named = ", ".join(f"`{name}`" for name in empty)
    card = made.text("README.md")
    assert f"The library opens tables without rows only as streams. These have none: {named}.\n" in card
    call = re.search(r"^rows = (load_dataset.*)$", card, re.M)[1].replace("path/to/this/folder", str(folder))
    names = {"Features": datasets.Features, "load_dataset": datasets.load_dataset}
    for path in sorted(folder.glob("*.jsonl")):
        if path.name in empty:
            assert path.stat().st_size == 0
            assert [*eval(call.replace(empty[0], path.name), names)] == []
        else:
            assert datasets.load_dataset("json", data_files=str(path))["train"].num_rows > 0


def test_another_release_in_the_same_place_is_what_loads(tmp_path, offline):
    for rows in (3, 4):
        made = release(tmp_path / "a")
        extra = (made.folder / "data/train-00000-of-00001.parquet").read_bytes()
        if rows == 4:
            (made.folder / "data/test-00000-of-00001.parquet").write_bytes(extra)
            made.manifest["files"]["data/test-00000-of-00001.parquet"]["sha256"] = "0" * 64
        assert sum(split.num_rows for split in datasets.load_dataset(str(made.written())).values()) == rows
        made.folder.rename(tmp_path / f"gone{rows}")


def test_an_empty_split_is_told_and_the_others_load(tmp_path, offline):
    made = release(tmp_path / "a", splits={"train": {}, "validation": {}, "test": {}})
    assert set(datasets.load_dataset(str(made.written()))) == {"train", "test"}
    assert "| `validation` | 0 | 0 |" in made.text("README.md")


def test_words_come_through_as_they_were_written(tmp_path):
    made = release(tmp_path / "a", WORDS)
    made.written()
    for name in ("README.md", "data_statement.md"):
        text = made.text(name)
        assert '\\# Not a heading\\\n\\- \\*not\\* a list \\<script\\>alert(1)\\</script\\>\n\n2\\. "Quoted"' in text
        assert "<script>" not in text and "🐈 \\$x\\_1\\$ \\`c\\`" in text
        assert "A-01: Answered \\| at \\*random\\*" in text
    card = made.text("README.md")
    assert "see <https://example.org/a_b>\\|c." in card
    assert "````bibtex\n@misc{x,\n title={```}}\n````" in card


def test_what_was_judged_and_what_came_of_it(tmp_path):
    made = release(tmp_path / "a")
    made.written()
    card = made.text("README.md")
    assert (
        "5 items are in the benchmark Animals; 3 were kept and 1 dropped. Not yet decided and in no split: 1." in card
    )
    assert "| choose | 5 | 3 | 1 | 1 |" in card and "| choose | no image fits | 1 | 20.0 % |" in card
    for row in (
        "percent agreement | 75.0 % | 50.0 % to 100.0 % | 4 pairs of judgments",
        "Cohen’s κ, mean of pairs | 0.40 | – | 1 pair of annotators",
        "Krippendorff’s α, nominal | 0.50 | 0.25 to 0.75 | 3 items",
    ):
        assert f"| choose | answer | {row} |\n" in card
    assert f"Intervals are over tasks: {INTERVAL_METHOD}." in card
    assert "| CC0 | 2 |\n" in card and "| not stated | 2 |\n" in card
    assert "a tie drops the item. Dropped if it is “None of them” (no image fits)." in card


def test_the_rule_says_how_many_items_were_decided_by_hand(tmp_path):
    made = release(tmp_path / "a")
    lines = [json.loads(line) for line in made.text("items.jsonl").splitlines()]
    for line in lines[:2]:
        line["decisions"][0]["decided_by"] = "adjudicator"
    (made.folder / "items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made.written()
    by_hand = "(no image fits). Decided by hand instead: 2 items (2 kept, 0 dropped)."
    assert by_hand in made.text("README.md")


def test_what_people_were_measured_to_do(tmp_path):
    made = release(tmp_path / "a")
    shares = {"right": 1, "n": 2, "share": 0.5, "low": 0.1, "high": 0.9}
    ranked = {**shares, "by_type": [{**shares, "type": "swap", "subtype": None}]}
    row = {"criterion": "sense", "better": [3, 1], "tie": 2, "n": 6, "type": ""}
    papers = {
        "hard-positive-rank": ranked,
        "sugarcrepe-compare": {"origins": ["A|B", "C"], "all": [row], "rows": [], "judgments": 6},
        "visla-triplet": {"fates": {"accepted": 3, "edited": 0, "dropped": 1}},
    }
    made.figures["stages"] = [
        {"study": {"stage_name": name, "protocol": name}, "paper": one} for name, one in papers.items()
    ]
    stages = [{"name": "i2t"}, {"name": "t2i"}]
    measures = {"group": {**shares, "chance": 1 / 6, "over": "annotators"}}
    measures["i2t"] = {**shares, "chance": 1 / 4, "over": "items"}
    made.figures["baselines"] = [{"answered": 7, "questions": 8, "stages": stages, "measures": measures}]
    made.written()
    card = made.text("README.md")
    assert "7 of 8 questions were answered, in i2t and t2i." in card
    assert "| Group: all four questions | 1 | 2 | 50.0 % | 10.0 % to 90.0 % | 16.7 % |" in card
    assert "do not show how annotators differ on: I2T: both images, image to text. Those intervals" in card
    assert "| all |  | 1 | 2 | 50.0 % |" in card and "| swap |  | 1 |" in card
    assert "| Type | By | A\\|B | C | Neither | Judgments |" in card and "| all | sense | 3 | 1 | 2 | 6 |" in card
    assert "Texts in visla-triplet: 3 taken as they were, 1 dropped." in card
    assert len([one for one in made.json("croissant.json")["rai:dataAnnotationAnalysis"] if "1 of 2 items" in one]) == 3
    assert "95 % interval 10.0 % to 90.0 % over annotators." in made.text("croissant.json")


def test_simulated_annotators_are_a_warning_and_nobody_was_paid(tmp_path):
    made = release(tmp_path / "a", study={"name": "A", "benchmark": "B", "currency": "USD", "pay_per_hour": 12.0})
    made.written()
    assert "**Pay.** 12.00 USD per hour of active time." in made.text("README.md") and "Warning" not in made.text(
        "README.md"
    )
    path = made.folder / "annotators.jsonl"
    path.write_text(path.read_text().replace('"simulated": false', '"simulated": true'))
    made.written()
    card = made.text("README.md")
    assert "**Warning.** 2 of 2 annotators are programs" in card and "Nobody was paid" in card
    assert "machine-generated" in card and "human-validated" not in card


def test_only_files_that_are_there_are_listed(tmp_path):
    made = release(tmp_path / "a")
    del made.manifest["files"]["texts.jsonl"]
    made.written()
    assert "| `flags.jsonl` |" in made.text("README.md")
    assert "`texts.jsonl`" not in made.text("README.md") and "`csv/`" not in made.text("README.md")


def test_the_statement_has_what_the_figures_say_against_the_split(tmp_path):
    made = release(tmp_path / "a", WORDS)
    made.written()
    limits = made.text("data_statement.md").partition("## Limits")[2]
    assert "1 of 5 items" in limits and "No licence is known for 2 of 4 images" in limits


@pytest.mark.parametrize(
    "words", ["no", "1.0", ": #", "'\"\\", "a\u2028b\x85c\x7f", "\ufeffé 🐈", "%", "- x", "~", "2026-01-01"]
)
def test_yaml_reads_back_what_was_written(words):
    import yaml

    assert yaml.safe_load(f"name: {markdown.yaml_text(words)}") == {"name": words}


@pytest.mark.parametrize(
    ("said", "head"),
    [
        ("MIT", {"license": "mit"}),
        ("CC BY 4.0", {"license": "cc-by-4.0"}),
        ("ODbL-1.0", {"license": "odbl"}),
        ("My Own", {"license": "other", "license_name": "my-own"}),
        ("", {}),
    ],
)
def test_a_licence_by_the_hubs_name(said, head):
    assert hub_metadata.licence(said) == head


@pytest.mark.parametrize(
    ("words", "said"),
    [("12.00 EUR", "12.00 EUR"), ("1. a", "1\\. a"), ("- a", "\\- a"), ("-1", "-1"), ("a\nb", "a b"), ("---", "\\---")],
)
def test_marks_at_the_start_of_a_line(words, said):
    assert markdown.text(words) == said
