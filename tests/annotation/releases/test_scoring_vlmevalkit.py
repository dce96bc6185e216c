"""The table for VLMEvalKit, read as its datasets of multiple choice do; the kit itself is on no package index."""

import ast
import hashlib
import io
import zlib
from base64 import b64decode
from pathlib import Path

import pandas
import PIL.Image
import pytest

from annotation.releases.verification.verifying import verify
from tests.annotation.releases.released import lines, mend
from tests.annotation.releases.test_scoring import scored

STUDIES = ("stages", "written")
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
PAIRS = """
import zlib

BYTES = True

def score(images, captions):
    return [zlib.crc32(image + caption.encode()) for image, caption in zip(images, captions)]
"""


DOCS = Path(__file__).parents[3] / "docs/reference/release-formats.md"


def open_bytes(content: bytes) -> PIL.Image.Image:
    return PIL.Image.open(io.BytesIO(content))


def listed(text: str) -> list[str]:
    return ast.literal_eval(text) if text.startswith("[") else [text]


def read(path: Path) -> pandas.DataFrame:
    """As the kit's ImageBaseDataset: what is at most 64 characters long is the index of a row with the same images."""
    data = pandas.read_csv(path, sep="\t")
    data = data[~pandas.isna(data["image"])]
    images = dict(zip(data["index"].astype(str), data["image"].astype(str), strict=True))
    assert all(len(images[one]) > 64 for one in images.values() if len(one) <= 64)
    found = [images[one] if len(one) <= 64 else one for one in images.values()]
    return data.assign(image=[[b64decode(one) for one in listed(text)] for text in found])


def options(row: pandas.Series) -> dict[str, str]:
    return {letter: row[letter] for letter in "ABCD" if letter in row and not pandas.isna(row[letter])}


def answer(row: pandas.Series) -> str:
    """Of a model that compares each picture with each caption."""
    captions = options(row) if len(row["image"]) == 1 else {"": row["question"].split("\n")[1]}
    scores = {
        letter or "AB"[place]: zlib.crc32(image + caption.encode())
        for place, image in enumerate(row["image"])
        for letter, caption in captions.items()
    }
    return max(scores, key=scores.get)


def test_pandas_reads_it_as_the_docs_say(released, monkeypatch):
    folder = released("stages")
    monkeypatch.chdir(folder)
    exec(DOCS.read_text().partition("Without the kit")[2].split("```")[1].removeprefix("py"), found := {})
    pictures, data = found["table"]["image"], read(folder / "vlmevalkit/test.tsv")["image"]
    assert [[one.size for one in row] for row in pictures] == [[open_bytes(one).size for one in row] for row in data]


def test_a_model_answers_as_many_rows_of_each_question_as_the_script_says(released, tmp_path):
    folder = released("stages")
    (tmp_path / "pairs.py").write_text(PAIRS)
    expected = scored(folder, "--functions", tmp_path / "pairs.py")
    data = read(folder / "vlmevalkit/test.tsv")
    of_the_kit = "index image image_path question A B answer category l2-category split"
    assert list(data) == [*of_the_kit.split(), "id", "asked"]
    assert list(data["index"]) == list(range(8 * expected["n"])) and {*data["split"]} == {"test"}
    hit = data.apply(lambda row: answer(row) == row["answer"], axis=1)
    for name in ("i_pos2t", "i_neg2t", "t_pos2i", "t_neg2i"):
        assert hit[data["asked"] == name].mean() == expected["measures"][name]["share"]
    items = {one["id"]: one for one in lines(folder / "items.jsonl")}
    for _, row in data.iterrows():
        paths = [one.removesuffix(".png") for one in listed(row["image_path"])]
        assert [hashlib.sha256(one).hexdigest() for one in row["image"]] == paths
        assert row["category"] == " ".join(filter(None, (items[row["id"]]["type"], items[row["id"]]["subtype"])))


def test_questions_without_images_are_left_out(released):
    data = pandas.read_csv(released("written") / "vlmevalkit/test.tsv", sep="\t")
    assert {*data["asked"]} == {"p1_n", "p2_n"} and not data["image"].isna().any()


def test_the_table_is_verified_against_the_other_files(released):
    folder = released("stages")
    table = folder / "vlmevalkit/test.tsv"
    before = table.read_bytes()
    table.write_bytes(before.replace(b'"A"\t"', b'"B"\t"', 1))
    mend(folder)
    assert f"{table.relative_to(folder)}: it does not have the questions" in str(verify(folder).problems)
    table.unlink()
    mend(folder)
    assert "manifest.json: it does not name vlmevalkit/test.tsv" in str(verify(folder).problems)
