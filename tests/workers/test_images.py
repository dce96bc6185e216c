"""What becomes of an image: only its pixels are left, and they are right."""

import hashlib
import io
import itertools
import resource
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image as Drawing
from PIL import ImageCms

from tests.benchmarks.bad_inputs.case import picture
from tests.benchmarks.bad_inputs.images import IMAGES, chunk, exif, gifar, of_16_bits, one, saved, scans
from workers import limits
from workers.images import ImageRefused, check_and_render, frame_size, framed, pixels_of, upright

RED, WHITE = (200, 10, 20), (255, 255, 255)


def served(data: bytes) -> Drawing.Image:
    return Drawing.open(io.BytesIO(check_and_render(data).served))


def close(pixel, colour, by: int = 6) -> bool:
    return all(abs(one - other) <= by for one, other in zip(pixel, colour, strict=True))


def test_a_plain_image():
    made = check_and_render(picture(200, size=(2000, 1000)))
    assert (made.format, made.width, made.height, made.notes) == ("JPEG", 2000, 1000, ())
    assert Drawing.open(io.BytesIO(made.served)).size == (1600, 800)
    assert Drawing.open(io.BytesIO(made.thumbnail)).size == (320, 160)


def test_a_small_image_is_not_enlarged():
    assert served(picture(size=(10, 7))).size == (10, 7)


def test_a_very_long_image_keeps_a_pixel_of_its_side():
    assert served(picture(size=(20_000, 1))).size == (1600, 1)


def test_the_same_bytes_give_the_same_bytes_in_any_thread():
    data = picture(77, size=(300, 200))
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(check_and_render, [data] * 16))) == 1


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "AVIF"])
def test_no_metadata_is_left(format):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    made = check_and_render(picture(1, format, exif=exif(), icc_profile=profile))
    for content in (made.served, made.thumbnail):
        assert b"candidate" not in content and b"Exif" not in content and b"ICC_PROFILE" not in content
        assert not Drawing.open(io.BytesIO(content)).getexif()


@pytest.mark.parametrize("data", [picture(format="PNG") + b"<html>canary", gifar() + b"canary"])
def test_nothing_behind_the_pixels_is_left(data):
    made = check_and_render(data)
    assert b"canary" not in made.served and b"PK\3\4" not in made.served
    assert made.served.startswith(b"\xff\xd8") and made.served.endswith(b"\xff\xd9")


def test_comments_are_left_out():
    assert b"canary" not in check_and_render(picture(comment=b"canary")).served


@pytest.mark.parametrize("format", ["PNG", "AVIF"])  # which has no EXIF for it, but properties of its own
@pytest.mark.parametrize("turn", range(1, 9))
def test_orientation_is_applied(turn, format):
    upright = Drawing.new("RGB", (96, 48), WHITE)
    upright.paste(RED, (0, 0, 32, 16))  # the corner that must end on the top left
    back = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}  # the transpose that undoes each orientation
    stored = upright if turn == 1 else upright.transpose(Drawing.Transpose(back[turn]))
    made = Drawing.Exif()
    made[0x0112] = turn
    rendered = check_and_render(saved(stored, format, exif=made.tobytes()))
    pixels = Drawing.open(io.BytesIO(rendered.served))
    assert (rendered.width, rendered.height) == pixels.size == (96, 48)
    assert close(pixels.getpixel((5, 5)), RED) and close(pixels.getpixel((90, 40)), WHITE)


