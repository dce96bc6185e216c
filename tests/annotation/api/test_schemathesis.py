"""The API against its own description: whatever Schemathesis makes of it, a live server answers as described."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse

from benchmarks.accounts import tokens
from tests.annotation.api.writing import made
from tests.builders import crowds, releases

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance",
)  # fmt: skip


@pytest.fixture
def description(client, transactional_db, monkeypatch) -> dict:
    """With the ids of what is there, beside one of what is not: made-up ids alone would all be unknown."""
    client.force_login(User.objects.create_superuser("ana"))
    monkeypatch.setattr(tokens.PerToken, "THROTTLE_RATES", {"token": "100000/min"})
    study = crowds.stage(items=4, people=2, overlap=2).study
    release, task = releases.by_hand(study), study.stages.get().tasks.first()
    export = made(client, "api-export-list", study.pk, expects=202)
    upload = made(client, "api-upload-list", name="a.zip", size=100)
    there = {"studies": study.pk, "benchmarks": study.benchmark_id, "releases": release.pk, "jobs": export["id"]}
    found = client.get(reverse("api-schema")).json()
    for path, of in found["paths"].items():
        ids = {"id": there.get(path.split("/")[3]), "position": 1, "job": export["id"]}
        ids |= {"name": "README.md", "opaque": upload["id"], "number": 1, "member": 1, "run": 1, "task": task.pk}
        for parameter in (one for call in of.values() for one in call.get("parameters", ()) if one["in"] == "path"):
            strange = 10**20 if parameter["schema"]["type"] == "integer" else "0" * 32
            parameter["schema"]["enum"] = [ids[parameter["name"]], strange]
    return found


def broken(description: dict, site: str, folder: Path, *options: str, token: str) -> str:
    """What Schemathesis says is not as described; empty if all is."""
    (folder / "schema.json").write_text(json.dumps(description))
    command = [Path(sys.executable).with_name("schemathesis"), "--no-color", "run", "schema.json", "--url", site]
    command += ["--checks", ",".join(CHECKS), "--suppress-health-check", "all"]
    command += ["--continue-on-failure", "--no-shrink", "--warnings", "off", *options]
    hooks = {"SCHEMATHESIS_HOOKS": "schemathesis_keys", "PYTHONPATH": str(Path(__file__).parent)}
    hooks["HYPOTHESIS_STORAGE_DIRECTORY"] = str(settings.BASE_DIR / ".hypothesis")  # has tables of Unicode
    environment = {**os.environ, **hooks, "WINNOW_TOKEN": token}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    return "" if done.returncode == 0 else done.stdout + done.stderr


FEW = ("--phases", "fuzzing", "--generation-deterministic", "--max-examples")
MANY = ("--phases", "examples,coverage,fuzzing", "--generation-database", "none", "--max-examples")


@pytest.mark.parametrize("options", [(*FEW, "2"), pytest.param((*MANY, "30"), marks=pytest.mark.nightly)])
def test_every_answer_is_as_described(description, site, tmp_path, options):
    token = tokens.make_token(user=User.objects.get(), by="test")
    assert broken(description, site, tmp_path, *options, token=token) == ""
