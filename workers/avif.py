"""AVIF from unknown sources, decoded in a child process with bounded memory.

libavif decodes the picture in the stream, not the one announced in the file, and only then shrinks it: a file of 1 KB
that claims 16 × 16 can take 2 GB. Pillow does not limit that. The child runs this module as a script:

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
START = slice(4, 12), (b"ftypavif", b"ftypavis")  # position and values of the mark of an AVIF file
FIXED, PER_PIXEL = 128 * limits.MIB, 24  # bytes of data; the decoder uses up to 8 per pixel, Pillow's copies 12


def pixels(data: bytes, image: Image.Image) -> Image.Image:
    """Return the first frame of `data`, whose header is `image`. Raises any kind of exception if undecodable."""
    width, height = image.size
    command = [sys.executable, *CHILD, str(FIXED + PER_PIXEL * width * height)]
    done = subprocess.run(
        command, input=data, capture_output=True, cwd=ROOT, check=True, timeout=limits.MAX_AVIF_SECONDS
    )
    found = Image.frombytes(image.mode, image.size, done.stdout)
    found.info = dict(image.info)
    return found


def _write_pixels(memory: int) -> None:
    """Decode the standard input, in at most `memory` bytes, or any amount on systems without such a limit."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1  # their stacks would count as memory, and several images run at once
    with Image.open(io.BytesIO(sys.stdin.buffer.read()), formats=["AVIF"]) as image:
        sys.stdout.buffer.write(image.tobytes())


if __name__ == "__main__":
    _write_pixels(int(sys.argv[1]))
