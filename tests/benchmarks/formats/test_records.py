"""What each format reads, and what is checked across records."""

import json
from dataclasses import replace

import pytest

from benchmarks.formats.base import ProblemLog
from benchmarks.formats.checks import check_records
from benchmarks.formats.jsonl import to_line
from benchmarks.formats.registry import FORMATS
from benchmarks.formats.suspect_text import damaged
from benchmarks.records import CaptionRecord, ImageRecord, ItemRecord, Origin
from tests.benchmarks.bad_inputs.case import written
from tests.benchmarks.bad_inputs.texts import cells, crepe_row, table, text_of


def read(name: str, path) -> tuple[list[ItemRecord], ProblemLog]:
    log = ProblemLog()
    return check_records(FORMATS[name].read(path, log), log), log


def record(key: str = "1", row: int = 1, **fields) -> ItemRecord:
    captions = (CaptionRecord("positive", "A red cup."), CaptionRecord("negative", "A blue cup."))
    return ItemRecord(**{"key": key, "type": "", "subtype": "", "captions": captions, "images": (),
                         "origin": Origin("f", row), **fields})  # fmt: skip


def codes(*records: ItemRecord) -> tuple[list[str], list[str]]:
    log = ProblemLog()
    check_records(records, log)
    return [problem.code for problem in log.problems], [note.code for note in log.notes]


def test_bivlc_candidates(tmp_path):
    header = ["note", "filename", "caption", "negative_caption", "type", "subtype", "index", "hn_img_1", "hn_img_0"]
    row = ["x", "1.jpg", "A cat.", "A dog.", "replace", "obj", "007", "b.jpg", "a.jpg"]
    found, log = read("bivlc-candidates", table(tmp_path, text_of(row, header=header)).path)
    assert found[0].key == "007" and found[0].origin == Origin("table.csv", 2)
    assert found[0].caption("negative") == "A dog." and found[0].meta == {"note": "x"}
    assert [image.name for image in found[0].images] == ["1.jpg", "a.jpg", "b.jpg"]
    assert [note.code for note in log.notes] == ["EXTRA_COLUMN"]


def test_sugarcrepe_folder(tmp_path):
    written(tmp_path, "swap_obj.json", json.dumps({"12": crepe_row(extra=[1])}))
    written(tmp_path, "other.json", "{}")
    found, log = read("sugarcrepe", tmp_path)
    assert (found[0].key, found[0].type, found[0].subtype) == ("swap_obj-12", "swap", "obj")
    assert found[0].meta == {"extra": [1]} and found[0].images == (ImageRecord("positive", "1.jpg"),)
    assert sorted({note.code for note in log.notes}) == ["FILE_IGNORED", "SUBSET_MISSING"]


def test_sugarcrepe_lists_the_problems_of_every_file(tmp_path):
    written(tmp_path, "add_att.json", "{")
    written(tmp_path, "swap_obj.json", json.dumps({"0": crepe_row(caption=None)}))
    log = read("sugarcrepe", tmp_path)[1]
    assert [problem.file for problem in log.problems] == ["add_att.json", "swap_obj.json"]


def test_a_folder_without_sugarcrepe_files_is_refused(tmp_path):
    assert [problem.code for problem in read("sugarcrepe", tmp_path)[1].problems] == ["NO_ROWS"]


def test_a_missing_file_is_a_problem_and_no_crash(tmp_path):
    assert [problem.code for problem in read("jsonl", tmp_path / "gone.jsonl")[1].problems] == ["FILE_UNREADABLE"]


def test_jsonl_holds_all_that_an_item_can_hold(tmp_path):
    whole = record(
        type="swap",
        subtype="att",
        captions=(CaptionRecord("positive", 'A "red"\n cup. 👩‍👩‍👧'), CaptionRecord("second_positive", "Red cup.")),
        images=(ImageRecord("candidate", "a/b.jpg", "CC BY", "A. Person"), ImageRecord("candidate", "c.jpg")),
        meta={"n": 9007199254740993, "deep": [{"x": None}]},
        truth={"bivlc-choose": ["candidate-0"]},
    )
    found, log = read("jsonl", written(tmp_path, "f", to_line(whole) + to_line(record("2"))))
    assert log.count == 0
    assert found == [whole, record("2", row=2)]


