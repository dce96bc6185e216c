"""Settings come from the environment alone; what is missing or wrong is said in a sentence."""

import os
import runpy
import subprocess
import sys
import tomllib

import pytest
import yaml
from django.core.checks import WARNING, run_checks
from django.core.checks.security.base import check_secret_key
from django.core.exceptions import ImproperlyConfigured

from tests.config.running import ROOT

DATABASE = "postgresql://winnow:p@localhost/winnow"
PRODUCTION = {
    "WINNOW_PRODUCTION": "1",
    "SECRET_KEY": "".join(chr(65 + number * 7 % 58) for number in range(64)),
    "ALLOWED_HOSTS": "winnow.example.org",
    "DATABASE_URL": DATABASE,
    "REDIS_URL": "redis://localhost:6379/0",
}


MAIL = {"EMAIL_HOST": "mail.example.org", "EMAIL_FROM": "w@example.org", "WINNOW_URL": "https://winnow.example.org/"}
PROVIDER = {"issuer": '"https://login.example.org/"', "client_id": '"winnow"', "client_secret": '"x"'}
IDP = {"metadata": '"https://idp.example.org/metadata"', "entity_id": '"https://idp.example.org"'}


def provider(of: dict[str, str] = PROVIDER, /, **changed: str) -> dict[str, str]:
    """The environment with a provider that has these settings, in TOML."""
    return {"WINNOW_PROVIDERS": "\n".join(["[uni]", *(f"{name} = {of}" for name, of in (of | changed).items())])}