@pytest.mark.parametrize(
    ("image", "format", "save", "expected"),
    [
        (Drawing.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG", {}, (254, 0, 0)),
        (Drawing.new("I;16", (8, 8), 0x8000), "PNG", {}, (128, 128, 128)),
        (Drawing.new("RGBA", (8, 8), (255, 0, 0, 0)), "PNG", {}, WHITE),
        (Drawing.new("RGBA", (8, 8), (255, 0, 0, 128)), "WEBP", {"lossless": True}, (255, 127, 127)),
        (Drawing.new("LA", (8, 8), (0, 0)), "PNG", {}, WHITE),
        (Drawing.new("P", (8, 8), 0), "PNG", {"transparency": 0}, WHITE),
        (Drawing.new("RGB", (8, 8), RED), "PNG", {"transparency": RED}, WHITE),
        (Drawing.new("L", (8, 8), 9), "PNG", {"transparency": 9}, WHITE),
        (Drawing.new("1", (8, 8), 1), "PNG", {}, WHITE),
        (Drawing.new("RGB", (8, 8), RED), "GIF", {}, RED),
        (Drawing.new("RGB", (8, 8), RED), "AVIF", {}, RED),
        (Drawing.new("RGBA", (8, 8), (255, 0, 0, 0)), "AVIF", {"quality": 100}, WHITE),
    ],
)
def test_pixels_are_as_documented(image, format, save, expected):
    assert close(served(saved(image, format, **save)).getpixel((4, 4)), expected)


@pytest.mark.parametrize(
    ("values", "shown", "note"),
    [
        ((0, 317), (0, 255), "values from 0 to 317 are shown as 0 to 255"),
        ((0, 4095), (0, 255), "values from 0 to 4,095 are shown as 0 to 255"),
        ((40_000, 42_000), (0, 255), "values from 40,000 to 42,000 are shown as 0 to 255"),  # CT
        ((300, 60_000), (1, 234), "the upper 8 are shown"),
        ((32_768, 32_768), (128, 128), "the upper 8 are shown"),
    ],
)
def test_greys_of_16_bits_are_shown_by_the_values_they_use(values, shown, note):
    data = saved(of_16_bits([values[0]] * 8 + [values[1]] * 8, 8), "PNG")
    people, models = served(data).convert("L"), pixels_of(data).convert("L")
    for at, expected in zip(((2, 4), (13, 4)), shown, strict=True):
        assert models.getpixel(at) == expected and close((people.getpixel(at),), (expected,))
    assert check_and_render(data).notes == (f"16 bits: {note}",)


@pytest.mark.parametrize(
    ("colour", "alpha", "ground", "note"),
    [
        ((20, 20, 20), 0, WHITE, ("transparent: shown on white",)),
        ((255, 255, 255), 0, (128, 128, 128), ("transparent: shown on grey, as white would hide parts",)),
        ((255, 255, 255), 255, WHITE, ()),  # nothing is transparent
    ],
)
@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_what_is_transparent_is_on_a_ground_that_shows_it(colour, alpha, ground, note, mode):
    image = Drawing.new("RGBA", (16, 8), (*WHITE, alpha))
    image.paste((*colour, 255), (0, 0, 8, 8))
    data = saved(image.quantize() if mode == "P" else image.convert(mode), "PNG")
    for found in (served(data), pixels_of(data)):
        assert close(found.getpixel((2, 4)), colour) and close(found.getpixel((13, 4)), ground)
    assert check_and_render(data).notes == note


@pytest.mark.parametrize("kind", [b"iTXt", b"zTXt", b"tEXt", b"iCCP"])
def test_a_png_with_megabytes_of_text_or_profile_is_no_damaged_one(kind):
    content = bytes(2**21) if kind == b"tEXt" else zlib.compress(bytes(2**21))
    between = {b"iTXt": b"\0\1\0\0\0", b"zTXt": b"\0\0", b"tEXt": b"\0", b"iCCP": b"\0\0"}[kind]
    plain = picture(format="PNG")
    data = plain[:33] + chunk(kind, b"name" + between + content) + plain[33:]
    made = check_and_render(data)
    assert made.served == check_and_render(plain).served and made.sha256 == hashlib.sha256(data).hexdigest()
    assert made.notes == (("colour profile not used: it has more than 1,048,576 bytes",) if kind == b"iCCP" else ())
    with pytest.raises(ImageRefused, match="IMAGE_CORRUPT"):
        check_and_render(data.replace(b"name", b"nome"))


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "GIF"])
def test_xmp_turns_no_image(format):
    xmp = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    data = picture(format=format, xmp=xmp)
    if format == "PNG":
        data = data[:33] + chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + xmp) + data[33:]
    assert check_and_render(data).width == pixels_of(data).width == 24


def test_an_avif_with_more_pixels_than_it_announces_does_not_take_their_memory():
    """The decoder would need 92 MiB for them alone; 16 × 16 pixels are granted little more than the child itself."""
    side, announced = 8000, 16
    data = saved(Drawing.new("RGB", (side, side), RED), "AVIF", speed=10)
    sizes = [b"ispe" + bytes(4) + one.to_bytes(4) * 2 for one in (side, announced)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ImageRefused, match="IMAGE_CORRUPT"):
        check_and_render(data.replace(*sizes))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024


def test_the_first_frame_of_an_animation_and_a_note(tmp_path):
    made = check_and_render(one(tmp_path, picture()).images.joinpath("a.jpg").read_bytes())
    assert made.notes == ()
    moving = IMAGES["animated_png"].build(tmp_path).images.joinpath("a.png").read_bytes()
    made = check_and_render(moving)
    assert made.notes == ("animated: only the first frame is used",)
    assert close(Drawing.open(io.BytesIO(made.served)).getpixel((4, 4)), (0, 0, 0))


def swapped_profile() -> bytes:
    """An RGB profile of another name in which red means green and green red."""
    data = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for tag, name in ((b"rXYZ", b"tmp_"), (b"gXYZ", b"rXYZ"), (b"tmp_", b"gXYZ")):
        data = data.replace(tag, name, 1)
    return data.replace("sRGB".encode("utf-16-be"), "mine".encode("utf-16-be"))


