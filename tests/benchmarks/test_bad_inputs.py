"""The list of malformed inputs at the level of readers, archives and images: each gives its code, or is accepted."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.benchmarks.bad_inputs import CASES
from tests.benchmarks.outcome import outcome

BOMBS = [name for name, case in CASES.items() if case.row in (1, 3, 11, 12, 33)] + ["a_million_keys", "depth_100_000"]
ROOT = Path(__file__).resolve().parent.parent.parent
MEMORY = 512 * 2**20


def tree(folder: Path) -> list[tuple]:
    return sorted((str(path), path.lstat().st_size, path.lstat().st_mode) for path in folder.rglob("*"))


@pytest.mark.parametrize("name", CASES)
def test_each_input_gives_its_code(name, tmp_path):
    case = CASES[name]
    given = case.build(tmp_path)
    before, started = tree(tmp_path), time.monotonic()
    log = outcome(given)
    codes = {problem.code for problem in log.problems}
    assert (case.code in codes) if case.code else not codes, log.problems
    assert time.monotonic() - started < 30
    assert tree(tmp_path) == before
    assert all(problem.advice and len(str(problem)) < 1000 for problem in log.problems)


def test_the_list_is_covered():
    rows = {case.row for case in CASES.values()}
    assert rows >= {*range(1, 36), 38, 39, 42, 43}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize("name", BOMBS)
def test_bombs_stay_small_in_memory(name, tmp_path):
    given = CASES[name].build(tmp_path)
    command = [sys.executable, "-m", "tests.benchmarks.outcome", given.format, given.path, given.images or ""]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) < MEMORY
