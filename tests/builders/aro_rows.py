"""Rows of ARO's two lists, as tests make them: by default over a quartered picture, `a.png`."""

import json
from pathlib import Path

from benchmarks.formats import aro
from tests.builders.quartered_picture import BLUE, GREEN, RED, YELLOW

QUARTERS = {RED: (0, 0, 40, 30), GREEN: (40, 0, 40, 30), BLUE: (0, 30, 40, 30), YELLOW: (40, 30, 40, 30)}


def relation(number: int = 0, box: tuple = (0, 0, 40, 30), **fields) -> dict:
    row = {"image_path": "a.png", **dict(zip(aro.BOX, box, strict=True))}
    row |= {"true_caption": f"the cat is watching the bird {number}"}
    row |= {"false_caption": f"the bird is watching the cat {number}", "relation_name": "watching"}
    return {name: value for name, value in {**row, **fields}.items() if value is not ...}


def attribution(number: int = 0, box: tuple = (0, 0, 40, 30), **fields) -> dict:
    captions = {"true_caption": f"the white cat and the black dog {number}"}
    captions |= {"false_caption": f"the black cat and the white dog {number}"}
    return relation(number, box, **captions, relation_name=..., attributes=["white", "black"]) | fields


def listed(folder: Path, rows: object, name: str = "list.json") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(rows))
    return folder / name


ODD = {"image_id": 2, **relation(obj2_name="größe", n=1.5, deep=[{"x": None}])}  # an order of its own