PICTURES = tuple(ImageRecord("picture", f"{n}.png", attributes={"model": f"m-{n}"}) for n in range(4))
PREFERENCE = record(captions=(CaptionRecord("prompt", "A red cup."),), images=PICTURES)
QUESTIONS = record(
    captions=(
        CaptionRecord("question", "Is there a cup?"),
        CaptionRecord("question", "Is it red?", {"parents": [1], "source": "dsg", "hard": False}),
    ),
    images=(ImageRecord("picture", "7.png", "CC BY", crop=(0, 0, 8, 8), attributes={"model": "m", "seed": 7}),),
)
OPTIONS = record(
    captions=(
        CaptionRecord("positive", "Two cups."),
        CaptionRecord("question", "Which is left?"),
        CaptionRecord("first_answer", "The red one."),
        CaptionRecord("second_answer", "The blue one."),
    ),
    images=(ImageRecord("first", "a.png"), ImageRecord("second", "b.png")),
)
BY_ROLE = [
    (PREFERENCE, {
        "texts": {"prompt": "A red cup."},
        "images": {"picture": [{"file": f"{n}.png", "model": f"m-{n}"} for n in range(4)]},
    }),
    (QUESTIONS, {
        "lists": {"question": [
            "Is there a cup?", {"text": "Is it red?", "parents": [1], "source": "dsg", "hard": False},
        ]},
        "images": {"picture": {
            "file": "7.png", "licence": "CC BY", "crop": [0, 0, 8, 8], "model": "m", "seed": 7,
        }},
    }),
    (OPTIONS, {
        "captions": [{"role": "positive", "text": "Two cups."}],
        "texts": {
            "question": "Which is left?", "first_answer": "The red one.", "second_answer": {"text": "The blue one."},
        },
        "images": {"first": "a.png", "second": ["b.png"]},
    }),
]  # fmt: skip


@pytest.mark.parametrize(("whole", "fields"), BY_ROLE, ids=["preference", "questions", "options"])
def test_jsonl_takes_roles_of_the_users_own(tmp_path, whole, fields):
    found, log = read("jsonl", written(tmp_path, "f", json.dumps({"id": "1", **fields})))
    assert (found, log.problems) == ([whole], [])
    assert read("jsonl", written(tmp_path, "f", to_line(whole)))[0] == [whole]
    assert whole == found[0] and {whole.captions[0]: 1}[found[0].captions[0]] == 1


def test_attributes_are_found_by_identity_and_stay_with_a_changed_text():
    assert QUESTIONS.attributes().keys() == {"caption-question-1", "picture-0"}
    assert QUESTIONS.attributes()["caption-question-1"]["parents"] == [1]
    before, after = (CaptionRecord("prompt", text, {"source": "x"}) for text in ("A cup.", "A bowl."))
    assert replace(PREFERENCE, captions=(before,)).with_captions({"prompt": "A bowl."}).captions == (after,)


def test_duplicate_ids_name_both_rows():
    log = ProblemLog()
    check_records([record("a", 2), record("b", 3), replace(record("a", 9), origin=Origin("g", 9))], log)
    assert [(problem.file, problem.row) for problem in log.problems] == [("g", 9)]
    assert "Row 2 of f" in log.problems[0].advice


def test_captions_must_differ_to_the_letter():
    same = tuple(CaptionRecord(role, "A cup.") for role in ("positive", "negative"))
    spaced = (CaptionRecord("positive", "A cup."), CaptionRecord("negative", "A cup. "))
    assert codes(record(captions=same))[0] == ["SAME_CAPTIONS"]
    assert codes(record(captions=spaced))[0] == []


def test_every_problem_of_a_record_is_listed():
    bad = record(" ", type="t" * 61, captions=(CaptionRecord("Good", ""),), images=(ImageRecord("positive", "../x"),))
    assert codes(bad)[0] == ["VALUE_MISSING", "FIELD_TOO_LONG", "WRONG_VALUE", "VALUE_MISSING", "UNSAFE_PATH"]


@pytest.mark.parametrize("name", ["scene 1: dusk.jpg", "C.jpg", "a/b c/é.jpg", "data.jpg", "..jpg", "https.jpg"])
def test_ordinary_names_are_allowed(name):
    assert codes(record(images=(ImageRecord("positive", name),)))[0] == []


def test_names_that_tell_are_noted_once_a_role():
    names = (("positive", "pos_1.jpg"), ("candidate", "neg_1.jpg"), ("candidate", "neg_2.jpg"))
    images = tuple(ImageRecord(role, name) for role, name in names)
    assert codes(record(images=images)) == ([], ["REVEALING_NAME", "REVEALING_NAME"])
    plain = (ImageRecord("positive", "000000219578.jpg"), ImageRecord("candidate", "postcard/negroni.jpg"))
    assert codes(record(images=plain)) == ([], [])


