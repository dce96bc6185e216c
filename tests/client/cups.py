"""A table of captions with images, as researchers have them."""

from pathlib import Path

from tests.builders.imports import jpeg


def cups(folder: Path, count: int = 4) -> list[dict]:
    """Rows whose images lie in the folder."""
    folder.mkdir(exist_ok=True)
    rows = []
    for number in range(count):
        names = [f"{number}.jpg", f"{number}-a.jpg", f"{number}-b.jpg"]
        for place, name in enumerate(names):
            (folder / name).write_bytes(jpeg(3 * number + place))
        captions = {"caption": f"A red cup, {number}.", "negative_caption": f"A blue cup, {number}."}
        images = {"image": names[0], "candidate_image_1": names[1], "candidate_image_2": names[2]}
        rows.append({"id": number, "type": "swap", "subtype": "att", **captions, **images})
    return rows
