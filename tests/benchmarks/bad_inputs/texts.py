"""Rows 18 to 24, 27, 28, 30 to 35, 38, 42 and 43: what tables, JSON and JSON Lines have besides what matrix.py says of
every format."""

import csv
import io
import json
from pathlib import Path

from tests.benchmarks.bad_inputs.case import Cases, ImportFiles, item, manifest, written

TEXTS = Cases()
COLUMNS = ["filename", "caption", "negative_caption", "type", "subtype", "index", "hn_img_0", "hn_img_1"]


def cells(number: int = 1, **values: str) -> list[str]:
    names = {"filename": f"{number}.jpg", "hn_img_0": f"{number}-0.jpg", "hn_img_1": f"{number}-1.jpg"}
    texts = {"caption": f"A red cup, {number}.", "negative_caption": f"A blue cup, {number}."}
    kinds = {"type": "swap", "subtype": "att", "index": str(number)}
    return [{**names, **texts, **kinds, **values}[column] for column in COLUMNS]


def text_of(*rows: list[str], header: list[str] = COLUMNS, **dialect) -> str:
    file = io.StringIO()
    csv.writer(file, **dialect).writerows([header, *rows])
    return file.getvalue()


def table(folder: Path, content: str | bytes) -> ImportFiles:
    return ImportFiles("bivlc-candidates", written(folder, "table.csv", content))


def lines(folder: Path, content: str | bytes) -> ImportFiles:
    return ImportFiles("jsonl", written(folder, "items.jsonl", content))


def crepe(folder: Path, content: str | bytes) -> ImportFiles:
    return ImportFiles("sugarcrepe", written(folder, "swap_obj.json", content))


def add(row: int, code: str | None, name: str, give, *content) -> None:
    """`give` is table, lines, crepe or manifest."""
    TEXTS.add(row, code, lambda folder: give(folder, *content), name)


def caption(text: str) -> list[dict]:
    """One item with this positive caption."""
    return [item(captions=[{"role": "positive", "text": text}, {"role": "negative", "text": "Another."}])]


def crepe_row(**values) -> dict:
    return {"filename": "1.jpg", "caption": "A red cup.", "negative_caption": "A blue cup.", **values}


PLAIN = text_of(cells(1), cells(2))
NASTY = ["<script>alert(1)</script>", '<img src=x onerror="x">', '<b hx-get="/">', "{{7*7}}", "javascript:alert(1)"]

add(18, None, "markup_in_header", table, text_of([*cells(), "x"], header=[*COLUMNS, "<script>"]))

add(19, None, "utf16_be_mark", lines, b"\xfe\xff" + json.dumps(item()).encode("utf-16-be"))
add(19, "ENCODING", "utf16_be_no_mark", lines, json.dumps(item()).encode("utf-16-be"))
add(20, "ENCODING", "cp949", table, text_of(cells(caption="빨간 컵과 파란 접시")).encode("cp949"))
add(21, "NUL_CHARACTER", "nul_in_header", table, PLAIN.replace("negative_caption", "negative\0caption", 1))
add(21, "NUL_CHARACTER", "nul_in_field_name", lines, json.dumps(item()).replace('"subtype"', '"sub\\u0000type"'))
add(22, "BAD_UNICODE", "half_a_pair_in_field_name", lines, json.dumps({**item(), "sub\ud83dtype": "att"}))
add(22, "BAD_UNICODE", "half_a_pair_in_key", crepe, json.dumps({"\ud83d": crepe_row()}))
add(23, "FIELD_TOO_LONG", "long_in_bytes_alone", table, text_of(cells(caption="😀" * 4_001)))
add(
    24,
    None,
    "right_to_left_override",
    table,
    text_of(cells(caption="A \u202ecup\u202c\u200b.", filename="a\u202egpj.jpg")),
)
for place, formula in enumerate(["+1", "@x", "\tx", "\rx"]):
    add(27, None, f"formula_{place}", table, text_of(cells(caption=formula)))
add(28, "DUPLICATE_ID", "same_row_twice", manifest, [item(1), item(1)])
add(30, "SAME_CAPTIONS", "same_captions", table, text_of(cells(caption="A cup.", negative_caption="A cup.")))
add(30, None, "same_item_under_two_ids", manifest, [item(1), item(1, id="other")])

