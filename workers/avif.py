"""AVIF from unknown sources, decoded in a child process with bounded memory.

libavif decodes the picture that the stream has, not the one that the file announces, and only then shrinks it: a file
of 1 KB that says 16 × 16 can take 2 GB. Pillow offers no bound on that. The child runs this module as a script:

    python -m workers.avif MEMORY < FILE > PIXELS
"""

import io
import subprocess
import sys
from pathlib import Path

from PIL import AvifImagePlugin, Image

from workers import limits

ROOT = Path(__file__).resolve().parent.parent
CHILD = ("-E", "-s", "-m", "workers.avif")  # ignore Python settings in the environment
START = slice(4, 12), (b"ftypavif", b"ftypavis")  # where a file says that it is an AVIF, and how
FIXED, PER_PIXEL = 128 * limits.MIB, 24  # bytes of data; the decoder's picture has up to 8 a pixel, Pillow's copies 12


def pixels(data: bytes, image: Image.Image) -> Image.Image:
    """The first frame of `data`, whose header is `image`. Raises an exception of any kind if it cannot be decoded."""
    width, height = image.size
    command = [sys.executable, *CHILD, str(FIXED + PER_PIXEL * width * height)]
    done = subprocess.run(
        command, input=data, capture_output=True, cwd=ROOT, check=True, timeout=limits.MAX_AVIF_SECONDS
    )
    found = Image.frombytes(image.mode, image.size, done.stdout)
    found.info = dict(image.info)
    return found


def _write_pixels(memory: int) -> None:
    """Decode what comes on the standard input, in at most this many bytes; on systems without such a limit, in any."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # the memory of their stacks would count, and several images run at once
    with Image.open(io.BytesIO(sys.stdin.buffer.read()), formats=["AVIF"]) as image:
        sys.stdout.buffer.write(image.tobytes())


if __name__ == "__main__":
    _write_pixels(int(sys.argv[1]))