BUCKET = {"WINNOW_S3_BUCKET": "winnow", "WINNOW_S3_ACCESS_KEY": "k", "WINNOW_S3_SECRET_KEY": "s"}
# What is wrong with one setting or lacks, and how the sentence about it begins, by what else is set
REFUSED = [
    (PRODUCTION, {"SECRET_KEY": ""}, "Set SECRET_KEY: ."),
    (PRODUCTION, {"SECRET_KEY": "replace-this"}, "Set SECRET_KEY: ."),
    (PRODUCTION, {"PGPASSWORD": "replace-this"}, "Set PGPASSWORD: ."),
    (PRODUCTION, {"ALLOWED_HOSTS": ""}, "Set ALLOWED_HOSTS: ."),
    (PRODUCTION, {"DATABASE_URL": ""}, "Set DATABASE_URL: ."),
    (PRODUCTION, {"REDIS_URL": ""}, "Set REDIS_URL: ."),
    *(({}, {"DATABASE_URL": url}, "DATABASE_URL .") for url in ("sqlite:///x.db", "localhost", "gopher://x")),
    ({}, {"DATABASE_POOL_URL": "redis://pooler"}, "DATABASE_POOL_URL ."),
    *(({}, {"WINNOW_PROXIES": number}, "WINNOW_PROXIES .") for number in ("one", "-1", "1.5")),
    *(({}, {"WINNOW_DEMO_ITEMS": number}, "WINNOW_DEMO_ITEMS .") for number in ("few", "0", "-3", "61")),
    ({}, {"WINNOW_WEBHOOK_PRIVATE": "10.0.0.0/8, lab"}, "WINNOW_WEBHOOK_PRIVATE ."),
    (MAIL, {"EMAIL_FROM": ""}, ".*EMAIL_FROM"),
    (MAIL, {"WINNOW_URL": ""}, ".*WINNOW_URL"),
    (MAIL, {"WINNOW_URL": "winnow.example.org"}, ".*WINNOW_URL"),
    (MAIL, {"EMAIL_PORT": "smtp"}, ".*EMAIL_PORT"),
    (MAIL, {"EMAIL_USE_TLS": "1", "EMAIL_USE_SSL": "1"}, ".*EMAIL_USE_TLS"),
    ({}, {"WINNOW_PROVIDERS": "uni = {"}, "WINNOW_PROVIDERS is not TOML.*An example: "),
    ({}, {"WINNOW_PROVIDERS": 'uni = "x"'}, r".*\[uni\]: give each provider a table"),
    ({}, {"WINNOW_PROVIDERS": '["a b"]'}, r".*\[a b\]: a name has small letters"),
    *(
        ({}, provider(of, **wrong), rf"WINNOW_PROVIDERS, \[uni\]: .*{says}")
        for of, wrong, says in (
            (PROVIDER, {"isuer": '"x"'}, "isuer"),
            (PROVIDER, {"issuer": '"login.example.org"'}, "issuer must be an address like"),
            (PROVIDER, {"client_id": '""'}, "set client_id"),
            (PROVIDER, {"client_secret": '""'}, "client_secret or client_secret_file"),
            (PROVIDER, {"client_secret_file": '"/missing"'}, "/missing"),
            (PROVIDER, {"scopes": '["profile"]'}, "scopes must contain openid"),
            (PROVIDER, {"scopes": '"openid"'}, "scopes"),
            (PROVIDER, {"roles": '["lab"]'}, "roles"),
            (PROVIDER, {"roles": '{lab = "boss"}'}, "'boss'"),
            (PROVIDER, {"roles": '{lab = {Pilot = "staff"}}'}, "'staff'"),
            (IDP, {"metadata": '"/missing.xml"'}, "/missing.xml"),
            (IDP, {"entity_id": '""'}, "set entity_id"),
            (IDP, {"key_file": '"/missing"'}, "set key_file and certificate_file, or neither"),
            (IDP, {"key_file": '"/missing"', "certificate_file": '"/missing"'}, "/missing"),
        )
    ),
    (PRODUCTION, provider(issuer='"http://login.example.org"'), ".*issuer must be"),
    (PRODUCTION, provider(IDP, metadata='"http://idp.example.org"'), ".*metadata must be"),
    ({}, {"WINNOW_LOCAL_LOGIN": "0"}, ".*WINNOW_LOCAL_LOGIN=0 needs a provider"),
    (BUCKET, {"WINNOW_S3_SECRET_KEY": ""}, ".*WINNOW_S3_ACCESS_KEY and WINNOW_S3_SECRET_KEY"),
    (BUCKET, {"WINNOW_S3_SECRET_KEY": "replace-this"}, ".*WINNOW_S3_SECRET_KEY"),
    (BUCKET, {"WINNOW_S3_URL": "s3.example.org"}, ".*WINNOW_S3_URL"),
    (BUCKET, {"WINNOW_S3_DOWNLOADS": "s3.example.org"}, ".*WINNOW_S3_DOWNLOADS"),
    (BUCKET, {"WINNOW_ACCEL_REDIRECT": "/images/"}, ".*Unset WINNOW_ACCEL_REDIRECT"),
]


def check(tmp_path, **environment: str) -> subprocess.CompletedProcess:
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT, env={**kept, "WINNOW_VAR": str(tmp_path), **environment}, capture_output=True, text=True,
    )  # fmt: skip


@pytest.fixture
def load(tmp_path, monkeypatch):
    """`load(NAME=value, …)`: the settings that this environment gives, by name."""

    def read(**environment: str) -> dict:
        for name in (*PRODUCTION, "WINNOW_PROVIDERS"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"WINNOW_VAR": str(tmp_path), **environment}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(ROOT / "config" / "settings.py"))

    return read


def test_production_settings_pass_djangos_own_check(load, settings, monkeypatch):
    """All that `manage.py check --deploy --fail-level WARNING` looks at."""
    monkeypatch.delenv("DJANGO_ALLOW_ASYNC_UNSAFE", raising=False)  # the browser's tests set it
    for name, value in load(**PRODUCTION).items():
        if (
            name.isupper()
            and name not in ("DATABASES", "CACHES", "REDIS_URL")
            and getattr(settings, name, None) != value
        ):
            setattr(settings, name, value)
    assert [found for found in run_checks(include_deployment_checks=True) if found.level >= WARNING] == []


