"""What becomes of a video: its pictures and sound, and nothing else of the file; what is refused, and why."""

import io
import random
import subprocess

import av
import pytest
from PIL import Image as Drawing

from tests.benchmarks.bad_inputs.case import picture
from tests.builders.videos import SOUNDS, only_sound, opened, turned, video
from workers import limits, videos
from workers.images import ImageRefused

KINDS = [  # codec, container
    ("libx264", "mp4"), ("libsvtav1", "mp4"), ("libvpx-vp9", "mp4"),
    ("libvpx", "webm"), ("libvpx-vp9", "webm"), ("libsvtav1", "webm"),
]  # fmt: skip
PLAIN = [("libx264", "mp4"), ("libvpx", "webm")]


def poster(data: bytes) -> Drawing.Image:
    return Drawing.open(io.BytesIO(videos.check_and_render(data).served))


def refused(data: bytes) -> ImageRefused:
    with pytest.raises(ImageRefused) as raised:
        videos.check_and_render(data)
    return raised.value


def packets(data: bytes) -> list[tuple[str, bytes, int]]:
    """What the decoders get: kind, bytes, and time in milliseconds."""
    with opened(data) as source:
        return [
            (packet.stream.type, bytes(packet), round(1000 * packet.pts * packet.time_base))
            for packet in source.demux()
            if packet.size
        ]


@pytest.mark.parametrize(("codec", "container"), KINDS)
def test_pictures_and_sound_are_served_as_they_are_and_nothing_else(codec, container):
    data = video(codec, container, sound=SOUNDS[container], secret=True)
    made = videos.check_and_render(data)
    assert (made.format, made.width, made.height, made.notes) == (container.upper(), 64, 48, ())
    assert b"canary" in data and (b"52.5" in data or b"loci" in data)
    assert (
        b"canary" not in made.video
        and b"loci" not in made.video
        and b"52.5" not in made.video
        and b"x264" not in made.video
    )
    before, after = packets(data), packets(made.video)
    assert [(kind, at) for kind, _, at in after] == [(kind, at) for kind, _, at in before]
    if codec != "libx264":  # whose encoder's remarks go
        assert sorted(after) == sorted(before)
    assert videos.check_and_render(data) == made


def test_the_poster_is_the_frame_in_the_middle():
    grey = poster(video(seconds=2)).getpixel((32, 24))[0]
    assert abs(grey - 255 / 2) < 20
    assert abs(poster(video(seconds=2, start=200)).getpixel((32, 24))[0] - 227) < 20


def test_a_turned_video_has_an_upright_poster_and_stays_turned():
    made = videos.check_and_render(turned(video("libx264", "mp4")))
    assert (made.width, made.height) == (48, 64)
    with opened(made.video) as packed:
        assert next(packed.decode(video=0)).rotation == -90


def test_the_poster_has_the_shape_in_which_a_video_of_wide_pixels_is_shown():
    assert poster(video("libx264", "mp4", ratio=2)).size == (128, 48)
    assert refused(video("libx264", "mp4", size=(640, 480), ratio=200)).code == "VIDEO_TOO_LARGE"


@pytest.mark.parametrize(
    ("data", "code", "advice"),
    [
        (
            lambda: video("libx265", "mp4"),
            "VIDEO_NOT_ALLOWED",
            "Not every browser plays the codec hevc in MP4. Convert",
        ),
        (lambda: video("mpeg4", "mp4"), "VIDEO_NOT_ALLOWED", "the codec mpeg4"),
        (lambda: video("libx264", "mp4", pixels="yuv444p"), "VIDEO_NOT_ALLOWED", "h264 (yuv444p)"),
        (lambda: video("libx264", "mov"), "VIDEO_NOT_ALLOWED", "Use an MP4 or WebM. Convert it: ffmpeg"),
        (lambda: video("libx264", "matroska"), "VIDEO_NOT_ALLOWED", "Use an MP4 or WebM."),
        (lambda: video("libx264", "avi"), "VIDEO_NOT_ALLOWED", "Use an MP4 or WebM."),
        (only_sound, "NO_VIDEO_TRACK", "this one has none"),
        (lambda: video(seconds=limits.MAX_VIDEO_SECONDS + 2, rate=1), "VIDEO_TOO_LONG", "Use at most 120 seconds. Cut"),
        (
            lambda: video(seconds=0.1, size=(4100, 2160)),
            "VIDEO_TOO_LARGE",
            "Use at most 8,847,360 pixels per frame. Scale",
        ),
        (lambda: b"\0\0\0\x20ftypisom" + bytes(100), "VIDEO_CORRUPT", "cut off or damaged"),
        (lambda: b"hello", "FORMAT_NOT_ALLOWED", "Use a JPEG, PNG, WebP, AVIF or GIF. Videos are MP4 or WebM."),
    ],
    ids=range(11),
)
def test_what_is_refused(data, code, advice):
    found = refused(data())
    assert found.code == code and advice in found.advice


def test_the_length_that_counts_is_that_of_the_frames():
    """WebM says its length in its head, where anybody may write another."""
    data = video(seconds=limits.MAX_VIDEO_SECONDS + 2, rate=1)
    place = data.index(b"\x44\x89\x88")  # Duration, a number of 8 bytes
    short = data[: place + 3] + b"\x40\x8f\x40\0\0\0\0\0" + data[place + 11 :]  # 1,000 ms
    with opened(short) as told:
        assert told.duration == av.time_base
    assert refused(short).code == "VIDEO_TOO_LONG"


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize(("codec", "container"), PLAIN)
def test_one_that_is_cut_off_is_refused(codec, container, share):
    data = video(codec, container)
    assert refused(data[: int(len(data) * share)]).code in ("VIDEO_CORRUPT", "NO_VIDEO_TRACK")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("codec", "container"), PLAIN)
def test_any_damage_is_refused_or_harmless(codec, container, seed):
    chance, data = random.Random(seed), bytearray(video(codec, container))
    for _ in range(1 + 3 * seed):
        data[chance.randrange(12, len(data))] = chance.randrange(256)
    try:
        assert videos.check_and_render(bytes(data)).video
    except ImageRefused as found:
        assert found.code.startswith(("VIDEO_", "NO_VIDEO"))


def test_what_follows_the_video_is_left_out():
    for codec, container in PLAIN:
        assert b"canary" not in videos.check_and_render(video(codec, container) + b"canary" * 50).video


def test_sound_that_not_all_browsers_play_is_left_out_and_noted():
    made = videos.check_and_render(video("libx264", "mp4", sound="ac3"))
    assert made.notes == ("its sound is left out: not every browser plays it",)
    assert {kind for kind, _, _ in packets(made.video)} == {"video"}


def test_decoding_is_bounded_in_time_and_memory(monkeypatch):
    monkeypatch.setattr(limits, "MAX_VIDEO_MEMORY", 64 * limits.MIB)
    assert refused(video(seconds=0.2, size=(3840, 2160))).code == "VIDEO_CORRUPT"
    monkeypatch.setattr(limits, "MAX_VIDEO_DECODING", 0.01)
    found = refused(video())
    assert found.code == "VIDEO_TOO_LARGE" and isinstance(found.__cause__, subprocess.TimeoutExpired)


@pytest.mark.parametrize("format", ["JPEG", "AVIF"])
def test_an_image_stays_one(format):
    made = videos.check_and_render(picture(9, format))
    assert made.format == format and made.video == b""
