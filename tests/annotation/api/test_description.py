"""The API's description: it is valid, it is all there, and a client that is made from it works."""

import contextlib
import importlib
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import get_resolver, reverse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.validation import validate_schema

from annotation.studies import members
from annotation.studies.setup_forms import StageForm
from benchmarks.accounts import tokens
from tests.builders import crowds

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def generated() -> tuple[dict, str]:
    """The description, and what was said while it was made."""
    with contextlib.redirect_stderr(io.StringIO()) as said:
        found = SchemaGenerator().get_schema(request=None, public=True)
    return json.loads(OpenApiJsonRenderer().render(found)), said.getvalue()


@pytest.fixture
def description(generated) -> dict:
    return generated[0]


def test_it_is_for_managers(client):
    assert client.get(reverse("api-schema")).status_code == 403
    client.force_login(User.objects.create_user("guest"))
    assert client.get(reverse("api-schema")).status_code == 403


def test_it_is_valid_and_made_without_a_guess(generated):
    found, said = generated
    validate_schema(found)
    assert "Warning" not in said


def test_it_has_every_address_verb_filter_and_a_key_with_every_post(description):
    names = [name for name in get_resolver().reverse_dict if isinstance(name, str) and name.startswith("api-")]
    pages = {"api-schema", "api-token", "api-token-revoke"}
    assert len(description["paths"]) == len(set(names) - pages)
    posts = {path: of["post"]["parameters"] for path, of in description["paths"].items() if "post" in of}
    assert [path for path, takes in posts.items() if not any(one["name"] == "Idempotency-Key" for one in takes)] == []

    # All that is written otherwise is an upload.
    found = {path: {*of} - {"get", "post"} for path, of in description["paths"].items()}
    assert {path: verbs for path, verbs in found.items() if verbs} == {"/api/v1/uploads/{opaque}/": {"patch", "delete"}}

    taken = description["paths"]["/api/v1/studies/{id}/judgments/"]["get"]["parameters"]
    named = {one["name"] for one in taken if one["in"] == "query"}
    assert named == {"limit", "ordering", "cursor", "stage", "annotator", "counted", "withdrawn", "since"}


def made_client(description: dict, folder: Path):
    """A package of its own, imported."""
    (folder / "schema.json").write_text(json.dumps(description))
    (folder / "config.yml").write_text("post_hooks: []\n")
    command = [
        Path(sys.executable).with_name("openapi-python-client"),
        "generate",
        "--meta",
        "none",
        "--fail-on-warning",
    ]
    files = ["--path", "schema.json", "--config", "config.yml", "--output-path", "winnow_api"]
    done = subprocess.run([*command, *files], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return importlib.import_module("winnow_api")


def test_figures_and_files_may_be_out_of_reach(description):
    """Those that are not computed yet, and those of a storage that is down."""
    study, release = "/api/v1/studies/{id}", "/api/v1/releases/{id}"
    files = {f"{study}/exports/{{job}}/file/", f"{release}/file/", f"{release}/files/{{name}}"}
    found = {path for path, of in description["paths"].items() if "503" in of.get("get", {}).get("responses", {})}
    assert found == {f"{study}/figures/", f"{study}/results/", "/api/v1/uploads/{opaque}/", *files}


def test_every_setting_of_the_page_can_be_given(description):
    schema = description["components"]["schemas"]["StageBody"]["properties"]
    assert set(schema) == set(StageForm.base_fields) - set(StageForm.ASSUMED)


def test_a_client_is_made_from_it_and_reads_a_study(client, description, site, tmp_path, monkeypatch):
    client.force_login(User.objects.create_user("ana", is_staff=True))
    for host in ("testserver", "localhost"):
        found = client.get(reverse("api-schema"), headers={"host": host}).json()
        assert found == {**description, "servers": [{"url": f"http://{host}"}]}
    monkeypatch.syspath_prepend(tmp_path)
    made = made_client(description, tmp_path)
    study = crowds.stage(items=6, people=3).study
    members.add(study=study, user=(owner := User.objects.get(username="ana")), role="viewer", by="test")
    asking = made.AuthenticatedClient(base_url=site, token=tokens.make_token(user=owner, by="test"))
    api = {
        name: importlib.import_module(f"winnow_api.api.studies.{name}") for name in ("studies", "study", "judgments")
    }
    assert [found.name for found in api["studies"].sync(client=asking).results] == [study.name]
    assert api["study"].sync(study.pk, client=asking).funnel["imported"] == 6
    page = api["judgments"].sync(study.pk, client=asking, counted=True, limit=3)
    assert [row.counted for row in page.results] == [True] * 3 and page.next_
    assert api["judgments"].sync_detailed(study.pk, client=asking, annotator="A-99").status_code == 400