def test_a_redis_that_does_not_answer_does_not_pass(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert [found.id for found in run_checks(include_deployment_checks=True) if found.id.startswith("winnow")] == [
        "winnow.E002"
    ]


@pytest.mark.parametrize("name", runpy.run_path(str(ROOT / "config" / "settings.py"))["SECRETS"])
def test_a_secret_comes_from_a_file_that_its_variable_names(load, tmp_path, monkeypatch, name):
    monkeypatch.setenv(name, "in the environment")  # restored afterwards
    values = {"REDIS_URL": "redis://kept:6379/0"} | dict.fromkeys(("DATABASE_URL", "DATABASE_POOL_URL"), DATABASE)
    values |= provider()
    (tmp_path / "secret").write_text(f"{values.get(name, 'kept')}\n")
    load(**{f"{name}_FILE": str(tmp_path / "secret")})
    assert os.environ[name] == values.get(name, "kept")
    with pytest.raises(ImproperlyConfigured, match=f"^{name}_FILE names a file that cannot be read"):
        load(**{f"{name}_FILE": str(tmp_path / "missing")})


def test_a_weak_key_does_not_pass(settings):
    """That nothing silences Django's check is shown by the one above."""
    settings.SECRET_KEY = "short"
    assert [found.id for found in check_secret_key(None)] == ["security.W009"]
    assert not settings.SILENCED_SYSTEM_CHECKS


@pytest.mark.parametrize(("rest", "wrong", "says"), REFUSED)
def test_what_is_wrong_or_missing_is_said_by_name(load, rest, wrong, says):
    with pytest.raises(ImproperlyConfigured, match=f"^{says}.*$"):
        load(**{**rest, **wrong})


def test_behind_a_pooler_nothing_of_a_session_outlives_a_transaction(load):
    """test_pooler.py shows that nothing else does."""
    assert load()["SESSION_DATABASE"] == "default"
    pooled = load(**PRODUCTION, DATABASE_POOL_URL="postgresql://winnow:p@pooler:6432/winnow")
    default, direct = pooled["DATABASES"]["default"], pooled["DATABASES"][pooled["SESSION_DATABASE"]]
    assert (default["HOST"], direct["HOST"]) == ("pooler", "localhost")
    assert default["OPTIONS"]["prepare_threshold"] is None and default["DISABLE_SERVER_SIDE_CURSORS"]
    assert direct["OPTIONS"]["prepare_threshold"]


def test_networks_that_webhooks_may_be_sent_to(load):
    assert load()["WEBHOOK_NETWORKS"] == []
    assert load(WINNOW_WEBHOOK_PRIVATE="10.0.0.0/8, ::1/128")["WEBHOOK_NETWORKS"][1].prefixlen == 128


def test_the_demo_has_so_many_items(load):
    assert load(WINNOW_DEMO_ITEMS="7")["DEMO_ITEMS"] == 7 and load(WINNOW_DEMO_ITEMS="")["DEMO_ITEMS"] == 60


@pytest.mark.parametrize(
    ("more", "port"),
    [({}, 25), ({"EMAIL_USE_TLS": "1"}, 587), ({"EMAIL_USE_SSL": "1"}, 465), ({"EMAIL_PORT": "26"}, 26)],
)
def test_e_mail_is_sent_where_a_mail_server_is_named(load, more, port):
    assert load()["EMAIL_BACKEND"].endswith(".dummy.EmailBackend")
    found = load(**MAIL, **more)
    assert found["EMAIL_BACKEND"].endswith(".smtp.EmailBackend") and found["EMAIL_PORT"] == port
    assert (found["SITE_URL"], found["DEFAULT_FROM_EMAIL"]) == ("https://winnow.example.org", "w@example.org")


def test_providers_are_read_from_the_environment(load, tmp_path):
    assert load()["PROVIDERS"] == {} and load()["LOCAL_LOGIN"]
    (tmp_path / "secret").write_text("of a file\n")
    (tmp_path / "idp.xml").write_text("<xml/>")
    roles = '{lab = "staff", crowd = {Pilot = "manager"}}'
    secret, metadata = f'"{tmp_path}/secret"', f'"{tmp_path}/idp.xml"'
    text = provider(roles=roles, client_secret_file=secret)["WINNOW_PROVIDERS"]
    text += "\n" + provider(IDP, label='"Lab"', metadata=metadata)["WINNOW_PROVIDERS"].replace("[uni]", "[lab]")
    found = load(WINNOW_PROVIDERS=text, WINNOW_LOCAL_LOGIN="0")
    assert not found["LOCAL_LOGIN"] and [*found["PROVIDERS"]] == ["uni", "lab"]
    uni, lab = found["PROVIDERS"].values()
    assert (uni.issuer, uni.label, uni.client_secret) == ("https://login.example.org", "login.example.org", "of a file")
    assert uni.roles == {"lab": "staff", "crowd": {"Pilot": "manager"}} and uni.scopes == ["openid", "profile", "email"]
    assert (lab.label, lab.metadata) == ("Lab", (tmp_path / "idp.xml").as_uri())


def test_without_providers_nobody_loads_what_they_need(tmp_path):
    code = "import sys, django; django.setup(); import benchmarks.accounts.views, config.urls; print(*sys.modules)"
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {**kept, "WINNOW_VAR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    loaded = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=environment, text=True).split()
    assert not {"config.providers", "benchmarks.accounts.provider", "onelogin", "xmlsec"} & {*loaded}


def test_files_are_in_a_folder_unless_a_bucket_is_named(load):
    assert load()["STORAGES"]["default"] == {"BACKEND": "benchmarks.storage.folder.Folder"}
    found = load(**BUCKET, WINNOW_S3_URL="https://s3.example.org")["STORAGES"]["default"]
    assert found["BACKEND"] == "benchmarks.storage.bucket.Bucket"
    assert (found["OPTIONS"]["bucket_name"], found["OPTIONS"]["endpoint_url"]) == ("winnow", "https://s3.example.org")


def test_a_bucket_is_refused_without_the_packages_for_it(load, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"requirements/remote\.lock\.$"):
        load(**BUCKET)


def test_behind_a_proxy_unless_it_is_said_otherwise(load):
    found = [
        load()["TRUSTED_PROXIES"],
        load(**PRODUCTION)["TRUSTED_PROXIES"],
        load(WINNOW_PROXIES="2")["TRUSTED_PROXIES"],
    ]
    assert found == [0, 1, 2]


def test_a_wrong_setting_is_said_in_one_line(tmp_path):
    checked = check(tmp_path, **{**PRODUCTION, "REDIS_URL": ""})
    assert checked.returncode == 1
    assert checked.stderr.startswith("Set REDIS_URL: ") and checked.stderr.count("\n") == 1


def test_the_key_is_made_once_and_is_its_owners_alone(tmp_path, load):
    key = load()["SECRET_KEY"]
    assert load()["SECRET_KEY"] == key == (tmp_path / "secret_key").read_text() and len(key) > 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(("debug", "cached"), [("", True), ("1", False)])
def test_templates_are_read_again_in_debug_alone(load, debug, cached):
    loaders = load(WINNOW_DEBUG=debug)["TEMPLATES"][0]["OPTIONS"]["loaders"]
    assert (loaders[0][0] == "django.template.loaders.cached.Loader") == cached


def test_every_file_names_the_same_version_and_licence(load):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    client = tomllib.loads((ROOT / "client/pyproject.toml").read_text())["project"]
    assert project["version"] == client["version"] == str(citation["version"]) == load()["VERSION"]
    assert project["license"] == client["license"] == citation["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text()
