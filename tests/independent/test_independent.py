"""Every figure of exports and releases is computed a second time, by code that shares nothing with the first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from annotation.releases.plan import PUBLIC
from annotation.releases.verification.differences import differences
from tests.annotation.releases.released import STUDIES
from tests.independent.agreeing import kappa
from tests.independent.counts import statistics
from tests.independent.reading import lines
from tests.independent.recomputed import figures, main, recompute

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("studies_exported")]
ROOT = Path(__file__).resolve().parents[2]
UNKNOWN = ("protocol_files", "rich")  # most rules and scales have no second implementation
FIGURED = [name for name in STUDIES if name not in UNKNOWN]
LEAST, MOST = (), tuple(PUBLIC)
ALONE = """
import runpy, sys
try:
    runpy.run_module("tests.independent.recomputed", run_name="__main__")
except SystemExit as end:
    assert end.code == 0
print(*sys.modules)
"""
TESTS = {"side", "runs", "labels_test", "agreement"}


@pytest.mark.parametrize("study", [name for name in FIGURED if name != "crowd"])  # that runs by itself below
def test_every_figure_of_an_export_is_the_same(exports, study):
    folder = exports(study)
    assert differences(recompute(folder), figures(folder)) == []


@pytest.mark.parametrize(
    "study, public",
    [
        *((study, public) for study in FIGURED if study != "crowd" for public in (LEAST, MOST)),
        *(("checks", (one,)) for one in PUBLIC if one != "comments"),  # no figure rests on them
    ],
    ids=lambda one: one if isinstance(one, str) else "+".join(one) or "least",
)
def test_every_figure_of_a_release_is_the_same(public_releases, study, public):
    folder = public_releases(study, public)
    assert differences(recompute(folder), figures(folder)) == []


@pytest.mark.parametrize("study", ["written", "stages", "protocol_files"])
def test_every_number_of_statistics_is_the_same(public_releases, study):
    folder = public_releases(study, MOST)
    found = json.loads((folder / "statistics.json").read_text())
    assert differences(statistics(lines(folder / "items.jsonl")), found) == []


@pytest.mark.parametrize("study", ["stages", "checks"])
def test_these_exports_have_the_tests_and_signs_of_annotators(exports, study):
    """Of a crowd with habits all tests have a value; in a small study none has. Whether somebody has the 20 judgments
    that the test of agreement needs, of 30, depends on who drew which tasks.
    """
    found = json.loads((exports(study) / "figures.json").read_text())["annotators"]
    rows = found["stages"][0]["rows"]
    tested = {name for name in TESTS for row in rows if row[name]["p"] is not None}
    assert tested | {"agreement"} == TESTS if study == "checks" else not tested
    assert [row["checks"] is not None for row in found["whole"]] == [study == "checks"] * len(found["whole"])
    assert bool({sign["kind"] for row in rows for sign in row["signs"]} >= {"checks", "side"}) == (study == "checks")


def test_the_command_prints_what_differs(exports, tmp_path, capsys):
    export = exports("written")
    assert main(export) == 0 and capsys.readouterr().out == "Every figure is the same.\n"
    for path in export.iterdir():
        if path.name != "figures.json":
            (tmp_path / path.name).symlink_to(path)
    found = json.loads((export / "figures.json").read_text())
    found["funnel"]["kept"] += 1
    (tmp_path / "figures.json").write_text(json.dumps(found))
    assert main(tmp_path) == 1 and capsys.readouterr().out.startswith("/funnel/kept: ")


def test_it_runs_by_itself_in_another_zone_and_shares_no_code_with_the_application(exports, tmp_path):
    own = {"PYTHONHASHSEED": "7", "TZ": "Asia/Kathmandu", "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "nowhere"}
    command = [sys.executable, "-c", ALONE, exports("crowd")]
    done = subprocess.run(command, env=os.environ | own, cwd=tmp_path, capture_output=True, text=True, check=True)
    said, loaded = done.stdout.splitlines()
    assert said == "Every figure is the same."
    ours = {name for name in loaded.split() if name.split(".")[0] in ("annotation", "benchmarks", "workers")}
    home = "annotation.releases.verification"
    assert ours == {"annotation", "annotation.releases", home, f"{home}.differences"}  # which compares two trees


def test_kappa_is_scikit_learns():
    dice = np.random.default_rng(1)
    for _ in range(30):
        one, other = dice.choice(list("abc"), (2, 20), p=[0.6, 0.3, 0.1]).tolist()
        said = {pair: list(zip(one, other, strict=True)).count(pair) for pair in zip(one, other, strict=True)}
        assert kappa(said) == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)
    assert kappa({("a", "a"): 3}) is None
