"""Images for a stage's instructions: uploaded by a manager, re-encoded, and served under an opaque name."""

import base64
import hashlib
from collections.abc import Mapping
from pathlib import PurePath

from django.db import transaction
from django.urls import reverse
from django.utils.text import slugify

from annotation.models import InstructionsImage, Stage
from annotation.studies import markdown
from annotation.studies.markdown import Picture
from benchmarks import audit
from benchmarks.housekeeping.deferred_files import DeferredFiles, deferred_files
from benchmarks.imports.images import in_turn
from benchmarks.storage.files import kept
from workers import images

MOST = 30  # images per stage
MOST_BYTES = 10 * 2**20  # bytes of an uploaded file
NAME = 50  # characters, before a number that makes it unique


class CannotAdd(ValueError):
    """The image was not stored; the message explains why."""


def pictures(stage: Stage) -> list[Picture]:
    """Return the uploaded images of a stage, by name."""
    return [_picture(image) for image in InstructionsImage.objects.filter(stage=stage)]


def pictures_in(stage: Stage, text: str) -> list[Picture]:
    """Return them if needed to show this text; no query if the text has no image."""
    return pictures(stage) if markdown.has_images(text) else []


def pictures_by_stage(study: int, embedded: bool = False) -> Mapping[int, list[Picture]]:
    """Return images by stage position; `embedded`: with data URLs, for a separate file."""
    found: dict[int, list[Picture]] = {}
    for image in InstructionsImage.objects.filter(stage__study=study).select_related("stage"):
        found.setdefault(image.stage.position, []).append(
            _picture(image)._replace(url=_data_url(image)) if embedded else _picture(image)
        )
    return found


def _picture(image: InstructionsImage) -> Picture:
    return Picture(image.name, reverse("instructions-image", args=[image.opaque]), image.width, image.height)


def _data_url(image: InstructionsImage) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(kept.read(image.path)).decode()}"


def add(*, stage: Stage, file_name: str, data: bytes, by: str) -> InstructionsImage:
    """Re-encode and store an image, named after its file, unless the stage already has it. Raises CannotAdd."""
    if len(data) > MOST_BYTES:
        raise CannotAdd(f"“{file_name}” is larger than {MOST_BYTES // 2**20} MB. Save it smaller.")
    try:
        with in_turn(data):
            rendered = images.check_and_render(data)
    except images.ImageRefused as refused:
        raise CannotAdd(f"“{file_name}”: {refused.advice}") from None
    with deferred_files() as after:
        return _store(stage, file_name, hashlib.sha256(data).hexdigest(), rendered.served, after, by)


@transaction.atomic
def _store(
    stage: Stage, file_name: str, sha256: str, served: bytes, after: DeferredFiles, by: str
) -> InstructionsImage:
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    there = {image.sha256: image for image in InstructionsImage.objects.filter(stage=stage)}
    if sha256 in there:
        return there[sha256]
    if len(there) >= MOST:
        raise CannotAdd(f"A stage can have at most {MOST} images.")
    width, height = images.opened(served).size
    name = _free_name(file_name, {image.name for image in there.values()})
    image = InstructionsImage.objects.create(stage=stage, name=name, sha256=sha256, width=width, height=height)
    after.arrive(image.path, served)
    audit.record(by=by, verb="added an image to instructions", subject=stage, name=name, afterwards=after.id)
    return image


def copy_images(*, source: Stage, to: Stage, after: DeferredFiles) -> None:
    """Copy another stage's images to a new stage, under the same names, in the caller's transaction."""
    for original in InstructionsImage.objects.filter(stage=source):
        image = InstructionsImage.objects.create(
            stage=to, name=original.name, sha256=original.sha256, width=original.width, height=original.height
        )
        after.arrive(image.path, kept.read(original.path))


def _free_name(file_name: str, taken: set[str]) -> str:
    """Return `six-fingers`, or `six-fingers-2`, for `Six fingers.PNG`."""
    name = slugify(PurePath(file_name).stem)[:NAME].strip("-_") or "image"
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    return next(one for one in (name, *numbered) if one not in taken)
