"""Tiny videos: frames of one colour each, from dark to light, with a sound and metadata if asked for."""

import io
import os
from functools import cache

import av
import numpy as np

OPTIONS = {
    "libx264": {"preset": "ultrafast"},
    "libvpx": {"deadline": "realtime", "cpu-used": "8"},
    "libvpx-vp9": {"deadline": "realtime", "cpu-used": "8"},
    "libsvtav1": {"preset": "12"},
}
SOUNDS = {"mp4": "aac", "webm": "libopus"}
SECRETS = {"title": "canary", "comment": "canary", "location": "+52.5200+013.4050/", "artist": "canary"}
os.environ.setdefault("SVT_LOG", "1")  # errors only


@cache
def video(
    codec: str = "libvpx", container: str = "webm", seconds: float = 1, size: tuple[int, int] = (64, 48),
    rate: int = 10, sound: str = "", secret: bool = False, pixels: str = "yuv420p", start: int = 0, ratio: int = 1,
) -> bytes:  # fmt: skip
    """`start`: the grey of the first frame; `ratio`: how many times as wide as high a pixel is."""
    file = io.BytesIO()
    with av.open(file, "w", format=container) as out:
        stream = out.add_stream(codec, rate=rate, options=OPTIONS.get(codec, {}))
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        stream.codec_context.sample_aspect_ratio = ratio
        if secret:
            out.metadata.update(SECRETS)
            stream.metadata["handler_name"] = "canary"
        heard = out.add_stream(sound, rate=48_000, layout="stereo") if sound else None
        count = int(seconds * rate)
        for number in range(count):
            grey = np.full((size[1], size[0], 3), start + (255 - start) * number // count, np.uint8)
            out.mux(stream.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        out.mux(stream.encode(None))
        for number in range(int(seconds * 50)) if heard else ():
            frame = av.AudioFrame.from_ndarray(np.zeros((2, 960), np.float32), format="fltp", layout="stereo")
            frame.sample_rate, frame.pts = 48_000, number * 960
            out.mux(heard.encode(frame))
        if heard:
            out.mux(heard.encode(None))
    return file.getvalue()


@cache
def only_sound() -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as out:
        heard = out.add_stream("aac", rate=48_000, layout="stereo")
        frame = av.AudioFrame.from_ndarray(np.zeros((2, 1024), np.float32), format="fltp", layout="stereo")
        frame.sample_rate = 48_000
        out.mux(heard.encode(frame))
        out.mux(heard.encode(None))
    return file.getvalue()


def turned(data: bytes) -> bytes:
    """An MP4 as telephones write it that were held upright: to be shown a quarter to the right."""
    upright = b"".join(number.to_bytes(4, "big") for number in (1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30))
    right = b"".join(number.to_bytes(4, "big") for number in (0, 1 << 16, 0, (-1 << 16) % 2**32, 0, 0, 0, 0, 1 << 30))
    track = data.index(b"tkhd")
    place = data.index(upright, track)
    return data[:place] + right + data[place + len(right) :]


def opened(data: bytes) -> "av.container.InputContainer":
    return av.open(io.BytesIO(data))
