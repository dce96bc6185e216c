"""Two web servers and two workers on folders of their own, which share PostgreSQL, Valkey and a bucket, and no file."""

import io
import os
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Judgment, Release
from annotation.releases.verification.verifying import verify
from annotation.simulation import crowd
from benchmarks.models import Benchmark, Image, Job, JobState
from config import services
from tests.builders import imports, object_storage, studies
from tests.config.running import Servers, free_port

ITEMS, ANNOTATORS = 4, 2
CHUNK = 3000  # bytes
RELEASE = {
    "name": "cups", "version": "1.0", "stages": ["1"], "splits": "one", "seed": "0", "shard_mb": "500",
    "forms": ["csv"], "word-licence": "MIT",
}  # fmt: skip


class Machine:
    """A folder of its own with a web server and a worker."""

    def __init__(self, var: Path, servers: Servers):
        self.var, port = var, free_port()
        var.mkdir()
        self.url = f"http://127.0.0.1:{port}"
        web = ["--bind", f"127.0.0.1:{port}", "--worker-class", "config.buffering.Worker", "--threads", "4"]
        web += ["--no-control-socket"]
        worker = ["--concurrency", "1", "--hostname", f"{var.name}@%h", "--without-gossip", "--without-mingle"]
        servers.start("gunicorn", "config.wsgi", *web, "--log-level", "warning", var=var)
        servers.start("celery", "-A", "config", "worker", *worker, "--loglevel", "WARNING", var=var)

    def files(self) -> list[str]:
        kept = ("media", "uploads", "work")
        return [str(path) for folder in kept for path in (self.var / folder).rglob("*") if path.is_file()]

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz").status_code == 200
        except httpx.HTTPError:
            return False


@contextmanager
def running(folder: Path, bucket: str) -> Iterator[tuple[Machine, Machine]]:
    valkey = services.Servers(folder, postgres=False, durable=False)
    valkey.start()
    environment = {
        "DATABASE_URL": os.environ["DATABASE_URL"].replace("/winnow?", f"/{connection.settings_dict['NAME']}?"),
        "REDIS_URL": services.redis_url(folder), "SECRET_KEY": settings.SECRET_KEY, "WINNOW_VAR": str(folder),
        "WINNOW_S3_URL": object_storage.server().url, "WINNOW_S3_BUCKET": bucket,
        "WINNOW_S3_ACCESS_KEY": object_storage.KEY, "WINNOW_S3_SECRET_KEY": object_storage.SECRET,
    }  # fmt: skip
    servers = Servers(folder / "servers.log", environment)
    try:
        one, two = (Machine(folder / name, servers) for name in ("one", "two"))
        wait_for(lambda: one.is_ready() and two.is_ready())
        yield one, two
    finally:
        servers.close()
        valkey.stop()


def wait_for(until: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def done(*jobs: Job) -> None:
    wait_for(lambda: not Job.objects.filter(pk__in=[job.pk for job in jobs], finished_at=None).exists())
    for job in jobs:
        job.refresh_from_db()
        assert job.state == JobState.DONE, job.problems


class Manager:
    """Someone who is logged in at both machines."""

    def __init__(self, machines: tuple[Machine, Machine]):
        session = Client()
        session.force_login(User.objects.create_superuser("ana"))
        cookies = {
            settings.SESSION_COOKIE_NAME: session.cookies[settings.SESSION_COOKIE_NAME].value,
            "csrftoken": "a" * 32,
        }
        self.at = [
            httpx.Client(base_url=machine.url, cookies=cookies, headers={"X-CSRFToken": "a" * 32}, timeout=60)
            for machine in machines
        ]

    def upload(self, field: str, path: Path) -> str:
        """Chunk by chunk, each to the other machine than the one before. If the bucket does not answer in time, which
        is a process of this busy machine, again, as clients do.
        """
        data = path.read_bytes()
        facts = {"field": field, "name": path.name, "size": len(data), "modified": 1}
        key = {"Idempotency-Key": field}
        id = self.at[0].post(reverse("api-upload-list"), json=facts, headers=key).json()["id"]
        url = reverse("api-upload-detail", args=[id])
        offset, sent, late = 0, 0, 0
        while offset < len(data):
            headers = {"Upload-Offset": str(offset), "Content-Type": "application/octet-stream"}
            answer = self.at[sent % 2].patch(url, content=data[offset : offset + CHUNK], headers=headers)
            sent += 1
            if answer.status_code == 503 and late < 5:
                late += 1
                time.sleep(2)
                answer = self.at[0].get(url)
            assert answer.status_code == 200, answer.text
            offset = answer.json()["received"]
        assert sent - late == -(-len(data) // CHUNK)
        return id


@pytest.mark.django_db(transaction=True)
def test_they_import_judge_export_and_release_as_one(bucket, tmp_path):
    truth = {"bivlc-choose": ["candidate-0"]}  # the crowd keeps every item, whoever takes which task
    items = [imports.item(number, images=pictures(number), truth=truth) for number in range(ITEMS)]
    names = [picture["file"] for number in range(ITEMS) for picture in pictures(number)]
    given = imports.manifest(tmp_path, items), imports.archive(tmp_path, names)
    with tempfile.TemporaryDirectory(prefix="winnow-machines-") as folder, running(Path(folder), bucket) as machines:
        manager = Manager(machines)
        one, two = manager.at
        form = {"name": "Cups", "format": "jsonl"}
        for field, path in zip(("data", "images"), given, strict=True):
            form[f"{field}_new"] = manager.upload(field, path)
        assert two.post(reverse("import-new"), data=form).status_code == 302
        done(Job.objects.get(kind="import"))
        study = studies.study(benchmark=Benchmark.objects.get(), overlap=1, name="Red cups")
        for number, machine in enumerate(machines):  # the second crowd finishes what the first one has begun
            limit = ITEMS // 2 if number == 0 else None
            plan = crowd.Plan(machine.url, annotators=ANNOTATORS, seed=number, limit=limit, error_rate=0)
            assert crowd.simulate(study=study, plan=plan).errors == []
        assert Judgment.objects.filter(withdrawn=False).count() >= ITEMS
        shown = [at.get(reverse("image", args=[Image.objects.first().opaque])) for at in manager.at]
        assert shown[0].content == shown[1].content != b"" and {at.status_code for at in shown} == {200}

        # An export and a release at once: each worker takes one, and the other machine sends it.
        assert one.post(reverse("study-export", args=[study.pk])).status_code == 302
        assert two.post(reverse("release-new", args=[study.pk]), data=RELEASE).status_code == 302
        export, release = Job.objects.get(kind="export"), Release.objects.get()
        done(export, release.job)
        assert all((machine.var / "work").is_dir() for machine in machines)
        release.refresh_from_db()
        for at in manager.at:
            packed = at.get(reverse("study-download", args=[study.pk, export.pk])).content
            assert zipfile.ZipFile(io.BytesIO(packed)).testzip() is None
            part = at.get(reverse("release-download", args=[release.pk]), headers={"Range": "bytes=100-"})
            assert (part.status_code, len(part.content)) == (206, release.size - 100)
        whole = at.get(reverse("release-download", args=[release.pk])).content
        zipfile.ZipFile(io.BytesIO(whole)).extractall(tmp_path / "release")
        assert verify(tmp_path / "release" / release.folder).good
        assert [machine.files() for machine in machines] == [[], []]


def pictures(number: int) -> list[dict]:
    roles = ("positive", "candidate", "candidate")
    return [{"role": role, "file": f"{number}-{place}.jpg"} for place, role in enumerate(roles)]
