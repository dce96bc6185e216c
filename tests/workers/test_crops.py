"""A crop of an image: the right pixels, none of them changed, and bounded memory."""

import io
import subprocess
import sys

import pytest
from PIL import Image as Drawing
from PIL import ImageCms

from tests.benchmarks.bad_inputs.case import picture
from tests.benchmarks.bad_inputs.images import of_16_bits, saved
from tests.builders.quartered_picture import BLUE, GREEN, RED, YELLOW, quarters, turned
from workers import limits
from workers.images import ImageRefused, check_and_render, crop, upright


def opened(data: bytes) -> Drawing.Image:
    return Drawing.open(io.BytesIO(data))


def colours(data: bytes) -> set[tuple]:
    return {colour for _, colour in opened(data).convert("RGB").getcolors()}


def test_a_crop_has_the_pixels_of_its_box_and_no_other():
    data, made = crop(upright(saved(quarters(), "PNG")), 30, 20, 20, 20)
    assert opened(data).tobytes() == quarters().crop((30, 20, 50, 40)).tobytes()
    assert (made.format, made.width, made.height, made.size) == ("PNG", 20, 20, len(data))
    assert opened(made.served).size == (20, 20)


def test_it_is_what_the_png_itself_would_be():
    data, made = crop(upright(picture(90, size=(2400, 900))), 0, 0, 2000, 800)
    assert made == check_and_render(data)
    assert opened(made.served).size == (1600, 640) and opened(made.thumbnail).size == (320, 128)


def test_the_box_is_of_the_upright_image():
    whole = upright(turned(quarters()))
    assert whole.pixels.size == (80, 60)
    for box, colour in (((0, 0), RED), ((40, 0), GREEN), ((0, 30), BLUE), ((40, 30), YELLOW)):
        assert colours(crop(whole, *box, 40, 30)[0]) == {colour}


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
@pytest.mark.parametrize("make", [lambda image: saved(image, "PNG"), turned])
def test_no_pixel_is_changed_in_whatever_mode_it_is(mode, make):
    image = quarters(mode=mode)
    data, made = crop(upright(make(image)), 35, 25, 10, 10)
    assert opened(data).mode == mode and opened(data).tobytes() == image.crop((35, 25, 45, 35)).tobytes()
    assert made == check_and_render(data)


def test_a_crop_of_16_bits_is_as_light_as_the_whole_image():
    image = of_16_bits([0, 0, 900, 900, 1000, 1000], 4)
    data, made = crop(upright(saved(image, "PNG")), 2, 0, 4, 2)
    assert opened(data).getextrema() == (230, 255) and made.notes == (
        "16 bits: values from 0 to 1,000 are shown as 0 to 255",
    )


@pytest.mark.parametrize(
    ("image", "save"),
    [
        (Drawing.new("P", (8, 8), 0), {"transparency": 0}),
        (Drawing.new("L", (8, 8), 9), {"transparency": 9}),
        (Drawing.new("RGB", (8, 8), RED), {"transparency": RED}),
        (Drawing.new("RGBA", (8, 8), (255, 0, 0, 0)), {}),
    ],
)
def test_what_is_transparent_stays_so(image, save):
    data, made = crop(upright(saved(image, "PNG", **save)), 0, 0, 4, 4)
    assert opened(data).convert("RGBA").getpixel((0, 0))[3] == 0
    assert colours(made.served) == {(255, 255, 255)}


def test_cmyk_becomes_srgb_and_an_animation_gives_its_first_frame_with_a_note():
    assert opened(crop(upright(saved(quarters(mode="CMYK"), "JPEG")), 0, 0, 9, 9)[0]).mode == "RGB"
    frames = [Drawing.new("RGB", (8, 8), colour) for colour in (RED, BLUE)]
    moving = saved(frames[0], "PNG", save_all=True, append_images=frames[1:])
    data, made = crop(upright(moving), 0, 0, 8, 8)
    assert colours(data) == {RED} and made.notes == ("animated: only the first frame is used",)


def test_a_colour_profile_goes_along_unless_it_is_oversized():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    data, _ = crop(upright(saved(quarters(), "JPEG", icc_profile=profile)), 0, 0, 8, 8)
    assert opened(data).info["icc_profile"] == profile
    data, made = crop(upright(saved(quarters(), "JPEG", icc_profile=profile + bytes(2**21))), 0, 0, 8, 8)
    assert "icc_profile" not in opened(data).info and made == check_and_render(data)


def test_nothing_else_goes_along():
    exif = Drawing.Exif()
    exif[0x010E] = "canary"
    data, made = crop(upright(picture(1, exif=exif.tobytes(), comment=b"canary") + b"canary"), 0, 0, 8, 8)
    assert b"canary" not in data + made.served + made.thumbnail and set(opened(data).info) == set()


@pytest.mark.parametrize(
    "box", [(-1, 0, 9, 9), (0, -1, 9, 9), (0, 0, 0, 9), (0, 0, 9, -1), (72, 0, 9, 9), (0, 52, 9, 9), (0, 0, 10**40, 1)]
)
def test_a_box_that_is_not_inside_is_refused(box):
    with pytest.raises(ImageRefused, match="CROP_OUTSIDE · The image has 80 × 60 pixels"):
        crop(upright(saved(quarters(), "PNG")), *box)


def test_the_box_may_be_the_whole_image_or_one_pixel():
    whole = upright(saved(quarters(), "PNG"))
    assert opened(crop(whole, 0, 0, 80, 60)[0]).size == (80, 60)
    assert colours(crop(whole, 79, 59, 1, 1)[0]) == {YELLOW}


@pytest.mark.parametrize("data", [b"", b"no image", saved(quarters(), "JPEG")[:300]])
def test_a_file_that_is_refused_whole_is_refused_for_crops(data):
    with pytest.raises(ImageRefused) as whole:
        check_and_render(data)
    with pytest.raises(ImageRefused, match=whole.value.code):
        upright(data)


def test_the_pixel_cap_is_the_whole_image_s(monkeypatch):
    monkeypatch.setattr(limits, "MAX_PIXELS", 80 * 60 - 1)
    with pytest.raises(ImageRefused, match="IMAGE_TOO_LARGE"):
        upright(saved(quarters(), "PNG"))


LARGEST = """
import sys
from workers.images import crop, upright
from tests.peak_memory import peak_memory
whole = upright(open(sys.argv[1], "rb").read())
width, height = whole.pixels.size
for _ in range(int(sys.argv[2])):
    crop(whole, 0, 0, width, height)
print(peak_memory())
"""


@pytest.mark.parametrize(
    ("share", "crops"), [(4, 1), *(pytest.param(1, crops, marks=pytest.mark.nightly) for crops in (1, 3))]
)
def test_crops_as_large_as_the_largest_image_stay_under_the_memory_limit(tmp_path, share, crops):
    """Noise on top, which no PNG can make small. `share`: of the largest image, and of the memory."""
    side = int((limits.MAX_PIXELS / share) ** 0.5)
    image = Drawing.new("RGBA", (side, side), (9, 9, 9, 90))
    image.paste(Drawing.effect_noise((side, side // 4), 90).convert("RGBA"), (0, 0))
    (tmp_path / "a.webp").write_bytes(saved(image, "WEBP", method=0))
    command = [sys.executable, "-c", LARGEST, tmp_path / "a.webp", str(crops)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    alone = 25 if share > 1 else 0  # MiB that Python and its modules take, whatever the image
    assert int(done.stdout) < (alone + 512 / share) * 2**20, int(done.stdout) / 2**20
