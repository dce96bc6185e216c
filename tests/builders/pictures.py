"""Pictures for the builders' image rows: drawn here or given, rendered and stored as an import does it."""

import io
from collections.abc import Iterable
from functools import cache
from random import Random

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Drawing
from PIL import ImageDraw

from annotation.models import Annotator, Study
from benchmarks.models import Benchmark, Image, ItemImage
from tests.builders import studies
from workers.images import Rendered
from workers.videos import check_and_render

COLOURS = ("#c0392b", "#2980b9", "#27ae60", "#f39c12", "#8e44ad", "#16a085", "#d35400", "#7f8c8d", "#2c3e50")


@cache
def draw(number: int, width: int = 512, height: int = 512, **save) -> bytes:
    """A JPEG with a circle whose place and colour tell its number."""
    drawing = Drawing.new("RGB", (width, height), "#eeeeee")
    x, y = 40 + number * 37 % (width - 180), 40 + number * 61 % (height - 180)
    ImageDraw.Draw(drawing).ellipse((x, y, x + 140, y + 140), fill=COLOURS[number % len(COLOURS)])
    file = io.BytesIO()
    drawing.save(file, "JPEG", **save)
    return file.getvalue()


def noise(number: int, width: int = 512, height: int = 512) -> bytes:
    """A JPEG of as many bytes as a photograph; the same for the same number."""
    across, down = width // 6, height // 6
    spots = Drawing.frombytes("RGB", (across, down), Random(number).randbytes(3 * across * down))
    file = io.BytesIO()
    spots.resize((width, height), Drawing.Resampling.BICUBIC).save(file, "JPEG", quality=90)
    return file.getvalue()


rendered = cache(check_and_render)  # the same few pictures, in hundreds of studies


def put(image: Image, made: Rendered) -> None:
    default_storage.save(image.served_path, ContentFile(made.served))
    default_storage.save(image.thumbnail_path, ContentFile(made.thumbnail))
    if made.video:
        default_storage.save(image.video_path, ContentFile(made.video))


def paint(study: Study, pictures: Iterable[bytes] = ()) -> Study:
    """Files for every image row of the study's benchmark, as `paint_benchmark`."""
    paint_benchmark(study.benchmark, pictures)
    return study


def paint_benchmark(benchmark: Benchmark, pictures: Iterable[bytes] = ()) -> None:
    """Files for every image row, in the order of items and places; drawn where `pictures` has no more."""
    given = iter(pictures)
    uses = ItemImage.objects.filter(item__benchmark=benchmark).select_related("image")
    images = [use.image for use in uses.order_by("item__position", "role", "position")]
    for number, image in enumerate(images):
        made = rendered(next(given, None) or draw(number))
        image.width, image.height, image.format = made.width, made.height, made.format
        put(image, made)
    Image.objects.bulk_update(images, ["width", "height", "format"])


def desk(items: int = 3, ready: bool = True, **settings) -> Annotator:
    """A study with pictures, and somebody who may judge it."""
    return studies.annotator(paint(studies.study(items=items, **settings)), ready=ready)
