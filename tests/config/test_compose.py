"""The compose file and the image's recipe, read as data; where a compose program is installed, it reads them too."""

import re
import shutil
import subprocess
import tomllib

import kubernetes_validate
import pytest
import yaml

from tests.config.running import ROOT

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
PODS = ("Deployment", "Job")
LASTING = ["web", "worker", "models", "postgres", "redis", "storage"]


@pytest.mark.parametrize("name", LASTING)
def test_every_lasting_service_has_a_health_check_and_a_named_volume(name):
    assert SERVICES[name]["healthcheck"]["test"]
    assert all(volume.split(":")[0] in COMPOSE["volumes"] for volume in SERVICES[name]["volumes"])


@pytest.mark.parametrize("name", SERVICES)
def test_no_services_log_fills_the_disk(name):
    assert SERVICES[name]["logging"]["options"] == {"max-size": "20m", "max-file": "5"}


def test_the_web_waits_for_migrations_and_they_for_good_settings_and_a_healthy_database():
    assert SERVICES["web"]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert SERVICES["migrate"]["depends_on"]["settings"]["condition"] == "service_completed_successfully"
    assert SERVICES["migrate"]["depends_on"]["postgres"]["condition"] == "service_healthy"


def test_replicas_are_web_servers_that_drain_before_a_balancer():
    """Docker waits for as long as the slowest of them takes; the balancer knows them all."""
    balanced = re.findall(r"server (\S+) \1:8000", (ROOT / "config" / "haproxy.cfg").read_text())
    assert balanced == ["web", "web-2", "web-3"]
    for name in balanced[1:]:
        assert SERVICES[name] == {**SERVICES["web"], "profiles": ["replicas"], "ports": []}
    assert SERVICES["web"]["stop_grace_period"] == "60s"
    assert "python:config.draining" in (ROOT / "Dockerfile").read_text()


def test_web_servers_alone_use_the_pooler_if_there_is_one():
    used = [name for name in SERVICES if "DATABASE_POOL_URL" in SERVICES[name].get("environment", {})]
    assert used == ["web", "web-2", "web-3"]
    assert SERVICES["web"]["depends_on"]["pooler"] == {"condition": "service_healthy", "required": False}
    assert "pool_mode = transaction" in (ROOT / "config" / "pgbouncer.ini").read_text()


def test_no_secret_has_a_default():
    """Winnow and PostgreSQL refuse an empty one, unless it is in a file."""
    text = (ROOT / "docker-compose.yml").read_text()
    for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "WINNOW_LLM_KEY"):
        assert set(re.findall(rf"(?<!\$)\${{{name}\b(.*?)}}", text)) == {":-"}
    assert set(re.findall(r"\${ALLOWED_HOSTS(:.)", text)) == {":?"}


@pytest.mark.parametrize("name", [name for name in SERVICES if SERVICES[name].get("image", "").startswith("winnow")])
def test_every_service_of_winnow_takes_its_secrets_from_files(name):
    named = {"secret_key": "SECRET_KEY", "postgres_password": "PGPASSWORD", "llm_key": "WINNOW_LLM_KEY"}
    named["providers"] = "WINNOW_PROVIDERS"
    service, own = SERVICES[name]["environment"], {"models": ["postgres_password", "llm_key"]}
    assert SERVICES[name]["secrets"] == own.get(name, ["secret_key", "postgres_password", "providers"])
    for secret in SERVICES[name]["secrets"]:
        assert service[f"{named[secret]}_FILE"].endswith(f":+/run/secrets/{secret}}}")


def test_the_models_service_serves_its_own_queue_alone_and_only_when_asked_for():
    models = SERVICES["models"]
    assert models["profiles"] == ["models"]
    assert models["command"][models["command"].index("--queues") + 1] == "models"
    assert models["build"]["args"] == {"REQUIREMENTS": "requirements/models.lock"}


@pytest.mark.parametrize("name", [name for name in SERVICES if "image" in SERVICES[name]])
def test_no_service_gains_rights_or_takes_all_the_memory(name):
    """Winnow's own containers write nowhere but to their data."""
    service = SERVICES[name]
    assert "no-new-privileges:true" in service.get("security_opt", []) or name == "storage"
    assert "mem_limit" in service or name == "storage"
    if service["image"].startswith("winnow"):
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["tmpfs"] == ["/tmp"]