def test_hidden_characters_are_noted_and_kept():
    hidden = record(captions=(CaptionRecord("positive", "A \u202ecup\u202c."),))
    assert codes(hidden) == ([], ["INVISIBLE_CHARACTER"])


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("A caf\u00e9.", "A cafe\u0301."),  # NFC and NFD
        ("A red cup.", "A red\u00a0cup."),
        ("A red cup.", " A red  cup. "),
        ("A red cup.", "A r\u200bed cup."),
        ("It's a “cup” - red.", 'It’s a "cup" – red.'),
        ("COPE", "СОРЕ"),  # all Cyrillic: no word mixes scripts
        ("A T-shirt.", "A Τ-shirt."),  # a Greek capital tau
    ],
)
def test_captions_that_look_alike_are_noted(text, like):
    captions = (CaptionRecord("positive", text), CaptionRecord("negative", like))
    problems, notes = codes(record(captions=captions))
    assert problems == [] and notes.count("ALIKE_CAPTIONS") == 1


def test_captions_that_differ_visibly_are_not_noted():
    captions = tuple(CaptionRecord("option", text) for text in ("Résumé", "Resume", "resume", "re-sume", "Pезюме"[1:]))
    assert codes(record(captions=captions)) == ([], [])
    twice = tuple(CaptionRecord("option", "A cup.") for _ in range(2))  # equal ones are another matter
    assert codes(record(captions=twice)) == ([], [])


@pytest.mark.parametrize(
    ("word", "code"),
    [("rеd", "MIXED_SCRIPTS"), ("Ηello", "MIXED_SCRIPTS"), ("кот", None), ("T恤", None), ("β-carotene", None),
     ("日本のTシャツ", None), ("5µm", None)],
)  # fmt: skip
def test_scripts_that_mix_in_a_word_are_noted(word, code):
    assert codes(record(captions=(CaptionRecord("positive", f"A {word}."),))) == ([], [code] if code else [])


DAMAGED = ["caf\ufffd", *("café", "voilà", "20 °C", "naïve", "“cup”", "a – b", "кот", "日本", "Łódź", "😀")]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize("text", DAMAGED)
def test_text_damaged_before_it_came_is_noted(text, encoding):
    """Bytes that Windows-1252 leaves undefined are read as controls, as browsers do."""
    read = "".join(bytes([one]).decode(encoding, "ignore") or chr(one) for one in text.encode())
    given = text if "\ufffd" in text else read
    assert codes(record(captions=(CaptionRecord("positive", given),))) == ([], ["DAMAGED_TEXT"])
    part, sound = damaged(given)
    assert sound in text and part in given


@pytest.mark.parametrize(
    "text",
    ["«\u00a0café\u00a0»", "„Ä“", "CAFÉ’s", "NESCAFÉ®", "»É« ist", "IRMÃ”", "à\u00a0½ tasse", "SÃO", "5 €", "¿Ñu?"],
)
def test_sound_accents_beside_signs_are_not_damage(text):
    assert codes(record(captions=(CaptionRecord("positive", text),))) == ([], [])


def test_same_content_and_same_image_twice_are_noted():
    twice = (ImageRecord("candidate", "a.jpg"), ImageRecord("candidate", "a.jpg"))
    assert codes(record("1", images=twice), record("2", images=twice))[1] == ["SAME_IMAGE", "SAME_IMAGE", "SAME_ITEM"]
    other = replace(PREFERENCE, key="2", images=tuple(replace(one, attributes={}) for one in PICTURES))
    assert codes(PREFERENCE, other) == ([], [])


def test_notes_of_one_kind_do_not_crowd_out_another():
    log = ProblemLog()
    for row in range(150):
        log.note("MANY", "f", row, "", "x")
    log.note("FEW", "f", 1, "", "x")
    assert (len(log.notes), log.note_count) == (101, 151)
    log.drop_notes("MANY")
    assert ([note.code for note in log.notes], log.note_count) == (["FEW"], 1)


def test_nine_candidates_are_read_and_a_tenth_is_further_information(tmp_path):
    more = [f"hn_img_{number}" for number in range(2, 10)]
    header = ["filename", "caption", "negative_caption", "type", "subtype", "index", "hn_img_0", "hn_img_1", *more]
    found, _ = read("bivlc-candidates", table(tmp_path, text_of([*cells(), *more], header=header)).path)
    assert len(found[0].images_as("candidate")) == 9 and list(found[0].meta) == ["hn_img_9"]


@pytest.mark.real
def test_the_real_bivlc_table(real):
    found, log = read("bivlc-candidates", real / "data/bivlc/BiVLC_negative_imgs.csv")
    names = {image.name for record in found for image in record.images}
    assert (len(found), len(names), log.count, log.note_count) == (7512, 30_048 + 1_561, 0, 0)


@pytest.mark.real
def test_the_real_sugarcrepe(real):
    found, log = read("sugarcrepe", real / "data/sugarcrepe")
    assert (len(found), log.count) == (7511, 0)
    assert {item.type for item in found} == {"add", "replace", "swap"}
