"""Rows 22, 30 to 34, 40 and 43 for the formats of published benchmarks, VISLA's tables and what has two sides: what
matrix.py does not say of every format."""

import json
from pathlib import Path

from tests.benchmarks.bad_inputs.case import Cases, ImportFiles, written
from tests.benchmarks.bad_inputs.texts import crepe_row

SOURCES = Cases()
GENERIC = ["filename", "caption", "second positive", "negative_caption"]
SPATIAL = ["image", "sent1", "sent2", "Best reference (Semantically close)", "Reference-2 (Completely irrelevant)"]


def triplet(number: int = 1, **values: str) -> list[str]:
    texts = {"caption": f"A cup on {number} books.", "second positive": f"{number} books under a cup."}
    row = {"filename": f"{number}.jpg", **texts, "negative_caption": f"A cup under {number} books.", **values}
    return [row[column] for column in GENERIC]


def tsv(*rows: list[str], header: list[str] = GENERIC, tab: str = "\t", end: str = "\r\n") -> str:
    return end.join(tab.join(row) for row in [header, *rows])


def visla(folder: Path, content: str | bytes) -> ImportFiles:
    return ImportFiles("visla", written(folder, "Generic_VISLA.tsv", content))


def sides(folder: Path, format: str, files: dict[str, object]) -> ImportFiles:
    """A folder that holds both sides; what is not text is written as JSON."""
    given = folder / "given"
    for name, content in files.items():
        (given / name).parent.mkdir(parents=True, exist_ok=True)
        written(given, name, content if isinstance(content, str | bytes) else json.dumps(content))
    return ImportFiles(format, given)


def vl_row(number: int = 1, caption: str = "cup on book", **values) -> dict:
    texts = {"true_caption": caption, "false_caption": "cup off book"}
    return {"image_id": str(number), **texts, "image_path": f"data/{number}.jpg", **values}


def hard(folder: Path, original: object, positive: object) -> ImportFiles:
    name = "vl_checklist_relations.json"
    return sides(folder, "hard-positives", {f"original/{name}": original, f"hard_positive/{name}": positive})


def compare(folder: Path, first: object, second: object) -> ImportFiles:
    return sides(folder, "sugarcrepe-compare", {"first/swap_obj.json": first, "second/swap_obj.json": second})


def add(row: int, code: str | None, name: str, give, *content) -> None:
    """`give` is visla, hard or compare."""
    SOURCES.add(row, code, lambda folder: give(folder, *content), name)


ROW, AGAIN = vl_row(), vl_row(caption="cup atop book")
PLAIN = tsv(triplet(1), triplet(2))

add(22, "BAD_UNICODE", "hard_positives_half_a_pair", hard, [ROW], [vl_row(caption="\ud83d")])
add(
    30,
    "SAME_CAPTIONS",
    "compare_same_captions",
    compare,
    {"0": crepe_row()},
    {"0": crepe_row(negative_caption="A red cup.")},
)
add(31, "COLUMN_MISSING", "visla_missing_column", visla, tsv(triplet()[:3], header=GENERIC[:3]))
add(31, "COLUMN_MISSING", "visla_column_twice", visla, tsv([*triplet(), "x"], header=[*GENERIC, "caption"]))
add(31, "COLUMN_MISSING", "visla_column_without_name", visla, tsv([*triplet(), "x"], header=[*GENERIC, " "]))
add(31, None, "visla_extra_column", visla, tsv([*triplet(), "x"], header=[*GENERIC, "note"]))
add(31, "NO_ROWS", "visla_header_alone", visla, tsv())
add(31, "EMPTY_FILE", "visla_blank", visla, "\r\n\r\n")
add(31, "COLUMN_MISSING", "hard_positives_missing_field", hard, [ROW], [{"image_id": "1", "true_captions": "cup"}])
add(31, "NO_ROWS", "hard_positives_empty_lists", hard, [], [])
add(32, "RAGGED_ROW", "visla_tab_in_a_cell", visla, tsv(triplet(caption="A\tcup.")))
add(32, "RAGGED_ROW", "visla_line_break_in_a_cell", visla, tsv(triplet(caption="A\ncup.")))
add(32, None, "visla_unclosed_quote", visla, tsv(triplet(caption='A "red cup.'), triplet(2)))
add(32, "WRONG_DELIMITER", "visla_commas", visla, tsv(triplet(), tab=","))
for name, end in {"cr": "\r", "lf": "\n"}.items():
    add(32, None, f"visla_lines_end_in_{name}", visla, tsv(triplet(1), triplet(2), end=end) + end)
add(33, "LINE_TOO_LONG", "visla_long_line", visla, PLAIN + "\r\n" + "x" * 3_000_000)
add(34, "JSON_INVALID", "hard_positives_object", hard, {"0": ROW}, [AGAIN])
add(34, "JSON_INVALID", "hard_positives_row_of_text", hard, ["cup"], [AGAIN])
add(34, "JSON_INVALID", "compare_key_twice", compare, '{"0": 1, "0": 2}', {"0": crepe_row()})
add(34, "WRONG_VALUE", "hard_positives_number", hard, [vl_row(image_id=1)], [AGAIN])
add(43, "INCOMPLETE_ROW", "visla_gap", visla, tsv(triplet(), triplet(2, negative_caption="")))
add(43, "INCOMPLETE_ROW", "visla_spatial_gap", visla, tsv(["1.jpg", "A.", "B.", " ", ""], header=SPATIAL))
add(43, "ONE_SIDED", "compare_row_of_one_side", compare, {"0": crepe_row()}, {"0": crepe_row(caption="A cup.")})

# Row 40, several files of which one is bad: sides that do not belong together
add(40, "SIDES_DIFFER", "hard_positives_other_image", hard, [ROW], [vl_row(2, "cup atop book")])
add(40, "SIDES_DIFFER", "hard_positives_other_negative", hard, [ROW], [{**AGAIN, "false_caption": "cup"}])
add(40, "SIDES_DIFFER", "hard_positives_other_path", hard, [ROW], [{**AGAIN, "image_path": "1.jpg"}])
add(40, "SIDES_DIFFER", "hard_positives_one_row_more", hard, [ROW, vl_row(2)], [AGAIN])


@SOURCES.case(31, "SIDE_MISSING")
def hard_positives_one_side(folder):
    return sides(
        folder, "hard-positives", {"original/vl_checklist_relations.json": [ROW], "hard_positive/other.json": []}
    )


@SOURCES.case(31, "SIDE_MISSING")
def hard_positives_loose_file(folder):
    return ImportFiles("hard-positives", written(folder, "vl_checklist_relations.json", json.dumps([ROW])))


@SOURCES.case(31, "NO_ROWS")
def hard_positives_other_names(folder):
    return sides(folder, "hard-positives", {"original/relations.json": [ROW], "hard_positive/relations.json": [AGAIN]})


@SOURCES.case(43, "ONE_SIDED")
def compare_file_of_one_side(folder):
    both = {"first/swap_obj.json": {"0": crepe_row()}, "second/swap_obj.json": {"0": crepe_row()}}
    return sides(folder, "sugarcrepe-compare", {**both, "second/add_att.json": {"0": crepe_row()}})