add(31, "COLUMN_MISSING", "missing_column", table, text_of(cells()[1:], header=COLUMNS[1:]))
add(31, "COLUMN_MISSING", "column_twice", table, text_of([*cells(), "x"], header=[*COLUMNS, "caption"]))
add(31, "COLUMN_MISSING", "column_without_name", table, text_of(["0", *cells()], header=["", *COLUMNS]))
add(31, None, "extra_column", table, text_of([*cells(), "x"], header=[*COLUMNS, "note"]))
add(31, "NO_ROWS", "header_alone", table, text_of())
add(31, "EMPTY_FILE", "blank_table", table, "\n\n\n")
add(31, "NO_ROWS", "blank_lines_alone", lines, "\n\n")
add(31, "NO_ROWS", "no_rows_in_json", crepe, "{}")
add(32, "RAGGED_ROW", "long_row", table, PLAIN + ",".join(["x"] * 9) + "\n")
add(32, "UNCLOSED_QUOTE", "quote_to_the_end", table, PLAIN + '3.jpg,"A cup,x\n' + "a,b\n" * 50)
add(
    32,
    "UNCLOSED_QUOTE",
    "quote_to_the_next_quote",
    table,
    text_of(cells(1), quoting=csv.QUOTE_ALL) + '"3.jpg","A\n"4.jpg","B"\n',
)
add(32, "BAD_QUOTE", "quote_in_mid_cell", table, PLAIN + '3.jpg,"A "red" cup",x,swap,att,3,a,b\n')
add(32, "WRONG_DELIMITER", "tabs", table, text_of(cells(), delimiter="\t"))
for name, end in {"crlf": "\r\n", "cr": "\r", "lf": "\n"}.items():
    add(32, None, f"lines_end_in_{name}", table, text_of(cells(1), cells(2), lineterminator=end))
add(32, None, "line_break_and_quotes_in_a_cell", table, text_of(cells(caption='A "red"\ncup.')))
add(33, "LINE_TOO_LONG", "long_line", lines, " " * 3_000_000)


@TEXTS.case(33, "LINE_TOO_LONG")
def one_line_of_a_gigabyte(folder):
    return sparse(folder, 2**30)


@TEXTS.case(33, "LINE_TOO_LONG")
def five_gigabytes(folder):
    return sparse(folder, 5 * 2**30)


def sparse(folder: Path, size: int) -> ImportFiles:
    """A file of so many NUL bytes that takes no room."""
    given = table(folder, PLAIN)
    with given.path.open("r+b") as file:
        file.truncate(size)
    return given


@TEXTS.case(33, "FILE_TOO_LARGE")
def many_bytes_in_blank_lines(folder):
    given = lines(folder, "")
    with given.path.open("wb") as file:
        for _ in range(150):
            file.write(b" " * 999_999 + b"\n")
    return given


@TEXTS.case(33, "TOO_MANY_ROWS")
def many_line_ends(folder):
    return table(folder, PLAIN + "\n" * 20_000_000)


add(34, "JSON_TOO_DEEP", "depth_66", lines, json.dumps(item(meta={"a": json.loads("[" * 65 + "]" * 65)})))
add(34, "JSON_TOO_DEEP", "deep_and_never_closed", lines, '{"meta":' + "[" * 100_000)


@TEXTS.case(34, "JSON_INVALID")
def a_million_keys(folder):
    return crepe(folder, "{" + ",".join(f'"{number}":0' for number in range(1_000_000)) + "}")


add(34, "JSON_INVALID", "key_twice", crepe, '{"0": %s,\n"0": %s}' % ((json.dumps(crepe_row()),) * 2))
add(34, "JSON_INVALID", "nan", lines, json.dumps(item(meta={"score": float("nan")})))
add(34, "JSON_INVALID", "infinity", lines, json.dumps(item(meta={"score": float("-inf")})))
add(34, "JSON_INVALID", "too_large_number", lines, json.dumps(item()).replace('"swap"', "1e999"))
add(
    34,
    "JSON_INVALID",
    "five_thousand_digits",
    lines,
    json.dumps(item(meta={"n": 0})).replace(": 0}", f": {'9' * 5000}}}"),
)
add(34, "JSON_INVALID", "list_at_the_top", crepe, json.dumps([crepe_row()]))
add(34, "JSON_INVALID", "null_at_the_top", crepe, "null")
add(34, "JSON_INVALID", "list_on_a_line", lines, "[1]\n")
add(34, "WRONG_VALUE", "number_for_text", crepe, json.dumps({"0": crepe_row(caption=7)}))
add(35, None, "blank_lines_and_no_last_end", lines, json.dumps(item(1)) + "\n\n \n" + json.dumps(item(2)))
add(35, "JSON_INVALID", "trailing_comma", lines, json.dumps(item())[:-1] + ",}\n")


