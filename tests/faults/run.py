"""Whether the suite catches planted faults: each patch here breaks one promise, and a test that guards it must fail.

`python -m tests.faults.run [NN …] [--keep-going] [--record]` runs all faults, or those of these numbers, in a copy of
the working tree. A patch names its promise and the tests that should guard it, the most telling ones first.
`caught.json` says how many are caught and which are not; --record writes it. A test that fails without any patch too
is reported and does not count. Without --keep-going the run ends at the first fault that is no longer caught.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RECORD, RESULTS = HERE / "caught.json", HERE / "results.json"
STEADY = os.environ | {"CI": "1"}  # Hypothesis then draws the same examples in every run, however slow the machine
CAUGHT, MISSED, TOO_LONG, BROKEN, STALE = "caught", "not caught", "too long", "does not run", "does not apply"
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.+?)(?: - .*)?$", re.MULTILINE)


@dataclass
class Fault:
    """`first_failure` is the id of the first test that failed, or why there is none."""

    name: str
    promise: str
    tests: list[str]
    outcome: str = ""
    first_failure: str = ""
    seconds: float = 0.0


def read_fault(path: Path) -> Fault:
    header = dict(line.split(": ", 1) for line in path.read_text().split("\n\n")[0].splitlines())
    return Fault(path.stem, header["Promise"], header["Tests"].split())


def copy_tree(to: Path) -> Path:
    """The tracked and the new files of the working tree, with `shared` beside them as in the original."""
    listed = subprocess.check_output(["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, text=True)
    for name in listed.split("\0"):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    (to.parent / "shared").symlink_to((ROOT.parent / "shared").resolve())
    return to


def run_tests(
    tree: Path, tests: Iterable[str], ignored: Iterable[str], *options: str, limit: int
) -> tuple[int | None, list[str]]:
    """pytest's exit status, None where it took too long; and the ids of the tests that failed, in order."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", *options, *tests]
    log = tree.parent / "pytest.log"
    with log.open("w") as out:
        running = subprocess.Popen(
            [*command, *(f"--deselect={one}" for one in ignored)],
            cwd=tree, env=STEADY, stdout=out, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            status = running.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            if running.poll() is None:
                running.send_signal(signal.SIGINT)  # it stops its own servers
                try:
                    running.wait(30)
                except subprocess.TimeoutExpired:
                    running.kill()
    return status, FAILED.findall(log.read_text(errors="replace"))


def run_fault(fault: Fault, tree: Path, ignored: Iterable[str], limit: int) -> None:
    """Apply the patch, run its tests up to the first failure, and put the files back."""
    patch = (HERE / f"{fault.name}.patch").read_text()
    files = [tree / name for name in re.findall(r"^\+\+\+ b/(.+)$", patch, re.MULTILINE)]
    before = {file: file.read_bytes() for file in files if file.is_file()}
    began = time.monotonic()
    applied = subprocess.run(
        ["git", "apply", "--recount", "--ignore-whitespace", "-"],
        cwd=tree, input=patch, text=True, capture_output=True, check=False,
    )  # fmt: skip
    if lacking := [name for name in fault.tests if not (tree / name).exists()]:
        fault.outcome, fault.first_failure = STALE, f"there is no {', '.join(lacking)}"
    elif applied.returncode:
        fault.outcome, fault.first_failure = STALE, applied.stderr.strip()
    else:
        status, failed = run_tests(tree, fault.tests, ignored, "-x", limit=limit)
        fault.outcome = {0: MISSED, 1: CAUGHT if failed else BROKEN, None: TOO_LONG}.get(status, BROKEN)
        last_line = (tree.parent / "pytest.log").read_text(errors="replace").strip().rpartition("\n")[2]
        fault.first_failure = next(iter(failed), last_line if fault.outcome == BROKEN else "")
    for file, content in before.items():
        file.write_bytes(content)
    fault.seconds = round(time.monotonic() - began, 1)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.run")
    parser.add_argument("numbers", nargs="*", metavar="NN", help="faults by number; default: all")
    parser.add_argument("--keep-going", action="store_true", help="also after a fault that should have been caught")
    parser.add_argument("--record", action="store_true", help="write caught.json")
    parser.add_argument("--limit", type=int, default=300, help="seconds for the tests of one fault")
    asked = parser.parse_args()
    every = [read_fault(path) for path in sorted(HERE.glob("*.patch"))]
    faults = [one for one in every if not asked.numbers or one.name.partition("-")[0] in asked.numbers]
    record = json.loads(RECORD.read_text())
    ignored: set[str] = set()  # tests that fail without any patch
    done: list[Fault] = []

    def run(fault: Fault) -> bool:  # whether the run may go on
        run_fault(fault, tree, ignored, asked.limit)
        print(f"{fault.name:42} {fault.outcome:14} {fault.seconds:6.1f} s  {fault.first_failure}", flush=True)
        done[:] = [one for one in done if one.name != fault.name] + [fault]
        results = {"ignored": sorted(ignored), "faults": [asdict(one) for one in done]}
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        return asked.keep_going or fault.outcome in (CAUGHT, MISSED if fault.name in record["missed"] else CAUGHT)

    with tempfile.TemporaryDirectory(prefix="winnow-faults-") as place:
        tree = copy_tree(Path(place) / "winnow")
        all(run(fault) for fault in faults)
        while unsure := sorted({one.first_failure for one in done if one.outcome == CAUGHT}):
            fails = set(run_tests(tree, unsure, (), limit=asked.limit * 4)[1])
            print("".join(f"fails without any patch, ignored: {one}\n" for one in sorted(fails)), end="", flush=True)
            ignored |= fails
            if not [run(fault) for fault in list(done) if fault.first_failure in fails]:
                break
    missed = {one.name: one.promise for one in done if one.outcome != CAUGHT}
    caught, stale = len(done) - len(missed), sum(one.outcome == STALE for one in done)
    needed = record["caught"] if not asked.numbers else len({one.name for one in faults} - {*record["missed"]})
    print(f"{caught} of {len(faults)} caught, {needed} expected; {stale} do not apply")
    if asked.record and not asked.numbers:
        RECORD.write_text(json.dumps({"total": len(done), "caught": caught, "missed": missed}, indent=1) + "\n")
    return int(bool(stale) or (caught < needed and not asked.record))


if __name__ == "__main__":
    sys.exit(main())
