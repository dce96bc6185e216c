"""Releases: as the worker makes them, but at once; or written by hand, where a page only shows what stands in them."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.exports.files import content_hash
from annotation.models import Release, Study
from annotation.releases import build
from annotation.releases import lifecycle as release_lifecycle
from annotation.releases.plan import Plan
from annotation.releases.schema import KEY, VERSION
from benchmarks.jobs import jobs
from benchmarks.records import Problem, Refused

NAMING_THE_VERSION = {
    "README.md", "croissant.json", "data_statement.md", "lmms_eval/test.yaml", "manifest.json", "release.json",
}  # fmt: skip
CARD = b"---\npretty_name: x\n---\n# Cups\n\nA <b>red</b> cup.\n"


def asked(study: Study, version: str = "1.0", created_by=None, **plan) -> Release:
    """Not begun yet."""
    wanted = Plan(**{"name": f"split-{study.pk}", "version": version, **plan})
    return release_lifecycle.freeze(study=study, plan=wanted, by="test", created_by=created_by)


def frozen(study: Study, version: str = "1.0", **plan) -> Release:
    """As the worker makes it: of images that have files, and outside of any transaction."""
    release = asked(study, version, **plan)
    jobs.run(job_id=release.job_id, by="worker", work=release_lifecycle.run_release)
    release.refresh_from_db()
    assert release.frozen_at, release.job.problems
    return release


def failed(study: Study, version: str = "1.0", why: str = "The disk is full.", **plan) -> Release:
    release = asked(study, version, **plan)

    def refuse(job, progress):
        raise Refused([Problem("NO_SPACE", "", None, "", why)])

    jobs.run(job_id=release.job_id, by="worker", work=refuse)
    return Release.objects.select_related("job").get(pk=release.pk)


def by_hand(study: Study, version: str = "1.0", files: Mapping[str, bytes] = {}, **manifest) -> Release:
    """Frozen, with these files beside its card."""
    plan = Plan(f"split-{study.pk}", version)
    contents = {"README.md": CARD, "annotators.jsonl": b"", "data/test-00000-of-00001.parquet": b"PAR1", **files}
    told = {
        "counts": {"imported": 3, "kept": 2, "dropped": 1, "not_asked": 0, "open": 0, "reasons": [],
                   "not_asked_in": [], "open_in": []},
        "made_by": build.MADE_BY, "kind": build.KIND, "version": "0.1", KEY: VERSION, "release": plan.as_json(),
        "splits": {"test": {"items": 2}}, "split_rule": "All items are in test.", "exclusions": [], "moved": {},
        "files": {name: described(content) for name, content in sorted(contents.items())}, **manifest,
    }  # fmt: skip
    told["content"] = content_hash(told["files"])
    packed = pack(f"{plan.name}-{version}", {**contents, build.MANIFEST: json.dumps(told).encode()})
    kept = default_storage.save(f"releases/{plan.name}-{version}.zip", ContentFile(packed))
    rows = {"name": plan.name, "version": version, "plan": plan.as_json(), "content": told["content"], "file": kept}
    found = described(packed)
    rows |= {"size": found["bytes"], "sha256": found["sha256"], "summary": build.summary(told)}
    return Release.objects.create(study=study, frozen_at=timezone.now(), **rows)


def described(content: bytes) -> dict:
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "rows": None}


def pack(folder: str, contents: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(contents.items()):
            with archive.open(zipfile.ZipInfo(f"{folder}/{name}"), "w", force_zip64=True) as entry:
                entry.write(content)
    return packed.getvalue()