@TEXTS.case(35, "JSON_INVALID")
def one_bad_line_of_10_000(folder):
    good = [json.dumps(item(number)) for number in range(9_999)]
    return lines(folder, "\n".join([*good[:6000], "{bad", *good[6000:]]))


add(35, "UNKNOWN_FIELD", "misspelt_field", lines, json.dumps({**item(), "sub_type": "att"}))
OWN_ROLES = {  # of roles and attributes of the user's own: code, and what is wrong
    "role_with_a_capital": ("WRONG_VALUE", {"captions": [{"role": "Good", "text": "A cup."}]}),
    "role_too_long": ("WRONG_VALUE", {"texts": {"a" * 17: "A cup."}}),
    "role_in_two_fields": ("WRONG_VALUE", {"texts": {"positive": "A cup."}}),
    "text_that_is_a_number": ("WRONG_VALUE", {"texts": {"prompt": 7}}),
    "list_of_lists": ("WRONG_VALUE", {"lists": {"question": [["Is there a cup?"]]}}),
    "list_that_is_a_text": ("WRONG_VALUE", {"lists": {"question": "Is there a cup?"}}),
    "role_by_role": ("UNKNOWN_FIELD", {"texts": {"prompt": {"role": "prompt", "text": "A cup."}}}),
    "object_without_text": ("COLUMN_MISSING", {"texts": {"prompt": {"words": "A cup."}}}),
    "empty_text": ("VALUE_MISSING", {"lists": {"question": ["Is there a cup?", " "]}}),
    "too_many_texts": ("TOO_MANY_PARTS", {"lists": {"question": ["Is there a cup?"] * 199}}),
    "attribute_that_is_an_object": ("WRONG_VALUE", {"texts": {"prompt": {"text": "A cup.", "model": {}}}}),
    "attribute_that_is_null": ("WRONG_VALUE", {"images": {"picture": {"file": "1.jpg", "model": None}}}),
    "attribute_with_a_list_of_lists": ("WRONG_VALUE", {"lists": {"question": [{"text": "A", "parents": [[1]]}]}}),
    "attribute_with_a_capital": ("WRONG_VALUE", {"images": {"picture": {"file": "1.jpg", "Model": "m"}}}),
    "attribute_of_another_kind": ("WRONG_VALUE", {"texts": {"prompt": {"text": "A cup.", "licence": "CC0"}}}),
    "attribute_that_is_misspelt": ("UNKNOWN_FIELD", {"images": {"picture": {"file": "1.jpg", "license": "CC0"}}}),
    "attribute_too_long": ("FIELD_TOO_LONG", {"texts": {"prompt": {"text": "A cup.", "model": "m" * 201}}}),
    "attribute_with_many_values": ("TOO_MANY_PARTS", {"texts": {"prompt": {"text": "A", "parents": [1] * 101}}}),
    "too_many_attributes": (
        "TOO_MANY_PARTS",
        {"texts": {"prompt": {"text": "A", **{f"a{number}": 1 for number in range(21)}}}},
    ),
}
for name, (code, fields) in OWN_ROLES.items():
    add(35, code, name, manifest, [{**item(), **fields}])
for place, text in enumerate(["1e5", "TRUE", "NA", "9007199254740993", "2024-01-02"]):
    add(38, None, f"text_that_looks_like_more_{place}", table, text_of(cells(index=text, caption=text, type=text)))
add(38, "WRONG_VALUE", "number_as_id", lines, json.dumps(item(id=7)))
REMOTE = [
    "http://169.254.169.254/x.jpg",
    "file:///etc/passwd",
    "data:image/png;base64,xx",
    "\\\\host\\share\\x.jpg",
    "//host/x.jpg",
]
add(42, None, "gold_column", table, text_of([*cells(), "1"], header=[*COLUMNS, "is_gold?"]))
add(43, "VALUE_MISSING", "row_without_caption", table, text_of(cells(1), cells(2, caption=" ")))