def test_a_colour_profile_is_turned_into_srgb():
    made = check_and_render(saved(Drawing.new("RGB", (8, 8), (0, 255, 0)), "PNG", icc_profile=swapped_profile()))
    assert close(Drawing.open(io.BytesIO(made.served)).getpixel((4, 4)), (254, 0, 0)) and made.notes == ()


@pytest.mark.parametrize("profile", [b"junk", ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()])
def test_a_profile_that_does_not_fit_is_noted(profile):
    assert "colour profile not used" in check_and_render(picture(format="PNG", icc_profile=profile)).notes[0]


def test_the_limits_are_exact(monkeypatch):
    monkeypatch.setattr(limits, "MAX_PIXELS", 600)
    assert check_and_render(picture(size=(30, 20))).width == 30
    assert check_and_render(picture(size=(1, 600))).height == 600
    with pytest.raises(ImageRefused, match="IMAGE_TOO_LARGE"):
        check_and_render(picture(size=(601, 1)))
    monkeypatch.setattr(limits, "MAX_SIDE", 29)
    with pytest.raises(ImageRefused, match="IMAGE_TOO_LARGE"):
        check_and_render(picture(size=(30, 20)))


def test_as_many_scans_as_are_allowed_are_decoded():
    assert check_and_render(scans(limits.MAX_SCANS - 9)).width == 1000  # nine come before the repeated one
    with pytest.raises(ImageRefused, match="TOO_MANY_SCANS"):
        check_and_render(scans(limits.MAX_SCANS - 8))


@pytest.mark.parametrize("cut", range(0, 1200, 40))
def test_any_cut_of_a_jpeg_is_refused_with_a_code(cut):
    data = Drawing.effect_noise((64, 64), 90).convert("RGB")
    whole = saved(data, "JPEG")
    with pytest.raises(ImageRefused) as caught:
        check_and_render(whole[:cut])
    assert caught.value.code in {"EMPTY_FILE", "IMAGE_CORRUPT", "FORMAT_NOT_ALLOWED"}


def reference(data: bytes) -> tuple[int, int, bytes]:
    """Width, height and the RGB bytes of a PNG of 8 bits, not interlaced. Raises ValueError or zlib.error."""
    kinds, packed, at = [], b"", 8
    while b"IEND" not in kinds:
        size, kind = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        content = data[at + 8 : at + 8 + size]
        if chunk(kind, content) != data[at : at + 12 + size]:
            raise ValueError(f"checksum of {kind!r}")
        kinds.append(kind)
        packed, at = packed + content * (kind == b"IDAT"), at + 12 + size
    width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])  # of the first chunk
    flat, above, rows = zlib.decompress(packed), bytearray(3 * width), []
    for start in range(0, height * (3 * width + 1), 3 * width + 1):
        row = bytearray(flat[start + 1 : start + 1 + 3 * width])
        for x in range(3 * width):
            left, up, corner = row[x - 3] if x > 2 else 0, above[x], above[x - 3] if x > 2 else 0
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(guess - value))
            row[x] = (row[x] + (0, left, up, (left + up) // 2, nearest)[flat[start]]) % 256
        rows.append(bytes(row))
        above = row
    return width, height, b"".join(rows)


def pngs() -> dict[str, bytes]:
    """As encoders write them: EXIF missing, before or behind the pixels, and these in one chunk or several."""
    plain = saved(Drawing.effect_noise((16, 12), 90).convert("RGB"), "PNG")
    start, end = plain.index(b"IDAT") - 4, plain.index(b"IEND") - 4
    packed, turn = plain[start + 8 : end - 4], chunk(b"eXIf", exif().removeprefix(b"Exif\0\0"))
    parts = b"".join(chunk(b"IDAT", packed[at : at + 100]) for at in range(0, len(packed), 100))
    return {
        "plain": plain, "exif": plain[:start] + turn + plain[start:], "exif behind": plain[:end] + turn + plain[end:],
        "in parts": plain[:start] + parts + plain[end:], "more behind": plain + b"more",
    }  # fmt: skip


@pytest.mark.parametrize("name", pngs())
@pytest.mark.parametrize("take", [pixels_of, check_and_render, upright])
def test_a_damaged_png_is_refused_or_has_the_right_pixels(name, take):
    whole = pngs()[name]
    flips = (whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :] for at in range(len(whole)))
    cuts = (whole[:at] for at in range(len(whole)))
    for data in itertools.chain([whole], flips, cuts):
        try:
            found = take(data)
        except ImageRefused:
            assert data != whole
            continue
        width, height, pixels = reference(data)
        if take is pixels_of and "exif" not in name:
            assert (*found.size, found.tobytes()) == (width, height, pixels)


@pytest.mark.real
@pytest.mark.parametrize("name", ["rot_png", "png_bad_crc", "rot_png_exif"])
def test_pngs_with_rotten_bits_are_refused(real, name):
    data = (real / "cases/field/png-bit-rot" / name / "images/x.png").read_bytes()
    with pytest.raises(ImageRefused, match="IMAGE_CORRUPT"):
        check_and_render(data)


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("png-metadata/png_icc_2mb/images/x.png", "colour profile not used"),
        ("png-metadata/png_text_2mb/images/x.png", None),
        ("silent-image-changes/png16_low/images/x.png", "16 bits: values from 0 to 317"),
        ("silent-image-changes/white_on_clear/images/x.png", "transparent: shown on grey"),
        ("xmp-orientation/images/x.jpg", None),
    ],
)
def test_real_images_that_were_refused_hidden_or_turned_are_shown(real, name, note):
    made = check_and_render((real / "cases/field" / name).read_bytes())
    assert (made.width, made.height, len(made.notes)) == (120, 80, 1 if note else 0)
    assert not note or made.notes[0].startswith(note)