def test_compose_passes_on_every_variable_of_the_guide_that_the_image_takes():
    guide = (ROOT / "docs/guide/deployment.md").read_text().split("## Every variable")[1].split("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.+?`) \|", guide, re.M) for name in re.findall(r"`([A-Z_0-9]+)`", row)}
    passed = {name for service in SERVICES.values() for name in service.get("environment", {})}
    of_make_run = {"PORT", "HOST", "WINNOW_DEMO_ITEMS", "WINNOW_DEBUG"}
    of_the_image = {"WINNOW_VAR", "WINNOW_STATIC", "WINNOW_MODELS", "WINNOW_ACCEL_REDIRECT"}
    assert named - passed == of_make_run | of_the_image
    values = {(name, value) for one in SERVICES.values() for name, value in one.get("environment", {}).items()}
    assert {name for name, value in values if name in named and f"${{{name}" not in value} == {
        "WINNOW_PRODUCTION",
        "SECRET_KEY",  # of `models`
    }


def test_kubernetes_objects_fit_their_schemas_and_run_without_rights():
    objects = list(yaml.safe_load_all((ROOT / "config/kubernetes/winnow.yaml").read_text()))
    for one in objects:
        kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
    pods = [one["spec"]["template"]["spec"] for one in objects if one["kind"] in PODS]
    assert len(pods) == 4
    for pod in pods:
        [box] = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] and box["securityContext"]["readOnlyRootFilesystem"]
        assert box["image"] == "winnow" and box["resources"]["limits"]["memory"]
    set_up = yaml.safe_load((ROOT / "config/kubernetes/kustomization.yaml").read_text())
    assert set_up["images"][0]["name"] == "winnow"
    assert set_up["images"][0]["newTag"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_models_service_has_none_of_the_others_secrets():
    models, worker = SERVICES["models"], SERVICES["worker"]
    shared = models["environment"].items() & worker["environment"].items()
    secret = {name for name, _ in shared if re.search("KEY|SECRET|PASSWORD|DATABASE|EMAIL|PROVIDERS", name)}
    of_database = {"DATABASE_URL", "PGPASSWORD", "PGPASSWORD_FILE"}
    assert secret == of_database | {"WINNOW_S3_ACCESS_KEY", "WINNOW_S3_SECRET_KEY"}
    assert models["volumes"] == ["data:/data"]


def test_the_storage_runs_only_when_asked_for_and_has_a_bucket_before_anything_uses_it():
    assert SERVICES["storage"]["profiles"] == SERVICES["bucket"]["profiles"] == ["storage"]
    assert SERVICES["bucket"]["depends_on"]["storage"]["condition"] == "service_healthy"
    waits = SERVICES["settings"]["depends_on"]["bucket"]
    assert waits == {"condition": "service_completed_successfully", "required": False}


def test_the_guide_pins_every_image_by_its_digest():
    recipes = "".join((ROOT / name).read_text() for name in ("Dockerfile", "docker-compose.yml"))
    named = {*re.findall(r"(?:FROM|image:) (\S+:\S+)", recipes)}
    [loop] = re.findall(r"for image in (.+); do", (ROOT / "docs/guide/upgrade.md").read_text())
    assert {name.partition("@")[0] for name in named} == {*loop.split()}


def test_the_image_runs_as_a_user_of_its_own():
    assert "\nUSER winnow\n" in (ROOT / "Dockerfile").read_text()


def compose(folder) -> subprocess.CompletedProcess:
    for program in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(program[0]) and not subprocess.run([*program, "version"], capture_output=True).returncode:
            return subprocess.run([*program, "config"], cwd=folder, capture_output=True, text=True)
    pytest.skip("no docker compose on this machine")


def test_compose_takes_the_example_and_asks_for_what_is_missing(tmp_path):
    shutil.copy(ROOT / "docker-compose.yml", tmp_path)
    example = (ROOT / ".env.example").read_text()
    (tmp_path / ".env").write_text(example)
    assert compose(tmp_path).returncode == 0
    (tmp_path / ".env").write_text(example.replace("ALLOWED_HOSTS=", "#"))
    refused = compose(tmp_path)
    assert refused.returncode != 0
    assert "set ALLOWED_HOSTS in .env" in refused.stderr
