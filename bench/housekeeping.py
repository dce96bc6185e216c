"""How long a backup, a restore and a deletion take as an installation grows, and in how much memory.

    python -m bench.housekeeping                        (about 4 GB of temporary disk; some minutes)
    python -m bench.housekeeping --judgments 10000 --images 100

Fills a study by SQL as study_page does, beside a small one that stays, and gives it images of 100 kB. Each command runs
in a process of its own, whose largest memory is told. What is restored is compared row by row with what was there.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from bench import scratch
from bench.study_page import filled

BYTES = {"original_path": 100_000, "served_path": 50_000, "thumbnail_path": 5_000}
RUN = """
import json, resource, sys, time, django
django.setup()
from django.core.management import call_command
begun = time.perf_counter()
call_command(*json.loads(sys.argv[1]))
most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"seconds": time.perf_counter() - begun, "memory": most}))
"""


def pictures(count: int) -> None:
    """Rows and files of random bytes; nothing looks at them but hashes."""
    from django.conf import settings

    from benchmarks.models import Image

    for image in Image.objects.all():  # those of study_page have no files
        make(image, settings.MEDIA_ROOT)
    for _ in range(count):
        make(Image(format="JPEG", width=9, height=9, size=BYTES["original_path"]), settings.MEDIA_ROOT)


def make(image, root: Path) -> None:
    contents = {name: os.urandom(size) for name, size in BYTES.items()}
    image.sha256 = hashlib.sha256(contents["original_path"]).hexdigest()
    image.save()
    for name, content in contents.items():
        path = Path(root) / getattr(image, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def work(*arguments: str) -> str:
    """The command in a process of its own: seconds and MB."""
    from django.db import connections

    connections.close_all()
    command = [sys.executable, "-c", RUN, json.dumps(arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    line = f"| {arguments[0]} | {found['seconds']:,.1f} | {found['memory']:,.0f} |"
    print(line, file=sys.stderr)
    return line


def state() -> dict[str, str]:
    """A hash of each table's rows, whatever their order; without the events, to which a restore adds one."""
    from benchmarks.housekeeping import tables

    found = {}
    for name in tables.names():
        total = 0
        for piece in tables.dump(name, tables.columns(name)):
            for line in piece.splitlines():
                total += int.from_bytes(hashlib.blake2b(line, digest_size=8).digest())
        found[name] = f"{total:x}"
    return {name: digest for name, digest in found.items() if name != "benchmarks_event"}


def measured(judgments: int, images: int, folder: Path) -> list[str]:
    from benchmarks.models import Image

    filled(1_000)
    stage = filled(judgments)
    pictures(images)
    print(f"{Image.objects.count():,} images", file=sys.stderr)
    before, lines = state(), [work("backup", str(folder))]
    lines.append(work("delete_study", str(stage.study_id), "--yes"))
    lines.append(work("restore", str(folder), "--replace"))
    assert state() == before
    return lines


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--judgments", type=int, default=1_000_000)
    options.add_argument("--images", type=int, default=10_000)
    given = options.parse_args()
    with scratch.winnow() as var:
        found = measured(given.judgments, given.images, var / "saved")
    print("\n".join(["| command | s | MB |", "|---|---|---|", *found]))


if __name__ == "__main__":
    main()
