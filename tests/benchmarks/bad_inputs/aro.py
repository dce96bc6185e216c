"""Rows 17, 31, 34 and 38 for ARO's lists and the images that crops are cut of: what matrix.py does not say of every
format."""

import json
from pathlib import Path

from tests.benchmarks.bad_inputs.case import Cases, ImportFiles, written
from tests.benchmarks.bad_inputs.images import saved
from tests.builders.aro_rows import attribution, relation
from tests.builders.quartered_picture import quarters, turned

ARO = Cases()
BOX = (0, 0, 9, 9)


def listed(folder: Path, rows: object) -> ImportFiles:
    content = rows if isinstance(rows, str | bytes) else json.dumps(rows)
    return ImportFiles("aro", written(folder, "visual_genome_relation.json", content))


def cut(folder: Path, data: bytes) -> ImportFiles:
    """Two crops of one image."""
    (folder / "images").mkdir()
    written(folder, "images/a.png", data)
    rows = [relation(0, BOX), relation(1, (2, 2, 5, 5))]
    return ImportFiles("aro", listed(folder, rows).path, folder / "images")


def add(row: int, code: str | None, name: str, give, content) -> None:
    """`give` is listed or cut."""
    ARO.add(row, code, lambda folder: give(folder, content), f"aro_{name}")


add(17, None, "crops_of_a_turned_image", cut, turned(quarters()))
add(17, None, "crops_of_cmyk", cut, saved(quarters(mode="CMYK"), "JPEG"))
add(31, "COLUMN_MISSING", "other_name", listed, [relation(bbox_w=..., bbox_width=9)])
add(31, "NO_ROWS", "no_rows", listed, [])
add(34, "JSON_INVALID", "no_list", listed, {"0": relation()})
add(34, "JSON_INVALID", "a_key_twice", listed, '[{"bbox_x": 1, "bbox_x": 2}]')
add(34, "JSON_INVALID", "infinity", listed, '[{"bbox_x": Infinity}]')
add(34, "WRONG_VALUE", "half_a_pixel", listed, [relation(0, (0.5, 0, 9, 9))])
add(34, "WRONG_VALUE", "one_attribute", listed, [attribution(attributes=["white"])])
add(38, None, "texts_that_look_like_values", listed, [relation(image_id="007", note="NA", relation_name="null")])
add(31, "CROP_OUTSIDE", "negative_box", listed, [relation(0, (-1, 0, 9, 9))])
