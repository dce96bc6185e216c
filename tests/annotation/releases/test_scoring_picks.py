"""A release whose study asked for a pick with a right answer: its score.py and task, and second formulas."""

import csv
import json
import math
import random
import re
import subprocess
import sys
import urllib.parse
from collections import defaultdict
from pathlib import Path
from statistics import NormalDist

import pandas
import pyarrow.parquet as pq
import pytest

from annotation.exports.export import export_split
from annotation.models import Study
from annotation.protocols import library
from annotation.reader_reports import reports
from annotation.releases.scoring import questions
from annotation.releases.verification.verifying import verify
from benchmarks.models import Caption, Item
from tests.annotation.releases.released import change_json, change_lines, copied, lines, mend, release
from tests.annotation.releases.test_scoring import aggregated, loaded, scored, utils_of
from tests.builders import declared, text_annotators
from tests.builders.pipelines import with_originals
from tests.made_once import made_once

pytestmark = pytest.mark.django_db(transaction=True)
ITEMS = 24
MODEL = """
import zlib

BYTES = True

def score(images, captions):
    return [zlib.crc32(image + caption.encode()) % 5 for image, caption in zip(images, captions)]
"""


def asked(name: str) -> Study:
    """Sentences in pairs, of two types that alternate by pair."""
    study = declared.study(name, items=ITEMS)
    for item in Item.objects.filter(benchmark=study.benchmark):
        Item.objects.filter(pk=item.pk).update(type=("count", "place")[item.position // 2 % 2], subtype="")
        if name == "true-of-two-pictures":
            Caption.objects.filter(item=item).update(text=f"There are {item.position // 2} cups.")
    return study


@pytest.fixture
def folder(tmp_path, settings):
    """A release of that study of the library's protocol, judged by five; each is made once."""

    def of(name: str) -> Path:
        def make(made: Path) -> None:
            study = with_originals(asked(name))
            text_annotators.work(study, seed=3)
            settings.SITE_URL = "https://winnow.example"
            reports.set_door(study=study, exists=True, is_open=True, by="test")
            export_split(study=study, out=made / "export", by="test")
            release(made / "export", made / "release", splits={"test": 100}, forms=("imagefolder", "vlmevalkit"))

        return copied(made_once(f"picks-{name}", make) / "release", tmp_path / name)

    return of


def scored_without_libraries(folder: Path, predictions: Path) -> dict:
    command = [sys.executable, "-I", "-S", folder / "score.py", "--json", "--predictions", predictions]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd="/")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def second_formula(right: list[bool], chance: float) -> dict:
    """Wilson's interval as the roots of (p − x)² = z² x (1 − x) / n."""
    n, p, z2 = len(right), sum(right) / len(right), NormalDist().inv_cdf(0.975) ** 2
    a, b, c = 1 + z2 / n, -(2 * p + z2 / n), p * p
    low, high = ((-b + sign * math.sqrt(b * b - 4 * a * c)) / (2 * a) for sign in (-1, 1))
    return {"n": n, "share": p, "low": low, "high": high, "chance": chance}


def same(found: dict, right: list[bool], chance: float) -> None:
    wanted = second_formula(right, chance)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-9)


def said(folder: Path) -> list[tuple[str, str]]:
    """(item, answer) of each counted judgment."""
    rows = pq.read_table(folder / "judgments.parquet").to_pylist()
    rows = [row for row in rows if row["counted"] and row["kind"] == "judge" and row["answers"]]
    return [(row["item"], *json.loads(row["answers"]).values()) for row in rows]


def in_groups(verdicts: dict[str, bool], key: dict[str, str]) -> list[bool]:
    found = defaultdict(list)
    for item, right in verdicts.items():
        found[key[item]].append(right)
    return [all(of) for of in found.values()]


