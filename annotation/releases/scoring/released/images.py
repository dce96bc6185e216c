"""The images of a release, from the first of its forms that has them; and the pixels that models get of them."""

import importlib
import io
import json
import tarfile

from annotation.releases.scoring.released.items import Unusable

ROW_GROUPS = 4  # of a parquet file, kept in memory
ORIENTATION = 0x0112  # of EXIF; what turns an image upright
TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


def open_images(release):
    """A function from the SHA-256 of an image to its bytes, from the first form of the release that has images."""
    for source in (from_folder, from_archives, from_parquet):
        if found := source(release):
            return found
    raise Unusable("This release has no images, and the model needs them.")


def from_folder(release):
    paths = {path.stem: path for path in (release.folder / "imagefolder" / release.split / "images").glob("*")}
    return (lambda sha256: paths[sha256].read_bytes()) if paths else None


def from_archives(release):
    places = {}  # SHA-256 → path, where its bytes begin, how many there are
    shown = release.columns.get("image:positive")  # whose entry is KEY.ENDING
    for path in (release.folder / "webdataset" / release.split).glob("*.tar"):
        with tarfile.open(path, "r:") as archive:
            members = {member.name: member for member in archive}
            for name in [name for name in members if name.endswith(".json")]:
                row = json.loads(archive.extractfile(members[name]).read())
                for column, value in row.items():
                    if isinstance(value, dict) and "sha256" in value:
                        ending = value["path"].rpartition(".")[2]
                        entry = ending if column == shown else f"{column}.{ending}"
                        member = members[f"{name.removesuffix('json')}{entry}"]
                        places[value["sha256"]] = path, member.offset_data, member.size

    def read(sha256):
        path, start, size = places[sha256]
        with path.open("rb") as file:
            file.seek(start)
            return file.read(size)

    return read if places else None


def from_parquet(release):
    columns = [column for part, column in release.columns.items() if part.startswith("image:")]
    if not columns:
        return None
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise Unusable(
            "The images of this release are in parquet. Install pyarrow, or make a release with imagefolder."
        ) from None
    places, kept = {}, {}  # SHA-256 → file, row group, column, row; the last row groups
    for path in sorted((release.folder / "data").glob(f"{release.split}-*.parquet")):
        file = parquet.ParquetFile(path)
        for group in range(file.num_row_groups):
            names = file.read_row_group(group, columns=[f"{column}.path" for column in columns])
            for column in columns:
                for row, image in enumerate(names.column(column).to_pylist()):
                    if image and image["path"]:
                        places.setdefault(image["path"].partition(".")[0], (path, group, column, row))

    def read(sha256):
        path, group, column, row = places[sha256]
        if (path, group, column) not in kept:
            while len(kept) >= ROW_GROUPS:
                kept.pop(next(iter(kept)))
            kept[path, group, column] = parquet.ParquetFile(path).read_row_group(group, columns=[column]).column(column)
        return kept[path, group, column][row].as_py()["bytes"]

    return read if places else None


def decode(content):
    """Upright and in RGB: the pixels that Winnow gives to models."""
    pillow = importlib.import_module("PIL.Image")
    texts = importlib.import_module("PIL.PngImagePlugin")
    texts.MAX_TEXT_CHUNK = texts.MAX_TEXT_MEMORY = 2**30  # a PNG with texts of megabytes is not damaged
    with pillow.open(io.BytesIO(content)) as image:
        image.load()  # EXIF may follow the pixels
        exif = pillow.Exif()
        try:
            exif.load(image.info.get("exif") or b"")  # `getexif` also reads XMP, unlike browsers
            turn = TURNS.get(exif.get(ORIENTATION))
        except Exception:  # EXIF may contain anything
            turn = None
        found = in_rgb(image)
    return found.transpose(pillow.Transpose[turn]) if turn else found


def in_rgb(image):
    """On white, or on grey if much of what is drawn is white; greys of 16 bits as Winnow shows them."""
    if image.mode in ("I", "F") or image.mode.startswith("I;"):
        image = image.convert("I")
        low, high = image.getextrema()
        scale = 255 / (high - low) if low < high and (high < 2**15 or high - low < 2**14) else 0
        stretched = image.point(lambda value: value * scale + (0.5 - low * scale))
        image = (stretched if scale else image.point(lambda value: value * (1 / 256) + 0)).convert("L")
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        drawn = image.convert("L").histogram(image.getchannel("A"))  # of what is not wholly transparent
        colour = "#808080" if sum(drawn[224:]) > 0.1 * sum(drawn) else "white"
        ground = importlib.import_module("PIL.Image").new("RGBA", image.size, colour)
        ground.alpha_composite(image)
        image = ground
    return image.convert("RGB")
