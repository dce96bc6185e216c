"""A picture of which every crop can be checked: red and green above, blue and yellow below."""

from PIL import Image as Drawing

from tests.benchmarks.bad_inputs.images import saved

RED, GREEN, BLUE, YELLOW = (200, 10, 20), (10, 160, 30), (20, 30, 200), (230, 220, 10)


def quarters(width: int = 80, height: int = 60, mode: str = "RGB") -> Drawing.Image:
    image = Drawing.new("RGB", (width, height), RED)
    half_width, half_height = width // 2, height // 2
    image.paste(GREEN, (half_width, 0, width, half_height))
    image.paste(BLUE, (0, half_height, half_width, height))
    image.paste(YELLOW, (half_width, half_height, width, height))
    return image.convert(mode)


def turned(image: Drawing.Image) -> bytes:
    """As a camera held on its side stores it: EXIF orientation 6."""
    exif = Drawing.Exif()
    exif[0x0112] = 6
    return saved(image.transpose(Drawing.Transpose.ROTATE_90), "PNG", exif=exif.tobytes())