def test_answers_that_are_right_by_item(folder, tmp_path):
    made, dice = folder("true-of-two-pictures"), random.Random(5)
    items = lines(made / "items.jsonl")
    label = {item["id"]: item["meta"]["label"] for item in items}
    caption = {item["id"]: item["captions"][0]["text"] for item in items}
    answers = {item: dice.choice(["yes", "No.", "B", "Maybe"]) for item in label}
    with (tmp_path / "answers.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("id", "answer"), *answers.items()])
    found = scored_without_libraries(made, tmp_path / "answers.csv")

    meant = {"yes": "yes", "No.": "no", "B": "no", "Maybe": None}
    right = {item: meant[answer] == label[item] for item, answer in answers.items()}
    same(found["measures"]["accuracy"], [*right.values()], 1 / 2)
    sizes = [[*caption.values()].count(one) for one in set(caption.values())]
    same(found["measures"]["consistency"], in_groups(right, caption), sum(2.0**-n for n in sizes) / len(sizes))
    assert {*sizes} >= {2}
    for one in ("count", "place"):
        of_type = {item["id"]: right[item["id"]] for item in items if item["type"] == one}
        measures = next(group["measures"] for group in found["groups"] if group["type"] == one)
        same(measures["accuracy"], [*of_type.values()], 1 / 2)
    label |= {item["id"]: item["meta"]["label"] for item in lines(made / "dropped.jsonl")}
    people = [answer == label[item] for item, answer in said(made)]
    assert found["measures"]["accuracy"]["people"] == pytest.approx(sum(people) / len(people))
    assert any("name no option" in note for note in found["notes"])


def test_one_true_sentence_of_four_by_scores_and_by_a_model(folder, tmp_path):
    made, dice = folder("one-of-four"), random.Random(7)
    names = ["positive", "negative-0", "negative-1", "negative-2"]
    scores = {item["id"]: [dice.randint(0, 3) for _ in names] for item in lines(made / "items.jsonl")}
    rows = [["id", *(f"score_{name}" for name in names)], *([item, *of] for item, of in scores.items())]
    with (tmp_path / "scores.tsv").open("w", newline="") as file:
        csv.writer(file, delimiter="\t").writerows(rows)
    found = scored_without_libraries(made, tmp_path / "scores.tsv")
    right = [first > max(others) for first, *others in scores.values()]
    same(found["measures"]["accuracy"], right, 1 / 4)
    assert 0 < sum(right) < len(right) and any("tied scores" in note for note in found["notes"])

    (tmp_path / "model.py").write_text(MODEL)
    by_model = scored(made, "--functions", tmp_path / "model.py", "--out", tmp_path / "out.jsonl")
    pictures = {path.stem: path.read_bytes() for path in (made / "imagefolder/test/images").iterdir()}
    model = loaded(tmp_path / "model.py")
    right = []
    for item in lines(made / "items.jsonl"):
        texts = [caption["text"] for caption in item["captions"]]  # the positive one is first
        first, *others = model.score([pictures[item["images"][0]["sha256"]]] * 4, texts)
        right.append(first > max(others))
    same(by_model["measures"]["accuracy"], right, 1 / 4)
    assert scored(made, "--predictions", tmp_path / "out.jsonl") == {**by_model, "notes": by_model["notes"][:-1]}
    assert by_model["cut"] is None and "defines no cut(text)" in by_model["notes"][-1]

    cut = f"\n\ndef cut(text):\n    return [1] if text in {texts} else None\n"  # of the last item
    (tmp_path / "model.py").write_text(MODEL + cut)
    by_model = scored(made, "--functions", tmp_path / "model.py", "--out", tmp_path / "out.jsonl")
    alike = by_model["cut"]["in_items"]["count"]
    assert by_model["measures"]["accuracy"]["n"] + alike == len(right) and 0 < alike < len(right)
    assert by_model["measures"]["accuracy"]["read_alike"] == by_model["cut"]["alike"]["count"] == alike
    assert scored(made, "--predictions", tmp_path / "out.jsonl") == by_model


@pytest.mark.parametrize(
    ("name", "group", "chance"),
    [
        ("true-of-two-pictures", "consistency", 1 / 2),
        ("one-of-four", "", 1 / 4),
        ("question-two-images", "question", 1 / 2),
    ],
)
def test_the_harness_asks_the_question_of_the_study(folder, name, group, chance):
    datasets = pytest.importorskip("datasets")
    made = folder(name)
    assert verify(made).good
    utils = utils_of(made)
    data = datasets.load_dataset("parquet", data_files={"test": str(made / "data/test-*.parquet")})["test"]
    docs = list(utils.process_test(data))
    asked_of = {(one["item"], one["question"]): one for one in lines(made / "scoring/questions.jsonl")}
    assert len(docs) == 2 * len(asked_of) > 0
    assert {len(utils.doc_to_visual(doc)) for doc in docs} == {2 if name == "true-of-two-pictures" else 1}
    item = {one["id"]: one for one in lines(made / "items.jsonl")}
    for doc in docs:
        text = utils.doc_to_text(doc)
        shown = [one["text"] for one in asked_of[doc["winnow_item"], doc["winnow_question"]]["options"]]
        assert all(f". {option}\n" in text for option in shown)
        if name == "true-of-two-pictures":
            assert item[doc["winnow_item"]]["captions"][0]["text"] in text and "image 2" in text

    for doc, (_, row) in zip(docs, pandas.read_csv(made / "vlmevalkit/test.tsv", sep="\t").iterrows(), strict=True):
        options = [f"{letter}. {row[letter]}" for letter in "ABCD"[: len(doc["winnow_options"])]]
        assert "\n".join([row["question"], *options, "Answer with one letter."]) == doc["winnow_text"]
        assert (row["id"], row["answer"]) == (doc["winnow_item"], doc["winnow_letter"])

    perfect = [utils.process_results(doc, [doc["winnow_letter"]]) for doc in docs]
    always = [utils.process_results(doc, ["A"]) for doc in docs]
    dice = random.Random(11)
    drawn = [utils.process_results(doc, [dice.choice("ABCD"[: len(doc["winnow_options"])])]) for doc in docs]
    whole = {"accuracy", group} - {""}
    parts = {f"{one}/{type}" for one in whole for type in ("count", "place")}
    parts |= {f"{order}/{one}" for one in whole for order in ("first_order", "second_order")}
    assert {name for one in perfect for name in one} == {"tied", "unanswered", *whole, *parts}
    shares, _ = aggregated(utils, perfect)
    assert {name for name, share in shares.items() if share == 1} == shares.keys() - {"tied", "unanswered"}
    shares, _ = aggregated(utils, always)
    in_one_order = {name for name in shares if "_order/" in name}
    in_both = shares.keys() - in_one_order
    assert {name for name in in_both if shares[name] == 0} == in_both - {"tied"}
    assert sum(shares[name] for name in in_one_order) > 0
    both = defaultdict(list)
    for doc, one in zip(docs, drawn, strict=True):
        key = doc["winnow_item"], doc["winnow_question"]
        both[key].append(one["accuracy"]["choice"] in asked_of[key]["right"])
    shares, scores = aggregated(utils, drawn)
    right = [float(all(one)) for one in both.values()]
    assert (shares["accuracy"], sorted(scores["accuracy"])) == (sum(right) / len(right), sorted(right))
    letters = {doc["winnow_letter"] for doc in docs}
    assert len(letters) == round(1 / chance)  # the place of the right option tells nothing


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["id,answer", "x,yes"], "line 2: the split asks nothing about an item 'x'"),
        (["id,answer", "item-0,yes", "item-0,no"], "line 3: item-0 is answered twice"),
        (["id,answer", "item-0,yes"], "questions lack answers: item-1"),
        (["id,said", "item-0,yes"], "line 2: it has no answer"),
        (["id,score_yes", "item-0,1"], "line 2: it needs a number for each of score_no, score_yes"),
        (["id,score_yes,score_no", "item-0,1,nan"], "line 2: it needs a number for each"),
        (["id,question,answer", "item-0,colour,no"], "line 2: 'colour' is no question about item-0"),
    ],
)
def test_the_script_says_what_is_wrong_with_answers(folder, tmp_path, rows, words):
    (tmp_path / "answers.csv").write_text("\n".join(rows))
    with pytest.raises(SystemExit) as stopped:
        scored(folder("true-of-two-pictures"), "--predictions", tmp_path / "answers.csv")
    assert words in stopped.value.code


