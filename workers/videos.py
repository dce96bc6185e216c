"""One image or short video: checked by a full decode, and prepared for serving. Thread-safe and deterministic.

A video is an MP4 or WebM whose codecs every browser plays. Its picture and sound are repackaged unchanged: nothing else
in the file (names, places, devices, comments, chapters, subtitles, data tracks, cover pictures, an H.264 encoder's
remarks) reaches an annotator. Its poster, the frame in the middle, is an image like any other.

Decoders have to read anybody's uploads, so a child process with bounded memory and time does all of it. It runs this
module as a script, and only it loads FFmpeg's libraries:

    python -m workers.videos MEMORY FILE < VIDEO > POSTER      (the packed video goes to FILE)
"""

import io
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from workers import images, limits
from workers.images import ImageRefused, Rendered

if TYPE_CHECKING:
    import av

ROOT = Path(__file__).resolve().parent.parent
CHILD = ("-E", "-s", "-m", "workers.videos")  # ignore Python settings in the environment
STILLS = (b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"mif1", b"msf1")  # images in a container like MP4's
MATROSKA = b"\x1aE\xdf\xa3"  # the start of a WebM, followed by its own name …
HEAD = slice(64)  # … here
SEGMENT = b"\x18S\x80g"  # the element with everything but its head
CODECS = {  # codecs of pictures and sound, by FFmpeg's name, that all current browsers play in such a file
    "MP4": ({"h264", "vp9", "av1"}, {"aac", "mp3", "opus", "flac"}),
    "WEBM": ({"vp8", "vp9", "av1"}, {"opus", "vorbis"}),
}
PIXELS = {"yuv420p", "yuvj420p"}
DEEP, DEEPER = {"yuv420p10le"}, {"vp9", "av1"}  # 10 bits, and the codecs for which browsers play them
REMARKS = {"h264": "filter_units=remove_types=6"}  # removes SEI, in which encoders write their name and settings
CONVERT = "Convert it: ffmpeg -i VIDEO -c:v libx264 -pix_fmt yuv420p -c:a aac -movflags +faststart NEW.mp4"
DAMAGED = "Save the video again from its source; this file is cut off or damaged."
TOO_LARGE = (
    f"Use at most {limits.MAX_VIDEO_PIXELS:,} pixels per frame. "
    "Scale it: ffmpeg -i VIDEO -vf scale=-2:1080 -pix_fmt yuv420p NEW.mp4"
)
TOO_LONG = (
    f"Use at most {limits.MAX_VIDEO_SECONDS} seconds. Cut it: ffmpeg -ss START -t {limits.MAX_VIDEO_SECONDS} "
    "-i VIDEO -pix_fmt yuv420p NEW.mp4"
)
TOO_SLOW = f"Decoding it takes more than {limits.MAX_VIDEO_DECODING} seconds. Use fewer or smaller frames."
NO_PICTURE = "Use a file with a video track; this one has none."
SILENCED = "its sound is left out: not every browser plays it"
NO_CROP = "A video cannot be cropped. Leave the crop out, or crop the file before the import."


@dataclass(frozen=True, slots=True)
class Checked:
    """A video of which every frame could be decoded. `packed`: the served file; `poster`: its middle frame, upright and
    in its display shape."""

    format: str  # a key of CODECS
    poster: Image.Image
    packed: bytes
    notes: tuple[str, ...]


def check_and_render(data: bytes) -> Rendered:
    """Check and render a video. Raises ImageRefused with the codes of `images.check_and_render` and `checked`."""
    if not is_video(data):
        try:
            return images.check_and_render(data)
        except ImageRefused as refused:
            if refused.code != "FORMAT_NOT_ALLOWED":
                raise
            raise ImageRefused(refused.code, f"{refused.advice} Videos are MP4 or WebM.") from refused
    found = checked(data)
    poster = images.fitted(found.poster, limits.SERVED_SIDE)
    made = images.rendered(data, found.format, found.poster.size, poster, list(found.notes))
    return replace(made, video=found.packed)


