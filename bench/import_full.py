"""BiVLC's candidates at full size, in one go: 7,512 real rows, each of the images they name drawn as a stand-in.

    python -m bench.import_full            (about 3 GB of temporary disk; several minutes)

Starts its own servers in a temporary place. Prints the seconds until the items are stored, images per second, and how
long it then took to draw what annotators of images of different sizes see; what the page said after a tenth of the
images, and how long the rest took; the process's memory; and how fast two processes that do nothing else decode the
same images, and decode them and draw the two copies that are served.
"""

import argparse
import csv
import io
import multiprocessing
import os
import random
import statistics
import tarfile
import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from PIL import Image, ImageDraw

from bench import scratch
from workers.images import check_and_render

TABLE = Path(__file__).resolve().parents[2] / "shared" / "data" / "bivlc" / "BiVLC_negative_imgs.csv"
DRAWINGS = 64
ALONE = 2000  # images that two processes decode without an import
SIDE = 512


def drawing(seed: int) -> bytes:
    """Return a JPEG of 512 x 512 with circles and grain, about as large as a generated image's."""
    draw = random.Random(seed)
    image = Image.effect_noise((SIDE, SIDE), 40).convert("RGB")
    pen = ImageDraw.Draw(image)
    for _ in range(40):
        x, y, radius = draw.randrange(SIDE), draw.randrange(SIDE), draw.randrange(10, 120)
        colour = tuple(draw.randrange(256) for _ in range(3))
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85)
    return file.getvalue()


def numbered(jpeg: bytes, number: int) -> bytes:
    """Return the same picture with a different comment: other bytes, another hash, the same work to decode."""
    comment = f"stand-in {number}".encode()
    return jpeg[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2) + comment + jpeg[2:]


def pack(names: list[str], into: Path) -> None:
    drawings = [drawing(seed) for seed in range(DRAWINGS)]
    with tarfile.open(into, "w") as archive:
        for number, name in enumerate(names):
            data = numbered(drawings[number % DRAWINGS], number)
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))


def named_images(table: Path) -> list[str]:
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = ("filename", *(f"hn_img_{number}" for number in range(4)))
    return list(dict.fromkeys(row[column] for row in rows for column in columns))


class Memory(threading.Thread):
    """This process's resident memory, MB, five times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.samples: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self.over.wait(0.2):
            self.samples.append(int(Path("/proc/self/statm").read_text().split()[1]) * page / 2**20)

    def quarters(self) -> list[float]:
        size = max(1, len(self.samples) // 4)
        return [statistics.median(self.samples[start : start + size]) for start in range(0, 4 * size, size)]


def decode(data: bytes) -> None:
    Image.open(io.BytesIO(data)).load()


def alone(work: Callable[[bytes], object], archive: Path) -> float:
    """Return images per second for two processes that do nothing but `work`."""
    with tarfile.open(archive) as file:
        some = [file.extractfile(entry).read() for entry, _ in zip(file, range(ALONE), strict=False)]
    with multiprocessing.Pool(2) as pool:
        pool.map(work, some[:100], 10)  # both have started
        started = time.monotonic()
        for _ in pool.imap_unordered(work, some, 20):
            pass
    return len(some) / (time.monotonic() - started)


def measure(format: str, path: Path, archive: Path) -> None:
    from django.utils import timezone

    from benchmarks.imports import run as run_import
    from benchmarks.imports.order import Files, queue_import
    from benchmarks.jobs import jobs

    job = queue_import(name="Measured", format=format, files=Files(path, archive), by="measure")
    said: list[tuple[datetime, float]] = []  # when, and the seconds left

    def tell(phase: str, done: int, total: int | None) -> None:
        if phase == "checking images" and total and done >= total / 10 and not said:
            job.refresh_from_db()
            said.append((job.heartbeat_at, jobs.pace(job).seconds))

    memory = Memory()
    memory.start()
    job = jobs.run(job_id=job.pk, by="measure", work=run_import.import_files, tell=tell)
    framed = (timezone.now() - job.finished_at).total_seconds()
    memory.over.set()
    assert job.state == "done", job.problems
    seconds = (job.finished_at - job.started_at).total_seconds()
    [(at, left)] = said
    were = (job.finished_at - at).total_seconds()
    stored, report = job.report["images"]["stored"], job.report
    size = archive.stat().st_size / 2**20
    print(f"{report['items']:,} items, {report['uses']:,} places, {stored:,} images of {size:,.0f} MB")
    print(f"{seconds:,.0f} s, {stored / seconds:,.0f} images per second, on {os.cpu_count()} cores")
    print(f"after a tenth, {left:,.0f} s were announced as left, and it took {were:,.0f} s")
    print(f"then {framed:,.0f} s to draw the frames")
    print(f"memory: peak {max(memory.samples):,.0f} MB; median of each quarter of the time:", end=" ")
    print(", ".join(f"{mb:,.0f}" for mb in memory.quarters()), "MB")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--table", type=Path, default=TABLE, help="the CSV file of candidates")
    table = options.parse_args().table
    with scratch.winnow(durable=False) as var:
        pack(named_images(table), var / "images.tar")
        measure("bivlc-candidates", table, var / "images.tar")
        decoded, drawn = alone(decode, var / "images.tar"), alone(check_and_render, var / "images.tar")
        print(f"alone in two processes: {decoded:,.0f} images decoded per second; {drawn:,.0f} with their copies")


if __name__ == "__main__":
    main()