def test_the_questions_are_verified(folder):
    made = folder("one-of-four")
    change_lines(made / "scoring/questions.jsonl", lambda found: found[0].update(right=["negative-0"]))
    mend(made)
    assert "scoring/questions.jsonl: line 1 is not the question" in "\n".join(verify(made).problems)
    change_json(made / "manifest.json", lambda found: found["evaluation"].update(asks={"fit": "Which?"}))
    assert "its evaluation does not follow" in "\n".join(verify(made).problems)


def test_a_task_without_a_right_answer_is_no_question(folder):
    file = library.shipped("question-two-images").model_copy(update={"right": {"answer": {"first": "first_answer"}}})
    found = questions.Picks("one", file).questions(lines(folder("question-two-images") / "items.jsonl"))
    assert {(one["question"], *one["right"]) for one in found} == {("first", "first_answer")}


def test_the_card_says_that_there_is_no_script_and_where_to_report_an_item(folder):
    made = folder("describe")
    assert not [name for name in ("score.py", "scoring", "lmms_eval") if (made / name).exists()]
    card = (made / "README.md").read_text()
    assert "There is no `score.py`: it scores choices" in card
    address = eval(re.search(r'`("https:.*\))`', card)[1], {"urllib": urllib, "item": {"id": "a/b c"}})
    assert re.fullmatch(r"https://winnow\.example/report/[\w-]+/\?item=a%2Fb%20c", address)
    files = {name: library.shipped(name) for name in ("rank-images", "rich-feedback", "preference", "prompt-fit")}
    assert questions.picks_of(files) is None
