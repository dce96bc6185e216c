"""Rows 11 to 17: images, each in a folder of images that one item names."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

from PIL import Image as Drawing

from tests.benchmarks.bad_inputs.case import Cases, ImportFiles, naming, picture, written

IMAGES = Cases()


def one(folder: Path, data: bytes, name: str = "a.jpg") -> ImportFiles:
    (folder / "images").mkdir(exist_ok=True)
    written(folder, f"images/{name}", data)
    return naming(folder, [name], folder / "images")


def add(row: int, code: str | None, name: str, data: bytes, file: str = "a.jpg") -> None:
    IMAGES.add(row, code, lambda folder: one(folder, data, file), name)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">L", len(data)) + kind + data + struct.pack(">L", zlib.crc32(kind + data))


def png(width: int, height: int, pixels: bytes = b"") -> bytes:
    """A PNG with any header; its pixels need not fit."""
    header = struct.pack(">2L5B", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


def saved(image: Drawing.Image, format: str, **save) -> bytes:
    file = io.BytesIO()
    image.save(file, format, **save)
    return file.getvalue()


def of_16_bits(row: list[int], height: int) -> Drawing.Image:
    """So many equal rows of grey. Pillow's `paste` and `putpixel` write other values into such an image."""
    return Drawing.frombytes("I;16", (len(row), height), struct.pack(f"<{len(row)}H", *row) * height)


def frames(count: int, format: str) -> bytes:
    first, *rest = (Drawing.new("RGB", (8, 8), (number % 256, number // 256, 0)) for number in range(count))
    return saved(first, format, save_all=True, append_images=rest)


def gifar() -> bytes:
    """A GIF that is a zip too."""
    file = io.BytesIO(picture(format="GIF"))
    with zipfile.ZipFile(file, "a") as packed:
        packed.writestr("Evil.class", b"\xca\xfe\xba\xbe")
    return file.getvalue()


def scans(times: int) -> bytes:
    """A progressive JPEG whose last scan comes that many times: each costs a decoder as much as the whole image."""
    whole = picture(size=(1000, 1000), progressive=True)
    at = whole.rindex(b"\xff\xda")
    return whole[:at] + whole[at:-2] * times + whole[-2:]


def exif() -> bytes:
    made = Drawing.Exif()
    made[0x0112] = 6
    made[0x010E] = "the answer is candidate 2 <script>alert(1)</script>"
    made.get_ifd(0x8825)[1] = "N"
    return made.tobytes()


add(11, "IMAGE_TOO_LARGE", "huge_png", png(30_000, 30_000), "a.png")
add(11, "IMAGE_TOO_LARGE", "very_wide_png", png(20_001, 1), "a.png")
add(12, "IMAGE_TOO_LARGE", "just_under_pillows_own_limit", png(9_400, 9_400), "a.png")
add(12, "TOO_MANY_SCANS", "a_scan_2000_times", scans(2000))
add(13, "IMAGE_CORRUPT", "cut_off_jpeg", picture(size=(200, 200), quality=95)[:-400])
add(13, "IMAGE_CORRUPT", "png_with_too_few_pixels", png(64, 64, b"\0" * 100), "a.png")
add(13, "IMAGE_CORRUPT", "jpeg_start_alone", b"\xff\xd8\xff\xe0")
add(13, "EMPTY_FILE", "empty_image", b"")
add(14, None, "png_with_html_behind", picture(format="PNG") + b"<html><script>alert(1)</script>", "a.png")
add(14, None, "jpeg_called_html", picture(), "a.html")
add(14, None, "gif_and_zip_in_one", gifar(), "a.gif")
add(
    15, "FORMAT_NOT_ALLOWED", "svg", b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', "a.svg"
)
add(15, "FORMAT_NOT_ALLOWED", "eps", saved(Drawing.new("RGB", (8, 8)), "EPS"))
add(15, "FORMAT_NOT_ALLOWED", "pdf", saved(Drawing.new("RGB", (8, 8)), "PDF"))
add(15, "FORMAT_NOT_ALLOWED", "jpeg2000", saved(Drawing.new("RGB", (8, 8)), "JPEG2000"))
add(15, "FORMAT_NOT_ALLOWED", "tiff", saved(Drawing.new("RGB", (8, 8)), "TIFF"))
add(15, "FORMAT_NOT_ALLOWED", "tiff_loop", b"II*\0\x08\0\0\0\0\0\x08\0\0\0", "a.tif")
add(15, "FORMAT_NOT_ALLOWED", "psd", b"8BPS\0\1" + bytes(30), "a.psd")
add(15, "FORMAT_NOT_ALLOWED", "fits", b"SIMPLE  =                    T".ljust(2880), "a.fits")
IMAGES.add(16, None, lambda folder: one(folder, frames(2_000, "GIF"), "a.gif"), "gif_of_many_frames")
add(16, None, "animated_webp", frames(20, "WEBP"), "a.webp")
add(16, None, "animated_png", frames(20, "PNG"), "a.png")
add(13, "IMAGE_CORRUPT", "cut_off_avif", picture(format="AVIF")[:-20], "a.avif")
add(16, None, "animated_avif", frames(3, "AVIF"), "a.avif")
add(17, None, "exif", picture(exif=exif()))
add(17, None, "cmyk", saved(Drawing.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG"))
add(17, None, "sixteen_bits", saved(Drawing.new("I;16", (8, 8), 40_000), "PNG"), "a.png")
add(17, None, "palette_with_alpha", saved(Drawing.new("P", (8, 8), 0), "PNG", transparency=0), "a.png")