@pytest.mark.parametrize("format", ["WEBP", "AVIF"])
@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_largest_image_stays_under_the_memory_limit(tmp_path, share, format):
    """`share`: of the largest image, and of the memory."""
    side = int((limits.MAX_PIXELS / share) ** 0.5)
    image = Drawing.new("RGBA", (side, side), (9, 9, 9, 90))
    (tmp_path / "a").write_bytes(saved(image, format, **{"WEBP": {"method": 0}, "AVIF": {"speed": 10}}[format]))
    code = "import sys; from workers.images import check_and_render; check_and_render(open(sys.argv[1], 'rb').read());"
    code += "from tests.peak_memory import peak_memory; print(peak_memory())"
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "a"], capture_output=True, text=True, check=True)
    alone = 25 if share > 1 else 0  # MiB that Python and its modules take, whatever the image
    assert int(done.stdout) < (alone + 512 / share) * 2**20, int(done.stdout) / 2**20


@pytest.mark.real
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.nightly)])
def test_the_real_images_are_accepted_without_a_note(real, every):
    paths = [*(real / "data/bivlc/images").iterdir(), *(real / "data/coco_val2017/images").iterdir()]
    made = [check_and_render(path.read_bytes()) for path in sorted(paths)[::every]]
    assert len(paths) == 99 and all(not rendered.notes for rendered in made)


# Frames


@pytest.mark.parametrize(
    "sizes, frame",
    [
        ([(512, 512)], (512, 512)),
        ([(427, 640), (427, 640)], (427, 640)),
        ([(640, 427), (512, 512)], (640, 512)),
        ([(427, 640), (512, 512), (512, 512)], (512, 640)),
        ([(3200, 1000), (10, 20)], (1600, 1265)),
        ([(40, 120), (720, 120)], (720, 509)),  # the narrow one is seven times as large as in a frame of 720 × 120
        ([(20_000, 1), (1, 1)], (1600, 40)),
        ([(1600, 800), (50, 800)], (566, 1600)),  # no larger than what is served
    ],
)
def test_no_image_of_a_frame_shrinks_or_is_tiny_in_it(sizes, frame):
    assert frame_size(sizes) == frame


def test_framed_images_differ_in_nothing_but_their_pixels():
    sizes = [(640, 427), (512, 512), (256, 640)]
    whole = [check_and_render(picture(number, size=size)) for number, size in enumerate(sizes)]
    size = frame_size(sizes)
    made = framed([image.served for image in whole], size)
    assert len({len(jpeg) for jpeg in made}) == 1 and len({image.served for image in whole}) == 3
    assert {Drawing.open(io.BytesIO(jpeg)).size for jpeg in made} == {size}
    for jpeg, (width, height) in zip(made, [(640, 427), (640, 640), (330, 826)], strict=True):
        image = Drawing.open(io.BytesIO(jpeg)).convert("RGB")
        left, top = (size[0] - width) // 2, (size[1] - height) // 2
        inside, bar = image.crop((left, top, left + width, top + height)), (128, 128, 128)
        corners = [image.getpixel(place) for place in ((0, 0), (size[0] - 1, size[1] - 1))]
        assert all(close(corner, bar) for corner in corners)
        assert not close(inside.getpixel((width // 2, height // 2)), bar)
        assert not image.getexif() and not {"comment", "exif", "icc_profile"} & set(Drawing.open(io.BytesIO(jpeg)).info)


def test_the_same_images_are_framed_to_the_same_bytes():
    images = [check_and_render(picture(number, size=(40 + number, 30))).served for number in range(3)]
    assert framed(images, (64, 64)) == framed(images, (64, 64))
