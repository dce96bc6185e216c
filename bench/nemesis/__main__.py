"""Let 24 annotators judge on a separate Winnow while its parts are killed and paused, its network breaks, its disk
fills and its clock steps. Every acknowledged answer must be there afterwards.

    python -m bench.nemesis [--seed 1] [--judgments 10000] [--faults 60] [--minutes 25] [--within 15] [--bucket]

Everything is on this machine, in a temporary place, and gone afterwards. Exits with 1 if a promise was broken.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench.nemesis.attack import Findings, Plan, attack
from bench.nemesis.neighbours import Storage
from bench.nemesis.small_disk import SmallDisk
from config.processes import leftovers
from tests.config.running import Winnow

SETTLING = 600  # seconds for the start, the last jobs and the account


def table(found: Findings) -> str:
    """Return each kind of fault, with how often it struck and the longest recovery."""
    lines = [f"{'fault':32} {'number':>6} {'longest recovery':>17}"]
    alone = {kind: [one.recovery for one in found.struck if one.names == [kind]] for kind in found.kinds}
    together = [one.recovery for one in found.struck if len(one.names) > 1]
    for kind, hit in {**alone, "two of these together": together}.items():
        lines.append(f"{kind:32} {len(hit):6} {f'{max(hit):.1f} s' if hit else '–':>17}")
    return "\n".join(lines)


def listed(counts: Counter) -> str:
    return ", ".join(f"{count:,} × {what}" for what, count in counts.most_common()) or "none"


def report(found: Findings) -> str:
    struck = sum(len(one.names) for one in found.struck)
    kinds = len({name for one in found.struck for name in one.names})
    own = found.account
    jobs = ", ".join(f"{count} {what}" for what, count in sorted(found.summary.ended.items()))
    why = ", ".join(f"{count} {code}" for code, count in found.summary.failed.items())
    refused = ", ".join(f"{count} {what}" for what, count in found.refused.items())
    return "\n".join([
        table(found), "",
        f"{own.acknowledged:,} judgments acknowledged in {found.seconds:.0f} s, {own.surplus} of them surplus, and "
        f"{own.undone} undone; {struck} faults of {kinds} kinds; at most {found.longest_gap:.1f} s without an answer.",
        f"{found.failed_within:,} requests failed within faults. Refused: {refused or 'none'}.",
        f"Images: {listed(found.images)}. Uploads: {listed(found.uploads)}.",
        f"Jobs: {jobs}{f' (failed: {why})' if why else ''}.",
        *(f"{count:6} {what}" for what, count in found.counts().items()),
        *found.examples(),
    ])  # fmt: skip


def disk_for(var: Path) -> SmallDisk | None:
    try:
        return SmallDisk(var)
    except OSError as error:
        print(f"The disk will not fill: this system lets nobody mount one ({error}).")
        return None


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--judgments", type=int, default=10_000)
    options.add_argument("--faults", type=int, default=60)
    options.add_argument("--minutes", type=float, default=25, help="it ends after these, whatever is left")
    options.add_argument("--within", type=float, default=15, help="seconds within which every part must be back")
    options.add_argument("--bucket", action="store_true", help="keep files in an object storage, which hangs at times")
    options.add_argument("--names", nargs="*", default=[], help="strike only these faults, again and again")
    options.add_argument("--logs", type=Path, help="a folder for the parts' logs")
    asked = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, lambda *_: sys.exit("Something hangs."))
    signal.alarm(int(asked.minutes * 60) + SETTLING)
    os.environ.setdefault("MAKELEVEL", "1")  # Winnow ends when this process does
    names = [asked.names[number % len(asked.names)] for number in range(asked.faults if asked.names else 0)]
    plan = Plan(asked.seed, asked.judgments, asked.faults, minutes=asked.minutes, within=asked.within, names=names)
    with tempfile.TemporaryDirectory(prefix="winnow-nemesis-", ignore_cleanup_errors=True) as folder:
        var = Path(folder).resolve() / "var"
        var.mkdir()
        disk = disk_for(var)
        storage = Storage(Path(folder)) if asked.bucket else None
        winnow = Winnow(var, **(storage.environment if storage else {}))
        try:
            winnow.up()
            found = attack(winnow, plan, disk, say=lambda line: print(line, flush=True), storage=storage)
        finally:
            if storage:
                storage.go_on()
            if winnow.process.poll() is None:
                winnow.down()
            for process in leftovers(var):
                process.kill()
            if asked.logs:
                shutil.copytree(var / "log", asked.logs, dirs_exist_ok=True)
            if storage:
                storage.close()
            if disk:
                disk.close()
    print(report(found))
    struck = sum(len(one.names) for one in found.struck)
    reached = found.account.acknowledged >= plan.judgments and struck >= plan.faults
    if not reached:
        print("The time was over before all judgments and faults.")
    return 0 if reached and not any(found.counts().values()) else 1


if __name__ == "__main__":
    sys.exit(main())
