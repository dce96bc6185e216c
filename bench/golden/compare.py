"""`python -m bench.golden.compare A B`: the differences of two golden runs, file by file; exits 1 if there are any."""

import argparse
import difflib
import sys
from pathlib import Path


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def differences(a: Path, b: Path, most: int) -> int:
    """Prints them, at most `most` lines a file; returns how many files differ."""
    one, other = files(a), files(b)
    for name in sorted(one ^ other):
        print(f"only in {a if name in one else b}: {name}")
    changed = [name for name in sorted(one & other) if (a / name).read_bytes() != (b / name).read_bytes()]
    for name in changed:
        before, after = ((folder / name).read_text(errors="replace").splitlines() for folder in (a, b))
        lines = list(difflib.unified_diff(before, after, f"{a}/{name}", f"{b}/{name}", lineterm="", n=1))
        print("\n".join(line[:400] for line in lines[:most]))
        if len(lines) > most:
            print(f"… {len(lines) - most:,} more lines")
    count = len(changed) + len(one ^ other)
    print(f"{count:,} of {len(one | other):,} files differ")
    return count


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("a", type=Path)
    options.add_argument("b", type=Path)
    options.add_argument("--lines", type=int, default=40, help="of each file at most")
    given = options.parse_args()
    return 1 if differences(given.a, given.b, given.lines) else 0


if __name__ == "__main__":
    sys.exit(main())