def is_video(data: bytes) -> bool:
    """Return whether it begins like a video, of a kind that Winnow accepts or another common one."""
    if data[4:8] == b"ftyp":
        return data[8:12] not in STILLS
    return data.startswith(MATROSKA) or (data[:4] == b"RIFF" and data[8:12] == b"AVI ")


def format_of(data: bytes) -> str:
    """Return a key of CODECS; "" for a video of another kind."""
    if data[4:8] == b"ftyp" and data[8:12] != b"qt  ":
        return "MP4"
    return "WEBM" if data.startswith(MATROSKA) and b"webm" in data[HEAD] else ""


def _is_cut_off(data: bytes, format: str) -> bool:
    """Return whether a WebM declares more bytes than it has, which FFmpeg ignores, unlike for an MP4."""
    start = data.find(SEGMENT, 0, HEAD.stop) + len(SEGMENT)
    if format != "WEBM" or start < len(SEGMENT) or start == len(data):
        return False
    width = 9 - data[start].bit_length()  # length of the byte count, given by the first set bit
    size = int.from_bytes(data[start : start + width]) & ~(-1 << 7 * width)
    is_known = size + 1 < 1 << 7 * width
    return is_known and start + width + size > len(data)


def checked(data: bytes) -> Checked:
    """Check a video in a child process. Raises ImageRefused: VIDEO_NOT_ALLOWED (its kind or codec), VIDEO_CORRUPT,
    NO_VIDEO_TRACK, VIDEO_TOO_LARGE, VIDEO_TOO_LONG.
    """
    format = format_of(data)
    if not format:
        raise ImageRefused("VIDEO_NOT_ALLOWED", f"Use an MP4 or WebM. {CONVERT}")
    if _is_cut_off(data, format):
        raise ImageRefused("VIDEO_CORRUPT", DAMAGED)
    with tempfile.TemporaryDirectory() as folder:  # not in the child, which may be killed
        packed = Path(folder, "packed")
        command = [sys.executable, *CHILD, str(limits.MAX_VIDEO_MEMORY), str(packed)]
        try:
            done = subprocess.run(
                command, input=data, capture_output=True, cwd=ROOT, check=True, timeout=limits.MAX_VIDEO_DECODING
            )
            head, _, pixels = done.stdout.partition(b"\n")
            said = json.loads(head)
        except subprocess.TimeoutExpired as error:
            raise ImageRefused("VIDEO_TOO_LARGE", TOO_SLOW) from error
        except (subprocess.CalledProcessError, ValueError) as error:  # out of memory, or a fault in the decoder
            raise ImageRefused("VIDEO_CORRUPT", DAMAGED) from error
        if "refused" in said:
            raise ImageRefused(*said["refused"])
        poster = Image.frombytes("RGB", said["size"], pixels)
        return Checked(format, poster, packed.read_bytes(), tuple(said["notes"]))


def _check(data: bytes, target: str) -> tuple[dict, bytes]:
    """Return the child's first line, and the poster's pixels, which follow it."""
    try:
        poster, notes = _packed_anew(data, target)
    except ImageRefused as refused:
        return {"refused": [refused.code, refused.advice]}, b""
    return {"size": poster.size, "notes": notes}, poster.tobytes()


def _packed_anew(data: bytes, target: str) -> tuple[Image.Image, list[str]]:
    """Return the poster, and notes for the owner. Raises ImageRefused, or one of FFmpeg's exceptions."""
    format = format_of(data)
    options = {"fflags": "+bitexact"} | ({"movflags": "+faststart"} if format == "MP4" else {})
    with (
        av.open(io.BytesIO(data), "r", format={"MP4": "mp4", "WEBM": "matroska"}[format]) as source,
        av.open(target, "w", format=format.lower(), options=options) as packed,
    ):
        picture, sound, notes = _tracks(source, format)
        tracks = {one.index: packed.add_stream_from_template(one, opaque=True) for one in (picture, sound) if one}
        cleaner = REMARKS.get(picture.codec.canonical_name)
        clean = cleaner and BitStreamFilterContext(cleaner, picture, tracks[picture.index])
        frames = _Frames(picture, (source.duration or 0) / av.time_base / 2)
        for packet in source.demux([source.streams[index] for index in tracks]):
            if packet.is_corrupt:
                raise ImageRefused("VIDEO_CORRUPT", DAMAGED)
            is_end = packet.dts is None  # an empty packet ends each track
            track, kept = tracks[packet.stream_index], [] if is_end else [packet]
            if packet.stream_index == picture.index:
                frames.take(packet)
                kept = clean.filter(None if is_end else packet) if clean else kept
            for one in kept:
                one.stream = track
                packed.mux(one)
        return frames.poster(), notes


