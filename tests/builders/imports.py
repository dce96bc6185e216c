"""What the tests of the import share: small manifests with small images, what the storage holds."""

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

from django.db import connection
from PIL import Image as Drawing

from benchmarks.imports import run as run_import
from benchmarks.imports import store
from benchmarks.imports.order import Files, Options, queue_import
from benchmarks.imports.staging import places
from benchmarks.jobs import jobs
from benchmarks.models import Benchmark, Caption, Image, Item, ItemImage, Job, JobState
from tests.builders import object_storage
from tests.builders.kills import killed as kill
from workers import images

ROOT = Path(__file__).resolve().parents[2]
TABLES = (Benchmark, Item, Caption, ItemImage, Image)


def jpeg(number: int, size: tuple[int, int] = (16, 16)) -> bytes:
    """A small JPEG of one colour; every number below 2^21 has bytes of its own."""
    file = io.BytesIO()
    drawing = Drawing.new("RGB", size, (number % 128 * 2, number // 128 % 128 * 2, number // 16384 * 2))
    drawing.save(file, "JPEG", comment=f"picture {number}".encode())
    return file.getvalue()


def item(number: int, **fields) -> dict:
    captions = [
        {"role": "positive", "text": f"A red cup, {number}."},
        {"role": "negative", "text": f"A blue cup, {number}."},
    ]
    images = [{"role": "positive", "file": f"{number}.jpg"}, {"role": "candidate", "file": f"{number}-0.jpg"}]
    return {"id": f"i{number}", "type": "swap", "subtype": "att", "captions": captions, "images": images, **fields}


def manifest(folder: Path, items: Iterable[dict], name: str = "items.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def archive(folder: Path, names: Iterable[str], extra: dict[str, bytes] | None = None) -> Path:
    """A zip with a picture of its own for each name, and the `extra` files as they are given."""
    path = folder / "images.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for number, name in enumerate(dict.fromkeys(names)):
            packed.writestr(name, jpeg(number))
        for name, data in (extra or {}).items():
            packed.writestr(name, data)
    return path


def small(folder: Path, count: int = 3, **extra) -> tuple[Path, Path]:
    """A manifest of `count` items and the zip of their images."""
    folder.mkdir(exist_ok=True)
    items = [item(number) for number in range(count)]
    names = [image["file"] for made in items for image in made["images"]]
    return manifest(folder, items), archive(folder, names, **extra)


def queued(
    path: Path, images: Path | None, name: str = "Cups", format: str = "jsonl", created_by=None, **options
) -> Job:
    files = Files(path, images)
    return queue_import(
        name=name, format=format, files=files, options=Options(**options), by="test", created_by=created_by
    )


def run(job: Job, **more) -> Job:
    return jobs.run(job_id=job.pk, by="test", work=run_import.import_files, **more)


def killed(job: Job, moment: str) -> None:
    """The job's worker dies before its commit: when everything is staged, or when everything has moved, too."""
    kill(lambda: run(job), *{"staged": (store, "store_images"), "moved": (jobs, "finish_job")}[moment])


def imported(path: Path, images: Path | None, **how) -> Job:
    return run(queued(path, images, **how))


def benchmark(path: Path, images: Path | None, name: str = "Cups", **how) -> Benchmark:
    """What an import without problems stores."""
    job = imported(path, images, name=name, **how)
    assert job.state == JobState.DONE, job.problems
    return Benchmark.objects.get(name=name)


def benchmark_of(folder: Path, items: Iterable[dict], files: dict[str, bytes], name: str) -> Benchmark:
    """Of a manifest with these items and an archive with these files, written to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    return benchmark(manifest(folder, items), archive(folder, [], files), name=name)


def alone(script: str, settings, *arguments: str) -> subprocess.CompletedProcess:
    """Run a script below tests/ as a process of its own, on this test's database and storage."""
    url = os.environ["DATABASE_URL"].replace("/winnow?", f"/{connection.settings_dict['NAME']}?")
    own = {"DATABASE_URL": url, "WINNOW_VAR": str(settings.VAR), "PYTHONPATH": str(ROOT)}
    own |= object_storage.environment(settings.STORAGES)
    command = [sys.executable, ROOT / "tests" / script, *arguments]
    return subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=300)


def codes(job: Job) -> list[str]:
    return [problem["code"] for problem in job.problems]


def tree(root: Path) -> list[str]:
    """Every file and folder below, by name."""
    return sorted(str(path.relative_to(root)) for path in Path(root).rglob("*"))


def rows() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in TABLES}


def named_files() -> list[str]:
    """Every file that the rows say there is, where no image is large."""
    found = [path for image in Image.objects.all() for path in places(image)]
    for item in Item.objects.prefetch_related("item_images__image"):
        uses = item.item_images.all()
        if not images.are_alike((use.role, use.image.width, use.image.height) for use in uses):
            found += [use.framed_path for use in uses]
    return sorted(found)


def stored_files(media: Path) -> list[str]:
    return sorted(path for path in tree(media) if (Path(media) / path).is_file())
