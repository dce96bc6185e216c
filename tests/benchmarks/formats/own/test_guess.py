"""What a column probably is, on tables as they are published."""

import json
from pathlib import Path

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.own.format import FORMAT, proposed
from benchmarks.formats.own.guess import guess

FOREIGN = Path(__file__).resolve().parents[5] / "shared" / "data" / "foreign"
GUESSED = {  # file: texts, images, further parts of the mapping, items
    "HallusionBench.json": (
        {"question": "question"}, {"picture": "filename"}, {"type": "category", "subtype": "subcategory"}, 60,
    ),
    "all_vsr_raw_data.jsonl": ({"caption": "caption"}, {"picture": "image"}, {"type": "relation"}, 12_809),
    "cap.dress.val.json": ({"caption": "captions"}, None, {}, 40),
    "coco_pope_adversarial.json": ({"question": "text"}, {"picture": "image"}, {"id": "question_id"}, 60),
    "dsg-1k-anns.csv": (
        {"positive": "text", "question": "question_natural_language"}, None,
        {"id": "item_id", "together": ["item_id"]}, 20,
    ),
    "naturalbench_test_set.json": ({"question": "1"}, {"picture": "2"}, {}, 80),
    "nlvr2_dev.json": ({"caption": "sentence"}, {"left": "left_url", "right": "right_url"}, {"id": "identifier"}, 60),
    "sugarcrepe_pp_replace_att.json": (
        {"positive": "caption", "second_positive": "caption2", "negative": "negative_caption"},
        {"positive": "filename"}, {"id": "id"}, 40,
    ),
    "tifa_human_annotations.json": ({"positive": "text"}, {"positive": "image_path"}, {"id": "key"}, 800),
}  # fmt: skip


@pytest.mark.real
@pytest.mark.parametrize("name", GUESSED)
def test_published_files_are_read_as_they_are(name):
    texts, images, more, count = GUESSED[name]
    log = ProblemLog()
    found = proposed(FOREIGN / name, log)[0].as_json()
    mapping = json.dumps(found)
    assert found == {"winnow": "mapping/1", "texts": texts, **({"images": images} if images else {}), **more}
    records = check_records(FORMAT.read(FOREIGN / name, log, mapping=mapping), log)
    assert (len(records), log.problems) == (count, [])


@pytest.mark.parametrize(
    ("row", "texts", "images"),
    [
        ({"image": "7.jpg", "caption": "A cup.", "foil": "A hat."}, {"positive": "caption", "negative": "foil"},
         {"positive": "image"}),
        ({"source_url": "7.jpg", "gt_caption": "A cup.", "swapped_caption": "A hat.", "split": "test"},
         {"positive": "gt_caption", "negative": "swapped_caption"}, {"positive": "source_url"}),
        ({"image": "7.jpg", "caption": "A cup."}, {"positive": "caption"}, {"positive": "image"}),
        ({"image": "7.jpg", "caption": "A cup.", "label": 1}, {"caption": "caption"}, {"picture": "image"}),
        ({"caption_0": "A cup.", "caption_1": "A hat.", "image_0": "7.jpg", "image_1": "8.jpg"},
         {"positive": "caption_0", "negative": "caption_1"}, {"positive": "image_0", "negative": "image_1"}),
        ({"img": "7.jpg", "Question": "Is it?", "A": "Yes", "B": "No", "answer": "A"},
         {"question": "Question", "option": ["A", "B"]}, {"picture": "img"}),
        ({"prompt": "A cup.", "image_0": "7.jpg", "image_1": "8.jpg", "image_2": "9.jpg"}, {"prompt": "prompt"},
         {"picture": ["image_0", "image_1", "image_2"]}),
        ({"filename": "7.jpg", "caption": "A cup.", "foil": "A hat.", "hn_img_0": "8.jpg", "hn_img_1": "9.jpg"},
         {"positive": "caption", "negative": "foil"},
         {"positive": "filename", "candidate": ["hn_img_0", "hn_img_1"]}),
        ({"left_image": "7.jpg", "right_image": "8.jpg", "sentence": "Both.", "label": "True"}, {"caption": "sentence"},
         {"left": "left_image", "right": "right_image"}),
        ({"n": 3, "x": 0.5}, {}, {}),
        ({"pic": "7.jpg", "Satz": "Ein roter Ball.", "split": "test"}, {"positive": "Satz"}, {"positive": "pic"}),
        ({"img": "7.jpg", "good": "A red ball.", "bad": "A blue ball."}, {"good": "good", "bad": "bad"},
         {"picture": "img"}),
    ],
)  # fmt: skip
def test_columns_are_told_by_names_and_contents(row, texts, images):
    found = guess([*row], [row, {**row}]).as_json()
    assert (found.get("texts", {}), found.get("images", {})) == (texts, images)


def test_names_of_given_images_are_recognised_without_ending_or_folder():
    rows = [{"candidate": "B005", "target": "B008", "captions": ["is red"]} for _ in range(3)]
    found = guess(["candidate", "target", "captions"], rows, ["images/B005.png", "images/B008.png"]).as_json()
    assert found["images"] == {"candidate": "images/{candidate}.png", "target": "images/{target}.png"}


@pytest.mark.parametrize("name", ["type", "category", "foil_type", "Error type"])
def test_a_column_called_a_type_is_one_though_each_row_has_its_own(name):
    rows = [{"caption": "A cup.", "foil": "A hat.", name: kind} for kind in ("swap", "add")]
    found = guess([*rows[0]], rows).as_json()
    assert (found["type"], found["texts"]) == (name, {"positive": "caption", "negative": "foil"})


@pytest.mark.parametrize(("name", "place"), [("image", "image"), ("photo", "{photo}.png")])
def test_an_id_after_which_the_images_are_called_is_no_second_image(name, place):
    rows = [{"key": f"x{n}", name: f"x{n + 1}{'.png' * (name == 'image')}", "text": "A cup."} for n in range(3)]
    found = guess(["key", name, "text"], rows, [f"x{n}.png" for n in range(4)]).as_json()
    assert (found["id"], found["images"]) == ("key", {"positive": place})
    assert guess(["key"], rows, [f"x{n}.png" for n in range(4)]).as_json()["images"] == {"key": "{key}.png"}
