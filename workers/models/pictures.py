"""Image files as input for models."""

from PIL.Image import Image

from workers.contents import Contents
from workers.images import ImageRefused, pixels_of
from workers.models.refusals import CannotScore
from workers.videos import is_video

NO_VIDEOS = (
    "Winnow’s models see one image, which is less than people saw. Score only the captions with a language model, or "
    "import predictions that a video model made elsewhere."
)


def picture(file: Contents) -> Image:
    """Return its pixels (`workers.images.pixels_of`). Raises CannotScore, such as IMAGE_MISSING or VIDEO."""
    try:
        data = file.read_bytes()
        if is_video(data):
            raise CannotScore("VIDEO", f"The file {file.name[:16]}… is a video. {NO_VIDEOS}")
        return pixels_of(data)
    except OSError as error:
        missing = f"The image file {file.name[:16]}… is missing from the storage ({error.strerror or error})."
        raise CannotScore("IMAGE_MISSING", f"{missing} Restore it.") from error
    except ImageRefused as refused:
        raise CannotScore(refused.code, f"The image file {file.name[:16]}…: {refused.advice}") from refused
