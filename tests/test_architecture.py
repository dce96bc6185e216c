"""The shape of the house: rooms import downwards, the web process loads no models, templates hold no script, and mass
has ceilings."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import size

ROOT = Path(__file__).resolve().parents[1]
HEAVY = (  # for the models' worker alone
    "torch", "open_clip", "torchvision", "sentence_transformers", "transformers", "diffusers", "accelerate",
    "safetensors", "httpx",
)  # fmt: skip
BUCKET = ("boto3", "botocore", "storages")


def test_imports_keep_to_the_layers():
    """The contracts in pyproject.toml: packages one way, rooms downwards, pure rooms without a framework."""
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stdout


def test_the_web_process_loads_neither_torch_nor_the_client_of_a_bucket():
    """Nor does a worker before it has such a task: all that Django and its addresses import, in their own process. The
    client of a bucket is loaded only where one is configured."""
    code = (
        "import sys, django; django.setup(); from django.urls import get_resolver; "
        "import config.wsgi, benchmarks.tasks, benchmarks.management.commands.score; get_resolver().url_patterns; "
        "from benchmarks.storage.files import kept; kept.exists('none'); "
        f"sys.exit(', '.join(set({HEAVY + BUCKET!r}) & set(sys.modules)) or 0)"
    )
    own = {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | own, capture_output=True, text=True, timeout=90)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "bench").glob("[a-z]*.py")))
def test_a_measurement_still_finds_what_it_measures(name):
    """`make load` takes an hour and a half: what moved away is noticed here."""
    importlib.import_module(f"bench.{name}")


def test_one_module_writes_csv():
    """benchmarks/formats/csv_text.py, whose tables are safe to open in a spreadsheet unless a program reads them."""
    product = (
        path for room in ("annotation", "benchmarks", "config", "workers") for path in (ROOT / room).rglob("*.py")
    )
    writing = re.compile(r"\bcsv\.(writer|DictWriter|write_csv)\b|\.to_csv\(")
    assert [path.name for path in product if writing.search(path.read_text())] == []


def test_a_list_in_a_template_stays_a_list():
    """With a role such as alert its items would be of no list: readers would not count them, and axe refuses it."""
    for path in (ROOT / "templates").rglob("*.html"):
        assert not re.search(r"<[uo]l[^>]*\srole=\"(?!list\")", path.read_text()), path


def test_keys_are_heard_in_one_place():
    """Which leaves those of an input method alone; the clock only counts them as a sign of life."""
    scripts = (ROOT / "static" / "js").rglob("*.js")
    assert sorted(path.name for path in scripts if '"keydown"' in path.read_text()) == ["clock.js", "keys.js"]


def test_templates_have_no_inline_script_or_style():
    for path in (ROOT / "templates").rglob("*.html"):
        text = path.read_text()
        assert " style=" not in text and "<style" not in text and "onclick=" not in text, path
        assert "<script>" not in text, path


CEILINGS = {  # lower one when the product has become smaller; only a new capability may raise it, by what it needs
    "product": 98_100,
    "tests": 81_535,
    "bench": 4_730,
    "longest chain of imports": 25,
    "functions over 40 lines": 4,
    "files over 400 lines": 6,
}


def test_the_product_does_not_grow():
    """`python -m bench.size` says how each is counted."""
    sizes = size.table(ROOT)
    assert {name: sizes[name] for name, most in CEILINGS.items() if sizes[name] > most} == {}


def test_advisory_locks_are_taken_through_one_module():
    files = [path for room in ("annotation", "benchmarks", "config", "workers") for path in (ROOT / room).rglob("*.py")]
    named = {str(path.relative_to(ROOT)) for path in files if re.search(r"pg_\w*advisory", path.read_text())}
    assert named == {"benchmarks/locks.py"}