def _tracks(source: "av.container.InputContainer", format: str) -> tuple[Any, Any, list[str]]:
    """Return the first track with pictures, the first playable sound track, if any, and notes for the owner."""
    seen = [one for one in source.streams.video if not one.disposition & Disposition.attached_pic]
    if not seen:
        raise ImageRefused("NO_VIDEO_TRACK", NO_PICTURE)
    picture, (pictures, sounds) = seen[0], CODECS[format]
    codec = picture.codec_context
    name = picture.codec.canonical_name if codec else "unknown"
    if codec and codec.pix_fmt is None:  # it could not be read at all
        raise ImageRefused("VIDEO_CORRUPT", DAMAGED)
    if name not in pictures or codec.pix_fmt not in PIXELS | (DEEP if name in DEEPER else set()):
        found = f"{name} ({codec.pix_fmt})" if name in pictures else f"the codec {name}"
        raise ImageRefused("VIDEO_NOT_ALLOWED", f"Not every browser plays {found} in {format}. {CONVERT}")
    if codec.width * codec.height > limits.MAX_VIDEO_PIXELS:
        raise ImageRefused("VIDEO_TOO_LARGE", TOO_LARGE)
    if source.duration is not None and source.duration > limits.MAX_VIDEO_SECONDS * av.time_base:
        raise ImageRefused("VIDEO_TOO_LONG", TOO_LONG)
    codec.thread_count = 1  # threads' stacks would count as memory, and several videos are decoded at once
    sound = next(
        (one for one in source.streams.audio if one.codec_context and one.codec.canonical_name in sounds), None
    )
    return picture, sound, [] if sound or not source.streams.audio else [SILENCED]


class _Frames:
    """Decodes the packets of a track, and keeps the frame shown at `middle` (seconds) as the poster."""

    def __init__(self, track: Any, middle: float):
        self.track, self.middle = track, middle
        self.start: float | None = None
        self.last = 0.0
        self.kept: Any = None

    def take(self, packet: Any) -> None:
        for frame in packet.decode():
            if frame.is_corrupt:
                raise ImageRefused("VIDEO_CORRUPT", DAMAGED)
            if frame.width * frame.height > limits.MAX_VIDEO_PIXELS:
                raise ImageRefused("VIDEO_TOO_LARGE", TOO_LARGE)
            at = self.last if frame.time is None else frame.time
            self.start = at if self.start is None else self.start
            self.last = at - self.start
            if self.last > limits.MAX_VIDEO_SECONDS:
                raise ImageRefused("VIDEO_TOO_LONG", TOO_LONG)
            if self.kept is None or self.last <= self.middle:
                self.kept = frame

    def poster(self) -> Image.Image:
        """Return the poster upright, and with square pixels."""
        if self.kept is None:
            raise ImageRefused("VIDEO_CORRUPT", DAMAGED)
        image = self.kept.to_image()
        ratio = self.track.sample_aspect_ratio
        if ratio and ratio != 1:
            width = max(1, round(image.width * ratio))
            if width * image.height > limits.MAX_VIDEO_PIXELS:
                raise ImageRefused("VIDEO_TOO_LARGE", TOO_LARGE)
            image = image.resize((width, image.height))
        return image.rotate(self.kept.rotation, expand=True) if self.kept.rotation else image


def _main(memory: int, target: str) -> None:
    """Check the standard input, in at most `memory` bytes, or any amount on systems without such a limit."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass
    av.logging.set_level(av.logging.PANIC)
    said, pixels = _check(sys.stdin.buffer.read(), target)
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n" + pixels)


if __name__ == "__main__":
    import av
    from av.bitstream import BitStreamFilterContext
    from av.stream import Disposition

    _main(int(sys.argv[1]), sys.argv[2])
