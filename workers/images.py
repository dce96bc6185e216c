"""One image: checked by a full decode, and re-encoded for serving. Thread-safe and deterministic.

Annotators get a JPEG of ours, so nothing of the original except its pixels reaches them: no EXIF, no comments, no
trailing data, no name. Rules for the pixels: the first frame of an animation; EXIF orientation applied; a readable
colour profile converted to sRGB; CMYK and palettes to RGB; greys of 16 bits to 8 by the values they use; transparency
on white, or on grey if white would hide the drawing; the long side at most 1600 (thumbnail: 320).

A crop of an image becomes a separate image: a PNG with the exact pixels, then treated like any other.

Images that must not be distinguishable by size are framed: each gets a canvas of the same size, and all get the same
number of bytes. Large ones have a smaller copy for phones.
"""

import hashlib
import io
import math
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PIL import Image, ImageCms, ImageOps

from workers import avif, limits, png_chunks

# MPO: a JPEG with a second view
FORMATS = {"JPEG": "JPEG", "MPO": "JPEG", "PNG": "PNG", "WEBP": "WEBP", "GIF": "GIF", "AVIF": "AVIF"}
STARTS = (b"\xff\xd8\xff", png_chunks.START, b"GIF87a", b"GIF89a", b"RIFF")
START_OF_SCAN = b"\xff\xda"  # never part of pixel data: encoders write 0 after 255
TOO_LARGE = f"Use at most {limits.MAX_PIXELS:,} pixels and {limits.MAX_SIDE:,} per side."
TOO_MANY_SCANS = f"Save the image again from its source; this JPEG has more than {limits.MAX_SCANS} scans."
THUMBNAIL_FILTER = Image.Resampling.HAMMING  # takes half the time of Lanczos, which was a third of an import's
GREY = "#808080"  # behind transparent pixels that white would hide; black and white both stand out from it
LIGHT = 224  # of 255: anything at least as light is hardly visible on white …
SHARE_LIGHT = 0.1  # … and if this much of the drawing is, the background is grey
HALF, NARROW = 2**15, 2**14  # 16-bit values that stay below the first, or span less than the second, are stretched
BARS = "#808080"  # around a framed image: the image's edge is visible in both themes
LEAST_FILLED = 0.5  # share of a frame filled by each image
CORRUPT = "Save the image again from its source; this file is cut off or damaged."
NOT_ALLOWED = "Use a JPEG, PNG, WebP, AVIF or GIF."
TURNS = {  # turns an image upright, by the Orientation in its EXIF
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
SIDEWAYS = {5, 6, 7, 8}
PNG_MODES = {"1", "L", "LA", "P", "RGB", "RGBA"}  # modes that a PNG can store unchanged


class ImageRefused(Exception):
    def __init__(self, code: str, advice: str):
        self.code, self.advice = code, advice
        super().__init__(f"{code} · {advice}")


@dataclass(frozen=True, slots=True)
class Rendered:
    """`sha256` and `size` (bytes) are the original's; `width` and `height` are of its pixels, upright."""

    sha256: str
    format: str  # a value of FORMATS, or a key of videos.CODECS
    width: int
    height: int
    size: int
    served: bytes
    thumbnail: bytes
    notes: tuple[str, ...]
    video: bytes = b""  # as served, if the original is one; the images are then of its poster


@dataclass(frozen=True, slots=True)
class Decoded:
    """All pixels of the first frame, as in the file, with the Orientation of its EXIF."""

    pixels: Image.Image
    turn: int
    format: str  # a value of FORMATS
    notes: list[str]

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height, upright."""
        return self.pixels.size[::-1] if self.turn in SIDEWAYS else self.pixels.size


@dataclass(frozen=True, slots=True)
class Upright:
    """A whole image in memory, upright, in a mode that a PNG can store, and the changes that were necessary."""

    pixels: Image.Image
    notes: tuple[str, ...]


def check_and_render(data: bytes) -> Rendered:
    """Check and render an image. Raises ImageRefused.

    Before decoding: EMPTY_FILE, FORMAT_NOT_ALLOWED, IMAGE_TOO_LARGE, TOO_MANY_SCANS; then IMAGE_CORRUPT.
    """
    found = decoded(data)
    whole, notes = found.pixels, found.notes
    pixels = turned(as_srgb(shrunk(whole, notes), whole.info.get("icc_profile"), notes), found.turn)
    return rendered(data, found.format, found.size, pixels, notes)


def rendered(data: bytes, format: str, size: tuple[int, int], pixels: Image.Image, notes: list[str]) -> Rendered:
    """Render `pixels` for serving; everything else is the original's."""
    width, height = size
    return Rendered(
        sha256=hashlib.sha256(data).hexdigest(),
        format=format,
        width=width,
        height=height,
        size=len(data),
        served=jpeg(pixels),
        thumbnail=jpeg(fitted(pixels, limits.THUMBNAIL_SIDE, THUMBNAIL_FILTER)),
        notes=tuple(notes),
    )


def upright(data: bytes) -> Upright:
    """Decode once, for any number of `crop`s. Raises what `check_and_render` does.

    CMYK, and pixels with an oversized colour profile, become sRGB, and greys of 16 bits become 8 by the values of the
    whole image, so that its crops are as light as it is; anything else is not changed.
    """
    found = decoded(data)
    pixels, turn, notes = found.pixels, found.turn, found.notes
    info = pixels.info
    pixels = eight_bits(pixels, notes)
    if pixels.mode in PNG_MODES and len(info.get("icc_profile") or b"") <= png_chunks.MAX_PROFILE:
        names = ["transparency", "icc_profile"]
    else:
        pixels, names = as_srgb(flat(pixels, notes), info.get("icc_profile"), notes), []
    pixels = turned(pixels, turn) if turn in TURNS else pixels.copy()  # a copy releases the file and its decoder
    pixels.info = {name: info[name] for name in names if info.get(name) is not None}
    return Upright(pixels, tuple(notes))


def crop(whole: Upright, x: int, y: int, width: int, height: int) -> tuple[bytes, Rendered]:
    """Return that part of an image as a PNG, and the PNG rendered. Raises ImageRefused: CROP_OUTSIDE."""
    full_width, full_height = whole.pixels.size
    if min(x, y) < 0 or min(width, height) < 1 or x + width > full_width or y + height > full_height:
        advice = f"The image has {full_width} × {full_height} pixels; the crop must lie inside them."
        raise ImageRefused("CROP_OUTSIDE", advice)
    pixels = whole.pixels.crop((x, y, x + width, y + height))
    data, notes = png(pixels), list(whole.notes)
    seen = as_srgb(shrunk(pixels, notes), pixels.info.get("icc_profile"), notes)
    return data, rendered(data, "PNG", pixels.size, seen, notes)


def opened(data: bytes, notes: list[str] | None = None) -> Image.Image:
    """Read only the header, and a PNG's checksums. Any exception of Pillow's on hostile bytes becomes one of our codes.

    `notes` gets information for the image's owner that does not need decoding.
    """
    if not data:
        raise ImageRefused("EMPTY_FILE", "Save the image again from its source; this file is empty.")
    notes, is_whole = [] if notes is None else notes, True
    kept = data
    if data.startswith(png_chunks.START):
        kept, is_whole = png_chunks.lean(data, notes)
    try:
        image = Image.open(io.BytesIO(kept), formats=["JPEG", "PNG", "WEBP", "GIF", "AVIF"])
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageRefused("IMAGE_TOO_LARGE", TOO_LARGE) from error
    except Exception as error:
        place, names = avif.START
        known = data.startswith(STARTS) or data[place] in names
        raise ImageRefused(*(("IMAGE_CORRUPT", CORRUPT) if known else ("FORMAT_NOT_ALLOWED", NOT_ALLOWED))) from error
    width, height = image.size
    if width * height > limits.MAX_PIXELS or max(width, height) > limits.MAX_SIDE:
        raise ImageRefused("IMAGE_TOO_LARGE", TOO_LARGE)
    if FORMATS[str(image.format)] == "JPEG" and data.count(START_OF_SCAN) > limits.MAX_SCANS:
        raise ImageRefused("TOO_MANY_SCANS", TOO_MANY_SCANS)  # a small file with 60,000 scans decodes for minutes
    if not is_whole:
        raise ImageRefused("IMAGE_CORRUPT", CORRUPT)
    if getattr(image, "is_animated", False):
        notes.append("animated: only the first frame is used")
    return image


def decoded(data: bytes) -> Decoded:
    """Decode every pixel of the first frame, not only the header (`verify` would miss a truncated JPEG). Raises what
    `check_and_render` does.

    The orientation is 1 if there is none or it cannot be read. Browsers take it from EXIF, and Pillow's `getexif` also
    from XMP and from a PNG's texts. EXIF may follow a PNG's pixels, so these are decoded first.
    """
    notes: list[str] = []
    image = opened(data, notes)
    format, exif = FORMATS[str(image.format)], Image.Exif()
    try:
        pixels = avif.pixels(data, image) if format == "AVIF" else image
        pixels.load()
    except Exception as error:
        raise ImageRefused("IMAGE_CORRUPT", CORRUPT) from error
    try:
        exif.load(pixels.info.get("exif") or b"")
        turn = int(exif.get(0x0112, 1))
    except Exception:  # EXIF may contain anything
        turn = 1
    return Decoded(pixels, turn, format, notes)


def pixels_of(data: bytes) -> Image.Image:
    """Return the image for a model: RGB at full size, upright, on the background people see. Raises like `decoded`.

    Colour profiles are ignored, unlike for people: published scores were computed this way, and for an ordinary
    photograph these are the values in the file.
    """
    found = decoded(data)
    return turned(flat(found.pixels, []).convert("RGB"), found.turn)


def shrunk(image: Image.Image, notes: list[str]) -> Image.Image:
    """Return the image without transparency; shrinks first, so that all later steps are cheap."""
    image = resolved(image, notes)
    behind = ground(image, notes)  # from all pixels, as for models
    return laid(fitted(image, limits.SERVED_SIDE), behind)


def flat(image: Image.Image, notes: list[str]) -> Image.Image:
    """Return the image without palette, 16 bits or transparency."""
    image = resolved(image, notes)
    return laid(image, ground(image, notes))


def resolved(image: Image.Image, notes: list[str]) -> Image.Image:
    """Return the image without palette, 16 bits or a transparent colour, ready to resize; RGBA if transparent."""
    image = eight_bits(image, notes)
    if image.has_transparency_data:
        return image if image.mode == "RGBA" else image.convert("RGBA")
    return image.convert("RGB") if image.mode in ("P", "1") else image


def eight_bits(image: Image.Image, notes: list[str]) -> Image.Image:
    """Reduce greys of 16 bits to the upper 8, as browsers show them, unless that would hide the picture.

    Cameras and scanners store 10 to 14 bits in 16, which then look black, and depth and CT images a few thousand
    neighbouring values, which look uniformly grey: both are stretched from the lowest to the highest value. The
    brightness of others is not changed.
    """
    if image.mode not in ("I", "F") and not image.mode.startswith("I;"):
        return image
    image = image.convert("I")
    low, high = (int(value) for value in image.getextrema())  # type: ignore[arg-type]  # one band
    if low < high and (high < HALF or high - low < NARROW):
        scale = 255 / (high - low)
        notes.append(f"16 bits: values from {low:,} to {high:,} are shown as 0 to 255")
        image = image.point(lambda value: value * scale + (0.5 - low * scale))
    else:
        notes.append("16 bits: the upper 8 are shown")
        image = image.point(lambda value: value * (1 / 256) + 0)
    return image.convert("L")


def ground(image: Image.Image, notes: list[str]) -> str | None:
    """Return the colour to put behind an image; None if no pixel of it is transparent."""
    if image.mode != "RGBA":
        return None
    alpha = image.getchannel("A")
    if alpha.getextrema() == (255, 255):
        return None
    drawn = image.convert("L").histogram(alpha)  # of everything not fully transparent
    is_light = sum(drawn[LIGHT:]) > SHARE_LIGHT * sum(drawn)
    notes.append("transparent: shown on grey, as white would hide parts" if is_light else "transparent: shown on white")
    return GREY if is_light else "white"


def laid(image: Image.Image, colour: str | None) -> Image.Image:
    """Put an RGBA image on a background of that colour; other images are not changed."""
    if image.mode != "RGBA":
        return image
    if colour is not None:
        image = Image.alpha_composite(Image.new("RGBA", image.size, colour), image)
    return image.convert("RGB")


def fitted(image: Image.Image, side: int, by: Image.Resampling = Image.Resampling.LANCZOS) -> Image.Image:
    """Return the image with its long side at most `side`; the image itself if it already fits."""
    size = fitted_size(image.size, side)
    return image if size == image.size else image.resize(size, by, reducing_gap=3.0)


def fitted_size(size: tuple[int, int], side: int) -> tuple[int, int]:
    """Scale `size` proportionally, with the long side at most `side`."""
    if max(size) <= side:
        return size
    width, height = (max(1, round(length * side / max(size))) for length in size)
    return width, height


def are_alike(images: Iterable[tuple[str, int, int]]) -> bool:
    """Return whether neither role nor size distinguishes any of these images: (role, width, height) of each."""
    return len(set(images)) < 2


def frame_size(sizes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return width and height of a frame for images of these sizes: the smallest in which no served image shrinks.

    If an image would fill less than half of that, the frame is larger, up to the served size. Its shape is then the
    geometric mean of the widest and the narrowest image's, in which the one that fills least is as large as possible.
    """
    served = [fitted_size(size, limits.SERVED_SIDE) for size in sizes]
    width, height = (max(sides) for sides in zip(*served, strict=True))
    shapes = [width / height for width, height in served]
    narrowest, widest = min(shapes), max(shapes)
    if min(width / height / widest, narrowest * height / width) >= LEAST_FILLED:
        return width, height
    shape = math.sqrt(narrowest * widest)
    return fitted_size((max(width, round(height * shape)), max(height, round(width / shape))), limits.SERVED_SIDE)


def framed(served: Sequence[bytes], size: tuple[int, int]) -> list[bytes]:
    """Return a JPEG of `size` pixels for each served one, which is enlarged to fit and centred; all of equal length."""
    return padded([_in_frame(one, size) for one in served])


def padded(jpegs: Sequence[bytes]) -> list[bytes]:
    """Pad all to the same number of bytes: decoders ignore what follows the end of a JPEG."""
    longest = max(map(len, jpegs))
    return [one.ljust(longest, b"\0") for one in jpegs]


def small_size(size: tuple[int, int]) -> tuple[int, int] | None:
    """Return the size of the smaller copy of an image of this size; None if the served one is small enough."""
    served = fitted_size(size, limits.SERVED_SIDE)
    return fitted_size(served, limits.SMALL_SIDE) if max(served) >= limits.LARGE_SIDE else None


def smaller(served: bytes) -> bytes:
    """Return the smaller copy of a served (or framed) image: a JPEG of `small_size`, decoded at that scale."""
    image: Image.Image = Image.open(io.BytesIO(served), formats=["JPEG"])
    size = fitted_size(image.size, limits.SMALL_SIDE)
    image.draft("RGB", size)
    return jpeg(image.resize(size, Image.Resampling.LANCZOS) if image.size != size else image)


def _in_frame(served: bytes, size: tuple[int, int]) -> bytes:
    image: Image.Image = Image.open(io.BytesIO(served), formats=["JPEG"])
    return jpeg(ImageOps.pad(image, size, Image.Resampling.LANCZOS, BARS))


def as_srgb(image: Image.Image, profile: bytes | None, notes: list[str]) -> Image.Image:
    """Convert an image without transparency to RGB."""
    if profile:
        image = with_profile(image, profile, notes)
    return image if image.mode == "RGB" else image.convert("RGB")


def with_profile(image: Image.Image, profile: bytes, notes: list[str]) -> Image.Image:
    try:
        given = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if "sRGB" in ImageCms.getProfileDescription(given):
            return image
        return ImageCms.profileToProfile(image, given, ImageCms.createProfile("sRGB"), outputMode="RGB") or image
    except Exception:  # a profile may contain anything, and often belongs to a different colour space
        notes.append("colour profile not used: it cannot be read or does not fit the pixels")
        return image


def turned(image: Image.Image, turn: int) -> Image.Image:
    return image.transpose(TURNS[turn]) if turn in TURNS else image


def jpeg(image: Image.Image) -> bytes:
    """Encode only pixels: `image.info` is emptied before the encoder can see it."""
    bare = image.copy()
    bare.info = {}
    return _encoded(bare, "JPEG", quality=limits.QUALITY, subsampling="4:2:0")


def png(image: Image.Image) -> bytes:
    """Encode every pixel unchanged, with only transparency and colour profile from `image.info`."""
    return _encoded(image, "PNG", optimize=False, compress_level=6)


def _encoded(image: Image.Image, format: str, **options: object) -> bytes:
    """Encode through an in-memory file of the operating system, on Linux: Pillow lets other threads run while encoding
    only for a file with a descriptor.
    """
    with open(os.memfd_create("image"), "w+b", 0) if sys.platform == "linux" else io.BytesIO() as file:
        image.save(file, format, **options)
        file.seek(0)
        return file.read()
