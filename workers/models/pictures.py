"""An image file as models see it."""

from PIL.Image import Image

from workers.contents import Contents
from workers.images import ImageRefused, pixels_of
from workers.models.refusals import CannotScore


def picture(file: Contents) -> Image:
    """Its pixels (`workers.images.pixels_of`). CannotScore: IMAGE_MISSING, or what is wrong with the image."""
    try:
        return pixels_of(file.read_bytes())
    except OSError as error:
        missing = f"The image file {file.name[:16]}… is missing from the storage ({error.strerror or error})."
        raise CannotScore("IMAGE_MISSING", f"{missing} Restore it.") from error
    except ImageRefused as refused:
        raise CannotScore(refused.code, f"The image file {file.name[:16]}…: {refused.advice}") from refused
