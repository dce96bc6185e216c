"""What the product imports is required, and what is required is pinned with its hashes."""

import ast
import re
import sys
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.config.running import ROOT

OWN = {"annotation", "benchmarks", "config", "workers", "manage", "winnow_client", "tests"}
OPTIONAL = {"spacy"}  # tags parts of speech if somebody has installed it
SETS = ["installer", "web", "remote", "models", "dev"]
PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[\w,-]+\])?==([^\s;]+)", re.MULTILINE)


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(file: str) -> dict[str, set[str]]:
    """Name → versions (there may be one for each Python) in a file of requirements, without what it includes."""
    found: dict[str, set[str]] = {}
    for name, version in PIN.findall((ROOT / "requirements" / file).read_text()):
        found.setdefault(normal(name), set()).add(version)
    return found


def imported(path: Path) -> set[str]:
    """Top-level packages that a module imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).partition(".")[0])
    return found - OWN - OPTIONAL - sys.stdlib_module_names


@cache
def distributions() -> dict[str, set[str]]:
    return {package: {normal(name) for name in names} for package, names in packages_distributions().items()}


@pytest.mark.parametrize("folder", ["annotation", "benchmarks", "config", "workers"])
def test_every_package_that_the_product_imports_is_required(folder):
    required = {*pins("web.txt"), *pins("remote.txt")}
    for path in (ROOT / folder).rglob("*.py"):
        here = required | ({*pins("models.txt")} if path.is_relative_to(ROOT / "workers/models") else set())
        unnamed = {package for package in imported(path) if not distributions().get(package, set()) & here}
        assert not unnamed, f"{path.relative_to(ROOT)} imports what no file of requirements names"


@pytest.mark.parametrize("name", SETS)
def test_the_lock_pins_what_is_required_and_all_that_it_needs(name):
    """After a change to requirements/*.txt: `make lock`."""
    lock = (ROOT / "requirements" / f"{name}.lock").read_text()
    locked, whole = pins(f"{name}.lock"), pins("dev.lock") | pins("installer.lock")
    assert pins(f"{name}.txt").items() <= locked.items()
    assert all(versions == whole[package] for package, versions in locked.items())
    entries = re.split(r"\n(?=\S)", lock)[2:]  # after the two lines that say how it was made
    assert len(entries) >= len(locked) and all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in lock


def test_every_installation_compares_hashes():
    recipes = {name: (ROOT / name).read_text() for name in ("Makefile", "Dockerfile", "docker-compose.yml")}
    for text in recipes.values():
        assert "requirements/web.txt" not in text and "-r requirements/dev.txt" not in text
    [_, *installs] = re.findall(r"pip install .*|\$\(PIP\) .*", recipes["Makefile"] + recipes["Dockerfile"])  # _: PIP
    assert len(installs) == 4 and all("--require-hashes" in line for line in installs)
    assert (ROOT / "requirements.txt").read_text().splitlines()[1:] == ["-r requirements/models.lock"]
