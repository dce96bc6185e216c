"""ARO's VG-Relation at full size: as many rows, each a crop of one of the images that a test draws.

    python -m bench.import_crops            (about 4 GB of temporary disk; several minutes)

The boxes are drawn: between a third and the whole of a side. Prints what import_full prints.
"""

import argparse
import json
import random
from pathlib import Path

from bench.import_full import SIDE, house, measure, pack

ROWS = 23_937  # ARO §2.1
EACH = 6  # crops of an image


def row(number: int, draw: random.Random) -> dict:
    width, height = draw.randint(SIDE // 3, SIDE), draw.randint(SIDE // 3, SIDE)
    x, y = draw.randint(0, SIDE - width), draw.randint(0, SIDE - height)
    box = {"bbox_x": x, "bbox_y": y, "bbox_w": width, "bbox_h": height}
    captions = {"true_caption": f"the cup is on plate {number}", "false_caption": f"plate {number} is on the cup"}
    return {"image_path": f"{number // EACH}.jpg", **box, **captions, "relation_name": "on"}


def written(count: int, into: Path) -> Path:
    draw = random.Random(1)
    into.write_text(json.dumps([row(number, draw) for number in range(count)]))
    return into


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=ROWS)
    count = options.parse_args().rows
    with house() as var:
        pack([f"{number}.jpg" for number in range(1 + count // EACH)], var / "images.tar")
        measure("aro", written(count, var / "visual_genome_relation.json"), var / "images.tar")


if __name__ == "__main__":
    main()
